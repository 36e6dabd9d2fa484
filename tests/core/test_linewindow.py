import re

from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.linewindow import LineWindow

TEXT = st.text(alphabet="ab\r\n\u2028\x0b\x0c\x85", max_size=40)


def _window(chunks: list[str], first: int = 1, last: int | None = None, room: int = 10_000) -> LineWindow:
    window = LineWindow(first, last, max_chars=room, max_line_chars=5)
    for chunk in chunks:
        window.feed(chunk)
    window.finish()
    return window


@settings(deadline=None)
@given(st.lists(TEXT, max_size=6), st.integers(1, 6), st.integers(0, 6) | st.none())
def test_window_equals_the_slice_of_all_lines(chunks: list[str], first: int, more: int | None) -> None:
    text = "".join(chunks)
    lines = re.split("\r\n|\r|\n", text)
    if not lines[-1]:
        lines.pop()
    last = None if more is None else first + more
    window = _window(chunks, first, last)
    expected = list(enumerate(lines, 1))[first - 1 : last]
    assert [(line.number, line.text, line.length) for line in window.lines] == [
        (number, line[:5], len(line)) for number, line in expected
    ]
    assert window.line_count == len(lines)
    assert window.crlf == text.count("\r\n")
    assert window.lf + window.cr + window.crlf == len(re.findall("\r\n|\r|\n", text))
    assert window.ends_open == bool(text and text[-1] not in "\r\n")


def test_only_cr_and_lf_end_a_line() -> None:
    window = _window(["a\x0bb\x0cc\n", "d\x85e\u2028f\u2029g\x1ch"])
    assert window.line_count == 2


def test_full_window_says_where_to_go_on_and_counts_to_the_end() -> None:
    window = _window(["ab\n" * 100], room=60)
    assert window.is_full
    assert [line.number for line in window.lines] == [1, 2, 3, 4]
    assert (window.next_line, window.line_count) == (5, 100)


def test_long_line_keeps_its_beginning_and_its_length() -> None:
    window = _window(["x" * 3, "y" * 600_000, "z\nnext"])
    assert [(line.text, line.length) for line in window.lines] == [("xxxyy", 600_004), ("next", 4)]
