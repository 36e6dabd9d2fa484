"""A unified diff as rows with line numbers, added and removed lines on their own ground."""

import re
from typing import NamedTuple

from smith_core.patterns import later
from smith_tui.transcript.cells import visible
from smith_tui.transcript.code import code_rows
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import Line, line_of

_HUNK = later(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")

_HUNK_SIZES = later(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@$", re.MULTILINE)
_LEFT_OUT = later(r"^\\ (\d+) more lines of the diff are not shown\n?\Z", re.MULTILINE)


class DiffLine(NamedTuple):
    """One line of a diff: its number in the new file, or in the old one when it was removed.

    sign: `+`, `-`, a space, or `⋯` for the gap between two hunks (number 0).
    """

    sign: str
    number: int
    text: str


def parse_diff(diff: str) -> list[DiffLine]:
    """Return the lines of a unified diff of one file; headers are left out."""
    lines: list[DiffLine] = []
    old = new = 0
    for raw in diff.split("\n"):
        hunk = _HUNK.match(raw)
        if hunk:
            if lines:
                lines.append(DiffLine("⋯", 0, ""))
            old, new = int(hunk[1]), int(hunk[2])
        elif not (old or new) or raw.startswith("\\") or not raw:
            continue
        elif raw[0] == "-":
            lines.append(DiffLine("-", old, raw[1:]))
            old += 1
        else:
            lines.append(DiffLine("+" if raw[0] == "+" else " ", new, raw[1:]))
            old += raw[0] != "+"
            new += 1
    return lines


def lines_left_out(diff: str) -> int:
    """Return how many lines its end says that a diff has more."""
    said = _LEFT_OUT.search(diff)
    return int(said[1]) if said else 0


def count_changes(diff: str) -> tuple[str, str]:
    """Return in digits how many lines were added and removed, `…` behind them where the diff does not say."""
    signs = [line.sign for line in parse_diff(diff)]
    added, removed = str(signs.count("+")), str(signs.count("-"))
    if not lines_left_out(diff):
        return added, removed
    before, after = [sum(int(hunk[group] or 1) for hunk in _HUNK_SIZES.finditer(diff)) for group in (1, 2)]
    return (f"{added}…", f"{removed}…") if before and after else (str(after), str(before))


def render_diff(lines: list[DiffLine], width: int, ink: Ink) -> list[Line]:
    """Return the rows of a diff in at most `width` cells; long lines are wrapped behind their number."""
    digits = len(str(max((line.number for line in lines), default=0)))
    styles = {
        "+": (ink.added_gutter, ink.added),
        "-": (ink.removed_gutter, ink.removed),
        " ": (ink.surface_muted, ink.surface_muted),
        "⋯": (ink.surface_muted, ink.surface_muted),
    }
    rows: list[Line] = []
    for line in lines:
        gutter, ground = styles[line.sign]
        label = f" {line.number or '':>{digits}} {line.sign}"
        if len(label) + 4 > width:
            label = line.sign
        text = visible(line.text).expandtabs(4)
        for index, row in enumerate(code_rows([(text, ground)], width - len(label), ground)):
            first = (label if not index else " " * len(label), gutter)
            rows.append(line_of((first, *row.spans), lead=len(label) + row.lead, joint=row.joint, fill=ground))
    return rows
