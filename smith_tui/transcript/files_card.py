"""The card of what a turn has done to files: which ones, how, and the way to take that back or put it again."""

from rich.style import Style

from smith_core.turn_files import ChangedFile, ChangeKind, TurnFiles, count_in_words
from smith_tui.sanitize import literal
from smith_tui.transcript.blocks import (
    FILES_LINK,
    MAX_UNFOLDED_ROWS,
    MIN_GUTTERED,
    Block,
    fold_row,
    in_gutter,
    inner_width,
)
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import PLAIN, Line, Span, indent, line_of

FOLDED_FILES = 6
"""Files that a folded card names."""

_MARKS: dict[ChangeKind, str] = {"created": "+", "changed": "~", "deleted": "−"}


class FilesCard(Block):
    """The files of one turn; takes no room until they are known, and none when they are on record no longer."""

    __slots__ = ("turn", "turn_id")

    def __init__(self, turn_id: str, palette: str, turn: TurnFiles | None = None) -> None:
        super().__init__(palette)
        self.turn_id = turn_id
        self.turn = turn

    @property
    def text(self) -> str:
        """The names of the files, and what is said of them."""
        if self.turn is None:
            return ""
        return "\n".join([*(f"{file.path} {file.note}".strip() for file in self._files), *self.turn.limits])

    @property
    def can_fold(self) -> bool:
        """Many files fold."""
        return len(self._files) > FOLDED_FILES

    @property
    def link(self) -> str:
        """What a click on the last row asks for."""
        return f"{FILES_LINK}{self.turn_id}" if self._files else ""

    @property
    def _files(self) -> list[ChangedFile]:
        """The files, those that were left alone first."""
        return [] if self.turn is None else sorted(self.turn.files, key=lambda file: not file.note)

    def estimate(self, width: int) -> int:
        """Count title, files and link."""
        if self.turn is None:
            return -int(self.has_gap)
        shown = len(self._files) if self.is_expanded else min(len(self._files), FOLDED_FILES + 1)
        return 1 + shown + len(self.turn.limits) + bool(self.link)

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the title and, behind a bar, the files with what is to be said of them."""
        if self.turn is None:
            return []
        bar = ("│ " if width >= MIN_GUTTERED else "", ink.rule)
        room = inner_width(width) - len(bar[0])
        most = MAX_UNFOLDED_ROWS if self.is_expanded else FOLDED_FILES
        files = self._files
        rows = [_file_row(file, room, ink) for file in files[:most]]
        if len(files) > most:
            rows.append(fold_row(f"{len(files) - most:,} more files", ink))
        rows += [line_of([(cut_to(literal(limit), room), ink.warning)]) for limit in self.turn.limits]
        if self.link:
            words = "↷ put these changes again" if self.turn.is_undone else "↶ take these changes back"
            rows.append(line_of([(cut_to(words, room), ink.accent)], lead=len(words)))
        body = indent(rows, bar, bar)
        title = self._title(self.turn, inner_width(width), ink)
        return in_gutter([title], width, ("  ", PLAIN)) + in_gutter(body, width, ("  ", PLAIN), repeat=True)

    def _title(self, turn: TurnFiles, width: int, ink: Ink) -> Line:
        mark, style = ("↶", ink.muted) if turn.is_undone else ("±", ink.accent)
        words = f"{count_in_words(len(turn.files))} changed" if turn.files else "files changed"
        spans: list[Span] = [(f"{mark} ", style), (words, ink.strong)]
        if turn.is_undone:
            spans.append(("  taken back", ink.muted))
        if turn.held_back:
            spans.append((f"  {count_in_words(len(turn.held_back))} left alone", ink.warning))
        return line_of(_cut(spans, width), lead=2)


def _file_row(file: ChangedFile, width: int, ink: Ink) -> Line:
    styles: dict[ChangeKind, Style] = {"created": ink.success, "changed": ink.accent, "deleted": ink.error}
    spans: list[Span] = [(f"{_MARKS[file.kind]} ", styles[file.kind]), (literal(file.path), PLAIN)]
    if file.note:
        spans.append((f"  {literal(file.note)}", ink.warning))
    return line_of(_cut(spans, width), lead=2)


def _cut(spans: list[Span], width: int) -> list[Span]:
    """Return as much of the spans as there is room for."""
    kept: list[Span] = []
    for text, style in spans:
        room = width - sum(cell_width(before) for before, _ in kept)
        if room <= 0:
            break
        kept.append((cut_to(text, room), style))
    return kept
