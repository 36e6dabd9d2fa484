from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from smith_tui.transcript.cells import visible
from smith_tui.transcript.lines import PLAIN, Line, indent, wrap

BOLD = Style(bold=True)
PROSE = st.text(st.sampled_from("ab,. \n漢字。é"), max_size=60)


def _source(lines: list[Line]) -> str:
    """The text that rows were wrapped from, by their joints."""
    text = ""
    for index, line in enumerate(lines):
        text += line.text if index == 0 else ("\n" if line.joint is None else line.joint) + line.text
    return text


@given(st.lists(st.tuples(PROSE, st.sampled_from([PLAIN, BOLD])), max_size=5), st.integers(2, 20))
@settings(deadline=None)
def test_rows_fit_and_give_the_source_back(spans: list[tuple[str, Style]], width: int) -> None:
    lines = wrap(spans, width)
    assert all(line.cells <= width for line in lines)
    source = "".join(text for text, _ in spans)
    assert "".join(_source(lines).split()) == "".join(source.split())


@given(st.lists(st.sampled_from(["one", "two", "three", "four,"]), min_size=1, max_size=30), st.integers(6, 30))
@settings(deadline=None)
def test_words_are_kept_whole_and_joints_restore_the_text(words: list[str], width: int) -> None:
    text = " ".join(words)
    lines = wrap([(text, PLAIN)], width)
    assert _source(lines) == text
    assert all(word in words for line in lines for word in line.text.split())


def test_a_word_of_two_styles_stays_together() -> None:
    lines = wrap([("see the ", PLAIN), ("bold", BOLD), (", then", PLAIN)], 10)
    assert [line.text for line in lines] == ["see the", "bold, then"]


def test_scripts_without_spaces_break_anywhere_but_before_a_closing_mark() -> None:
    assert [line.text for line in wrap([("漢字漢字。漢", PLAIN)], 8)] == ["漢字漢", "字。漢"]


def test_leading_space_stays_and_tabs_become_spaces() -> None:
    assert [line.text for line in wrap([("  a\tb", PLAIN)], 20)] == ["  a    b"]


def test_b22_no_width_is_too_small() -> None:
    for width in (-1, 0, 1, 2):
        assert all(line.text for line in wrap([(visible("漢字 ab 👩‍💻"), PLAIN)], width))


def test_a_prefix_that_is_decoration_is_left_out_of_a_copy() -> None:
    line = indent(wrap([("a b", PLAIN)], 9), ("│ ", PLAIN), ("│ ", PLAIN))[0]
    assert (line.text, line.content, line.cells) == ("│ a b", "a b", 5)


def test_a_bullet_is_copied_and_the_space_under_it_is_not() -> None:
    first, second = indent(wrap([("aa bb", PLAIN)], 3), ("• ", PLAIN), ("  ", PLAIN), copied=True)
    assert (first.content, second.content, second.joint) == ("• aa", "bb", " ")
