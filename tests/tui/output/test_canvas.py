"""Differences against whole frames: whatever the app shows in whatever order, the terminal ends up with the same."""

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color, ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from smith_tui.output.canvas import Canvas
from smith_tui.output.encoder import changed_spans
from smith_tui.output.pens import PLAIN, Pen
from smith_tui.output.rows import Part, equal_end, narrow_text
from smith_tui.output.sixteen import same_hue
from smith_tui.theme import THEMES, Theme
from tests.support.exact_screen import ExactScreen

CONSOLE = Console(force_terminal=True, color_system="truecolor")
STYLES = [
    None,
    Style(color="#d3dad5", bgcolor="#0a0f0c"),
    Style(color="#3fe08a", bgcolor="#0a0f0c", bold=True),
    Style(color="red", underline=True),
    Style(bgcolor="#111814"),
    Style(reverse=True),
    Style(color="#6fc7e8", bgcolor="#0a0f0c", link="https://example.org/a"),
    Style(color="default", bgcolor="default"),
]
WORDS = ["a", "word", " ", " " * 12, "漢字", "é", "e\u0301", "❤️", "👩‍💻", "🙂", "│", "ｶﾅ", "x\u200by", "─" * 5, "1️⃣"]
words = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(STYLES)), max_size=5)


class Step(NamedTuple):
    kind: str
    seed: list[list[tuple[str, Style | None]]]
    numbers: list[int]


steps = st.builds(
    Step,
    st.sampled_from(["full", "rows", "rows", "scroll", "scroll", "cuts", "skip", "forget"]),
    st.lists(words, min_size=1, max_size=4),
    st.lists(st.integers(0, 30), min_size=4, max_size=4),
)


class Drawing:
    """What an app would show: rows of chops between cuts."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.cuts = [0, width - 1, width]
        self.rows = [self.row([]) for _ in range(height)]
        self.fresh = 0

    def row(self, seed: Sequence[tuple[str, Style | None]]) -> list[Strip]:
        """Fill each chop with the words that fit; the toolkit's own cutting tears some emoji apart."""
        chops = []
        for start, end in pairwise(self.cuts):
            segments, room = [], end - start
            for text, style in seed:
                if cell_len(text) <= room:
                    segments.append(Segment(text, style))
                    room -= cell_len(text)
            chops.append(Strip([*segments, Segment(" " * room, STYLES[1])]))
        return chops

    def full(self) -> LayoutUpdate:
        return LayoutUpdate(self.rows, Region(0, 0, self.width, self.height))

    def chops(self, spans: list[tuple[int, int, int]]) -> ChopsUpdate:
        chops = [dict(zip(self.cuts, row, strict=False)) for row in self.rows]
        return ChopsUpdate(chops, spans, [self.cuts[1:]] * self.height)

    def take(self, step: Step) -> LayoutUpdate | ChopsUpdate:
        first = step.numbers[0] % self.height
        spans = [(y, 0, self.width) for y in range(self.height)]
        match step.kind:
            case "full" | "cuts":
                if step.kind == "cuts":
                    inner = {1 + number % (self.width - 1) for number in step.numbers[:3]}
                    self.cuts = [0, *sorted(inner), self.width]
                self.rows = [self.row(step.seed[y % len(step.seed)]) for y in range(self.height)]
                return self.full()
            case "scroll":
                # Rows that look different move; the last row stays where it is, as a status bar would.
                rows = step.numbers[1] % (self.height - 1) + 1
                moved, kept = self.rows[:-1], self.rows[-1:]
                new = []
                for number in range(rows):
                    self.fresh += 1
                    new.append(self.row([(f"{self.fresh} ", STYLES[1]), *step.seed[number % len(step.seed)]]))
                is_up = step.numbers[2] % 2
                self.rows = [*moved[rows:], *new[: len(moved)]] if is_up else [*new, *moved][: len(moved)]
                self.rows += kept
                return self.chops(spans)
        changed = range(first, min(self.height, first + len(step.seed)))
        for y, seed in zip(changed, step.seed, strict=False):
            self.rows[y] = self.row(seed)
        left = step.numbers[1] % self.width
        right = left + 1 + step.numbers[2] % (self.width - left)
        return self.chops([(y, left, right) for y in changed])


@settings(max_examples=120, deadline=None)
@given(st.integers(4, 24), st.integers(6, 12), st.lists(steps, max_size=14), st.booleans(), st.booleans())
def test_differences_show_what_whole_frames_show(
    width: int, height: int, sequence: list[Step], has_color_erase: bool, wraps: bool
) -> None:
    drawing = Drawing(width, height)
    canvas = Canvas(ColorSystem.TRUECOLOR, has_color_erase=has_color_erase)
    canvas.resize(width, height)
    shown, expected = ExactScreen(width, height), ExactScreen(width, height)
    for screen in (shown, expected):
        screen.feed("garbage " * 40 + ("\x1b[?7h" if wraps else "\x1b[?7l"))
    expected.feed("\x1b[?7l" + drawing.full().render_segments(CONSOLE))
    canvas.apply(drawing.full())
    for number, step in enumerate(sequence):
        update = drawing.take(step)
        expected.feed(update.render_segments(CONSOLE))
        canvas.apply(update)
        if step.kind == "forget":
            canvas.forget()
            shown.feed("\x1b[2;3Hrubbish")
        if step.kind == "skip":
            continue
        cursor = (number % width, number % height)
        shown.feed(canvas.encode(cursor))
        assert (shown.cursor.x, shown.cursor.y) == cursor
        assert shown.cells() == expected.cells()
        assert canvas.encode(cursor) == ""
        # Nothing is left set that would colour or move what others write.
        assert shown.cursor.attrs == ExactScreen(1, 1).cursor.attrs and shown.margins is None


def painted(width: int, *rows: tuple[tuple[str, Style | None], ...]) -> LayoutUpdate:
    strips = [Strip([Segment(*piece) for piece in row]).adjust_cell_length(width, STYLES[1]) for row in rows]
    return LayoutUpdate([[strip] for strip in strips], Region(0, 0, width, len(rows)))


def canvas_of(width: int, height: int, **options: bool) -> Canvas:
    canvas = Canvas(ColorSystem.TRUECOLOR, **{"has_color_erase": True, **options})
    canvas.resize(width, height)
    return canvas


@pytest.mark.parametrize(
    "widths", [{}, {"❤️": 1, "👩‍💻": 1}, {"❤️": 2, "☺": 2, "👩‍💻": 2}], ids=["as rich", "narrow", "wide"]
)
def test_b22_borders_stay_straight_where_a_terminal_measures_otherwise(widths: dict[str, int]) -> None:
    screen, canvas = ExactScreen(20, 1, widths), canvas_of(20, 1)
    for text in ("a ❤️ b ☺ c 👩‍💻 d", "ab ❤️ b ☺ c 👩‍💻 d", "❤️❤️☺☺ done", "plain"):
        line = text + " " * (19 - cell_len(text)) + "│"
        canvas.apply(painted(20, ((line, STYLES[1]),)))
        screen.feed("\x1b[?7l" + canvas.encode((0, 0)))
        row = "".join(cell.data for cell in screen.cells()[0])
        assert screen.cells()[0][19].data == "│" and row.count("│") == 1
        for letter in {"a", "b", "c", "d", "done"} & set(text.split()):
            assert letter in row


def test_a_scrolled_page_takes_the_bytes_of_its_new_rows() -> None:
    def page(first: int) -> LayoutUpdate:
        rows = [
            ((f"line number {number} with some words behind it", STYLES[1]),) for number in range(first, first + 30)
        ]
        return painted(80, *rows, (("a status bar that stays", STYLES[2]),))

    canvas, whole = canvas_of(80, 31), canvas_of(80, 31)
    canvas.apply(page(0))
    canvas.encode((0, 30))
    canvas.apply(page(2))
    whole.apply(page(2))
    down = canvas.encode((0, 30))
    assert down.count("\x1bD") == 2 and len(down) < len(whole.encode((0, 30))) / 5
    canvas.apply(page(1))
    assert canvas.encode((0, 30)).count("\x1bM") == 1


def test_one_strip_can_stand_in_several_places_and_be_cut_off() -> None:
    strip, canvas, screen = Strip([Segment("abcd", STYLES[2])], 4), canvas_of(10, 2), ExactScreen(10, 2)
    canvas.apply(LayoutUpdate([[strip, strip, strip], [Strip.blank(3), strip]], Region(0, 0, 10, 2)))
    screen.feed("\x1b[?7l" + canvas.encode((0, 0)))
    assert ["".join(cell.data for cell in row).rstrip() for row in screen.cells()] == ["abcdabcdab", "   abcd"]


def test_of_many_strips_few_are_kept() -> None:
    canvas, given = canvas_of(10, 2), []
    for number in range(500):
        strip = Strip([Segment(f"{number:10}", STYLES[2])], 10)
        canvas.apply(LayoutUpdate([[strip]], Region(0, number % 2, 10, 1)))
        given.append(strip)
    del strip
    # The list, the variable of the loop and the question itself hold one each.
    assert sum(sys.getrefcount(strip) > 3 for strip in given) < 50


def test_one_letter_costs_one_letter() -> None:
    canvas = canvas_of(80, 1)
    canvas.apply(painted(80, (("> fix the test", None),)))
    canvas.encode((14, 0))
    canvas.apply(painted(80, (("> fix the tests", None),)))
    assert canvas.encode((15, 0)) == "\x1b[1;15Hs"
    assert canvas.encode((3, 0)) == "\x1b[1;4H"


def test_a_sign_that_falls_costs_one_sign_and_is_compared_without_making_cells() -> None:
    canvas, blanks = canvas_of(80, 1), " " * 70
    canvas.apply(painted(80, ((f"ｱ ｲ ｳ {blanks}", None),)))
    canvas.encode((0, 0))
    canvas.apply(painted(80, ((f"ｱ ｶ ｳ {blanks}", None),)))
    assert [narrow_text(row.parts) is None for row in canvas.rows] == [False]
    assert canvas.encode((0, 0)) == "\x1b[1;3Hｶ\x1b[1;1H"
    assert narrow_text([Part(0, 2, (("漢", PLAIN),))]) is None


def test_an_equal_end_is_told_by_whole_runs_of_one_look() -> None:
    bold = Pen(attributes="1")
    old = Part(0, 9, (("ab", PLAIN), ("cd", bold), ("efghi", PLAIN)))
    assert equal_end(old, Part(0, 9, (("xb", PLAIN), ("cd", bold), ("efghi", PLAIN)))) == 7
    assert equal_end(old, Part(0, 9, (("ab", PLAIN), ("cd", PLAIN), ("efghi", PLAIN)))) == 5
    assert equal_end(old, Part(0, 9, (("ab", PLAIN), ("cd", bold), ("efghI", PLAIN)))) == 0
    assert equal_end(old, old) == 9


def test_no_control_of_a_text_reaches_the_terminal() -> None:
    canvas = canvas_of(40, 2)
    canvas.apply(painted(40, (("a\x1b]52;c;eA==\x07b\x9b2Jc\rd", None),), (("link", Style(link="http://x/\x1b[2J")),)))
    written = canvas.encode((0, 0))
    assert "\x07" not in written and "\x9b" not in written and "\r" not in written
    assert "\x1b]" not in written and "[2J" not in written.replace("\x1b[2J", "")


def test_a_kept_picture_has_only_the_text_and_the_grounds_that_are_given() -> None:
    canvas = canvas_of(20, 3)
    canvas.apply(painted(20, *(((text, None),) for text in ("secret", "a secret of a status", "漢字 secret"))))
    ground = (Region(0, 0, 20, 3), [Strip.blank(20, Style(bgcolor="#112233"))] * 3)
    shown = (Region(2, 1, 10, 2), [Strip([Segment(text)]).adjust_cell_length(10) for text in ("Type", "Enter 漢")])
    picture = canvas.chrome([ground, shown])
    screen = ExactScreen(20, 3)
    screen.feed(picture)
    assert [row.rstrip() for row in screen.display] == ["", "  Type", "  Enter 漢"]
    assert "48;2;17;34;51" in picture and "secret" not in picture


def test_a_link_is_opened_and_closed() -> None:
    canvas = canvas_of(10, 1)
    canvas.apply(painted(10, (("a", None), ("link", Style(link="https://example.org")), ("b", None))))
    before, opened, rest = canvas.encode((0, 0)).partition("https://example.org\x1b\\link\x1b]8;;\x1b\\")
    assert opened and before.endswith(";") and "b" in rest


@pytest.mark.parametrize(
    ("colors", "wanted"),
    [(ColorSystem.STANDARD, "\x1b[92;40m"), (None, "\x1b[92;40m"), (ColorSystem.EIGHT_BIT, "\x1b[38;5;78;48;5;16m")],
)
def test_colours_are_those_that_the_terminal_has(colors: ColorSystem | None, wanted: str) -> None:
    canvas = Canvas(colors, has_color_erase=True)
    canvas.resize(4, 1)
    canvas.apply(painted(4, (("abcd", Style(color="#3fe08a", bgcolor="#0a0f0c")),)))
    assert wanted in canvas.encode((0, 0))


def test_of_sixteen_colours_letters_get_the_one_of_their_hue() -> None:
    canvas = Canvas(ColorSystem.STANDARD, has_color_erase=True)
    canvas.resize(5, 1)
    # What was added, what was removed and what is muted: the nearest of the sixteen is one grey for all three.
    colors = ("#9be8b0", "#ffa8a8", "#86958b", "#0d5c2e", "#b79df5")
    canvas.apply(painted(5, tuple((letter, Style(color=color)) for letter, color in zip("+-ogv", colors, strict=True))))
    assert canvas.encode((0, 0)).startswith("\x1b[1;1H\x1b[92m+\x1b[91m-\x1b[37mo\x1b[32mg\x1b[95mv")


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_letters_are_bright_on_dark_grounds_and_dark_on_light_ones(theme: Theme) -> None:
    colors = (theme.green, theme.amber, theme.cyan, theme.violet, theme.error, theme.code.number, theme.code.string)
    numbers = [same_hue(Color.parse(color).get_truecolor()) for color in colors]
    assert all(number is not None and (number >= 8) == theme.is_dark for number in numbers)


def test_spans_are_as_short_as_can_be_and_never_halve_a_character() -> None:
    def cells(text: str) -> list[tuple[str, object]]:
        return [(character if character != "_" else "", PLAIN) for character in text]

    assert changed_spans(cells("abcdefghij"), cells("aXcdefghYj")) == [(1, 2), (8, 9)]
    assert changed_spans(cells("abcdefghij"), cells("aXcdYfghij")) == [(1, 5)]
    assert changed_spans(cells("ab漢_efghij"), cells("漢_b漢_fghij")) == [(0, 5)]
    assert changed_spans(cells("same"), cells("same")) == []
