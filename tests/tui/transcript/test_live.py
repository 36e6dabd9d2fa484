from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.messages import Message
from smith_tui.theme import DARK
from smith_tui.transcript.calm import settled, settled_code
from smith_tui.transcript.history import MAX_WHOLE_CHARS, blocks_of
from smith_tui.transcript.live import LiveAnswer
from smith_tui.transcript.model import Document
from tests.support.markdown_examples import EXAMPLES, LINES
from tests.support.transcript_rows import all_rows, looks, streamed, texts


def _loaded(text: str, width: int = 60) -> Document:
    document = Document(DARK, width)
    document.extend(blocks_of([Message(role="assistant", content=text)], "green"))
    return document


@st.composite
def portions(draw: st.DrawFn) -> list[str]:
    mixed = st.lists(st.sampled_from(LINES), max_size=9).map("\n".join)
    text = draw(st.one_of(st.sampled_from(EXAMPLES), mixed))
    size = draw(st.integers(1, 40))
    return [text[start : start + size] for start in range(0, len(text), size)]


@given(portions())
@settings(max_examples=150, deadline=None)
def test_a_streamed_answer_ends_up_like_a_loaded_one(parts: list[str]) -> None:
    assert looks(all_rows(streamed(parts))) == looks(all_rows(_loaded("".join(parts))))


def test_a_long_answer_ends_up_the_same() -> None:
    text = "".join(EXAMPLES[:9]) * 3 + "```python\n" + 'x = """\n' + "y = 1\n" * 250 + '"""\nif z:\n```\n'
    assert len(text) > MAX_WHOLE_CHARS
    streamed_rows = all_rows(streamed([text[start : start + 100] for start in range(0, len(text), 100)]))
    assert looks(streamed_rows) == looks(all_rows(_loaded(text)))


def test_a_definition_that_comes_late_reaches_back() -> None:
    document = streamed(["see [foo]\n\n", "more\n\n", "[foo]: http://x.y\n"])
    assert texts(all_rows(document))[1] == "◆ see foo (http://x.y)"


def test_finished_blocks_are_not_rendered_again() -> None:
    document = Document(DARK, 60)
    live = LiveAnswer(document, "green")
    live.append_text("one\n\ntwo\n\nthr")
    first = document.rows(0)
    live.append_text("ee\n\n```py\nx")
    live.append_text(" = 1\n")
    assert document.rows(0) is first


def test_an_open_fence_grows_line_by_line() -> None:
    document = Document(DARK, 60)
    live = LiveAnswer(document, "green")
    shown = []
    for delta in ("```py\n", "x =", " 1\n", "y", "\n``", "`\nend"):
        live.append_text(delta)
        shown.append([row.strip() for row in texts(all_rows(document)) if row])
    assert shown == [
        ["◆  py"],
        ["◆  py", "x ="],
        ["◆  py", "x = 1"],
        ["◆  py", "x = 1", "y"],
        ["◆  py", "x = 1", "y"],
        ["◆  py", "x = 1", "y", "end"],
    ]


def test_reasoning_comes_before_the_answer_and_is_folded_when_long() -> None:
    document = Document(DARK, 60)
    live = LiveAnswer(document, "green")
    live.append_reasoning("\n".join(f"thought {number}" for number in range(40)))
    assert texts(all_rows(document))[-1] == "┊ thought 39"
    assert len(all_rows(document)) == 14
    live.append_text("Answer")
    assert texts(all_rows(document)) == [
        "",
        "∴ thought",
        "┊ thought 0",
        "┊ thought 1",
        "┊ thought 2",
        "┊ … 37 more lines",
        "",
        "◆ Answer",
    ]


def test_text_and_reasoning_may_take_turns() -> None:
    document = Document(DARK, 60)
    live = LiveAnswer(document, "green")
    live.append_text("one")
    live.append_reasoning("why")
    live.append_text("two")
    live.finish(interrupted=True)
    assert texts(all_rows(document)) == [
        "",
        "◆ one",
        "",
        "∴ thought",
        "┊ why",
        "",
        "  two",
        "",
        "▲ interrupted",
    ]


def test_what_is_discarded_leaves_nothing_behind() -> None:
    document = _loaded("before")
    height, before = document.height, texts(all_rows(document))
    live = LiveAnswer(document, "green")
    live.append_reasoning("hm")
    live.append_text("void\n\nvoid")
    live.discard()
    assert texts(all_rows(document)) == before
    assert document.height <= height


def test_half_written_markup_does_not_show() -> None:
    assert [settled(line) for line in ("a **b", "a **b**", "a **", "a `b", "a `", "a *", "- ", "##", "12.", "|--")] == [
        "a **b**",
        "a **b**",
        "a ",
        "a `b`",
        "a ",
        "a ",
        "",
        "",
        "",
        "",
    ]
    assert [settled_code(line) for line in ("``", "  ~~~", "x`", "")] == ["", "", "x`", ""]


def test_an_unfinished_paragraph_stands_apart_from_what_is_above_it() -> None:
    for above in ("one", "- item", "> quote", "| a |\n|---|\n| 1 |"):
        document = Document(DARK, 60)
        live = LiveAnswer(document, "green")
        live.append_text(f"{above}\n\nmore wor")
        growing = looks(all_rows(document))
        live.append_text("ds\n\n")
        assert [row[0] for row in growing[:-1]] == [row[0] for row in looks(all_rows(document))[:-1]]
        assert growing[-2][0] == "", "a blank row stands between"
        assert str(growing[-1][0]).strip() == "more wor"
