"""The blocks that a transcript is made of, as far as they are plain text; each knows how to become rows."""

from typing import Literal

from rich.style import Style

from smith_tui.transcript.cells import visible
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import MAX_PROSE_WIDTH, PLAIN, Line, Span, indent, line_of, wrap

GUTTER = 2
"""Cells at the left of every text, where bars and marks stand."""
MIN_GUTTERED = 12
"""Cells; narrower transcripts have no gutter."""
MAX_PROMPT_ROWS = 30
MAX_REASONING_ROWS = 12
FOLDED_REASONING_ROWS = 3
LIVE_WINDOW = 4_000
"""Characters; of reasoning that comes in as one endless line no more than twice as many are wrapped again."""
MAX_UNFOLDED_ROWS = 2_000

FILES_LINK = "files:"
"""What the link of a card of changed files begins with; the id of the turn follows."""

NoticeLevel = Literal["info", "warning", "error"]


class Block:
    """A part of the transcript that is rendered, measured and cached as one.

    has_gap: a blank row stands before it. palette: of the role that it belongs to. is_expanded: shown whole.
    """

    __slots__ = ("has_gap", "is_expanded", "palette")

    def __init__(self, palette: str = "green", *, has_gap: bool = True) -> None:
        self.palette = palette
        self.has_gap = has_gap
        self.is_expanded = False

    @property
    def text(self) -> str:
        """What a search looks through."""
        raise NotImplementedError

    @property
    def can_fold(self) -> bool:
        """Whether `is_expanded` makes a difference."""
        return False

    @property
    def link(self) -> str:
        """What a click on the last row opens, "" when nothing."""
        return ""

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the block's rows, without its gap, in at most `width` cells."""
        raise NotImplementedError

    def estimate(self, width: int) -> int:
        """Return about how many rows it takes, without rendering it."""
        text = self.text
        return 1 + text.count("\n") + len(text) // max(1, min(width, MAX_PROSE_WIDTH))


class Prompt(Block):
    """What the person typed."""

    __slots__ = ("_text",)

    def __init__(self, text: str, palette: str, *, has_gap: bool = True) -> None:
        super().__init__(palette, has_gap=has_gap)
        self._text = text

    @property
    def text(self) -> str:
        """The text as it was typed."""
        return self._text

    @property
    def can_fold(self) -> bool:
        """Long prompts fold."""
        return self.estimate(MAX_PROSE_WIDTH) > MAX_PROMPT_ROWS

    def estimate(self, width: int) -> int:
        """Folded prompts have a fixed height."""
        rows = super().estimate(max(1, width - GUTTER))
        return rows if self.is_expanded else min(rows, MAX_PROMPT_ROWS + 1)

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the text on raised ground behind a bar in the role's colour."""
        bar = ("▌ " if width >= MIN_GUTTERED else "", ink.prompt_bar)
        room = max(1, width - len(bar[0]) - 1)
        limit = MAX_UNFOLDED_ROWS if self.is_expanded else MAX_PROMPT_ROWS
        lines = plain_rows(self._text, room, ink.prompt, limit)
        return [line._replace(fill=ink.raised) for line in indent(lines, bar, bar)]


class Reasoning(Block):
    """The model's reasoning: its last rows while it comes in, folded to a few rows afterwards when it is long."""

    __slots__ = ("_text", "is_live")

    def __init__(self, text: str, palette: str, *, is_live: bool = False) -> None:
        super().__init__(palette)
        self._text = text
        self.is_live = is_live

    @property
    def text(self) -> str:
        """The reasoning as the model gave it."""
        return self._text

    def append(self, delta: str) -> None:
        """Add more of it."""
        self._text += delta

    @property
    def can_fold(self) -> bool:
        """Long reasoning folds."""
        return super().estimate(MAX_PROSE_WIDTH) > MAX_REASONING_ROWS

    def estimate(self, width: int) -> int:
        """Folded reasoning has a fixed height."""
        rows = 1 + super().estimate(max(1, width - GUTTER))
        return rows if self.is_expanded or rows <= MAX_REASONING_ROWS else FOLDED_REASONING_ROWS + 2

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the text behind a thin bar, under a title."""
        room = min(inner_width(width), MAX_PROSE_WIDTH)
        text = self._text.strip()
        if self.is_live:
            lines = plain_rows(_last_lines(text, MAX_REASONING_ROWS), room, ink.reasoning, MAX_UNFOLDED_ROWS)
            lines = lines[-MAX_REASONING_ROWS:]
        else:
            lines = plain_rows(text, room, ink.reasoning, MAX_UNFOLDED_ROWS)
            if len(lines) > MAX_REASONING_ROWS and not self.is_expanded:
                hidden = len(lines) - FOLDED_REASONING_ROWS
                lines = [*lines[:FOLDED_REASONING_ROWS], fold_row(f"{hidden} more lines", ink)]
        label = "thinking…" if self.is_live else "thought"
        title = line_of([(label, ink.muted)], lead=len(label))
        return in_gutter([title], width, ("∴ ", ink.muted)) + in_gutter(lines, width, ("┊ ", ink.rule), repeat=True)


class Notice(Block):
    """Something that the person should know."""

    __slots__ = ("_text", "level")

    def __init__(self, level: NoticeLevel, text: str, palette: str = "green") -> None:
        super().__init__(palette)
        self.level = level
        self._text = text

    @property
    def text(self) -> str:
        """The notice."""
        return self._text

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the text behind a mark that tells the level without colour, too."""
        mark, style = {
            "info": ("◇ ", ink.info),
            "warning": ("▲ ", ink.warning),
            "error": ("✗ ", ink.error),
        }[self.level]
        text_style = ink.muted if self.level == "info" else style
        lines = plain_rows(self._text, min(inner_width(width), MAX_PROSE_WIDTH), text_style, MAX_UNFOLDED_ROWS)
        return in_gutter(lines, width, (mark, style))


class Plain(Block):
    """Text that is shown as it stands, such as the output of a command of the app."""

    __slots__ = ("_text",)

    def __init__(self, text: str, palette: str = "green", *, has_gap: bool = True) -> None:
        super().__init__(palette, has_gap=has_gap)
        self._text = text

    @property
    def text(self) -> str:
        """The text."""
        return self._text

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the text behind a thin bar."""
        lines = plain_rows(self._text, inner_width(width), PLAIN, MAX_UNFOLDED_ROWS)
        return in_gutter(lines, width, ("│ ", ink.rule), repeat=True)


def inner_width(width: int) -> int:
    """Return the cells that text has between the gutter and the cell kept free at the right."""
    return width - GUTTER - 1 if width >= MIN_GUTTERED else max(1, width)


def in_gutter(lines: list[Line], width: int, first: Span, *, repeat: bool = False) -> list[Line]:
    """Put a mark of GUTTER cells before the first row and space before the others, or the mark before all."""
    if width < MIN_GUTTERED:
        return lines
    return indent(lines, first, first if repeat else (" " * GUTTER, PLAIN))


def fold_row(hint: str, ink: Ink) -> Line:
    """Return the row that stands for hidden ones."""
    text = f"… {hint}"
    return line_of([(text, ink.muted)], lead=len(text))


def plain_rows(text: str, width: int, style: Style, limit: int) -> list[Line]:
    """Return the rows of text shown as it stands; beyond `limit` rows, a last row says how many lines are left."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    rows: list[Line] = []
    lines = text.split("\n")
    for index, line in enumerate(lines):
        room = (limit - len(rows)) * width + width
        rows += wrap([(visible(line[:room]).expandtabs(4), style)], width)
        if len(rows) > limit or (len(rows) == limit and index + 1 < len(lines)) or len(line) > room:
            rest = len(lines) - index - 1
            hint = f"… {rest:,} more lines" if rest else "… more"
            return [*rows[:limit], line_of([(hint, style)], lead=len(hint))]
    return rows


def split_plain(text: str, lines_each: int = 200, chars_each: int = 20_000) -> list[str]:
    """Return long plain text in parts of whole lines, so that none is too long to render at once."""
    parts: list[str] = []
    part: list[str] = []
    size = 0
    for line in text.split("\n"):
        if part and (len(part) >= lines_each or size + len(line) > chars_each):
            parts.append("\n".join(part))
            part, size = [], 0
        part.append(line)
        size += len(line)
    return [*parts, "\n".join(part)]


def _last_lines(text: str, count: int) -> str:
    """Return the last lines of a text, so that what comes before need not be wrapped again and again.

    A very long line begins at a multiple of LIVE_WINDOW characters, so that its rows do not jump with every delta.
    """
    start = len(text)
    for _ in range(count):
        start = text.rfind("\n", 0, max(0, start))
        if start < 0:
            break
    start += 1
    if len(text) - start > 2 * LIVE_WINDOW:
        start = (len(text) // LIVE_WINDOW - 1) * LIVE_WINDOW
    return text[start:]
