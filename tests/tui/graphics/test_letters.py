"""Where letters stand in a row, and where there is room for signs."""

from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from smith_tui.graphics.field import CLEAR, DIM
from smith_tui.graphics.letters import MIN_BLANKS, gaps_of, runs_of
from smith_tui.transcript.cells import cell_width
from smith_tui.transcript.lines import Line, line_of

PLAIN, CARD = Style(color="#ffffff"), Style(color="#ffffff", bgcolor="#111111")
TEXTS = st.text(st.sampled_from("ab 漢é"), max_size=12) | st.integers(1, 20).map(lambda count: " " * count)
LINES = st.lists(st.tuples(TEXTS, st.sampled_from([PLAIN, CARD])), max_size=6).map(line_of)


def cells_of(line: Line, width: int) -> list[tuple[str, Style]]:
    """Return each cell of a row: a part of its character, and its style."""
    cells = [(char, style) for text, style in line.spans for char in text for _ in range(cell_width(char))]
    return (cells + [(" ", PLAIN)] * width)[:width]


@given(LINES, st.integers(10, 60))
def test_every_letter_is_in_a_run_that_covers_it_as_its_ground_asks(line: Line, width: int) -> None:
    covers = [0] * (width + 40)
    for start, end, cover in runs_of(line, width):
        covers[start:end] = [max(old, cover) for old in covers[start:end]]
    for x, (char, style) in enumerate(cells_of(line, width)):
        if char != " ":
            assert covers[x] >= (CLEAR if style is CARD else DIM)


@given(LINES, st.integers(10, 60))
def test_signs_stand_in_long_runs_of_blanks_alone(line: Line, width: int) -> None:
    cells = cells_of(line, width)
    last = 0
    for start, end, ground in gaps_of(line, width):
        assert last <= start < end <= width
        last = end
        assert all(char == " " for char, _ in cells[start:end])
        # Letters keep two blank cells, and never lose a short gap between words.
        assert all(char == " " for char, _ in cells[max(0, start - 2) : end + 2])
        row = "".join(char for char, _ in cells)
        blanks = len(row[:end]) - len(row[:end].rstrip(" ")) + len(row[end:]) - len(row[end:].lstrip(" "))
        assert blanks >= MIN_BLANKS
        assert ground is None or isinstance(ground, Style)


def test_a_row_without_text_is_one_gap() -> None:
    assert [(gap.start, gap.end) for gap in gaps_of(None, 50)] == [(0, 50)]
    assert [(gap.start, gap.end) for gap in gaps_of(line_of([("some words", PLAIN)]), 50)] == [(12, 50)]
    assert gaps_of(line_of([("short   gap", PLAIN)]), 11) == []
