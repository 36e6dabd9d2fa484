"""Reading a reply while it is being written: the answer's text comes out piece by piece, whole and unescaped."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from smith_core.embedded.facade.reply import ReplyReader


@given(text=st.text(max_size=60), cuts=st.lists(st.integers(0, 200), max_size=12), ascii_only=st.booleans())
def test_an_answer_is_shown_as_it_grows_however_it_is_cut(text: str, cuts: list[int], ascii_only: bool) -> None:
    raw = json.dumps({"tool": "answer", "text": text}, separators=(",", ":"), ensure_ascii=ascii_only)
    edges = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    reader = ReplyReader()
    shown = "".join(reader.feed(raw[start:end]) for start, end in pairwise(edges))
    assert shown == text
    assert reader.action() == {"tool": "answer", "text": text}


def test_the_tool_is_known_before_its_arguments() -> None:
    reader = ReplyReader()
    assert reader.feed('{"tool":"re') == ""
    assert reader.tool == ""
    reader.feed('ad","path":"a')
    assert reader.tool == "read"
    assert reader.action() is None
    reader.feed('.py"}')
    assert reader.action() == {"tool": "read", "path": "a.py"}


def test_an_answer_that_was_cut_off_is_no_action_but_its_text_was_shown() -> None:
    reader = ReplyReader()
    assert reader.feed('{"tool":"answer","text":"half a sen\\u00') == "half a sen"
    assert reader.action() is None
