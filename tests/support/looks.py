"""The whole screen as cells: how it looks in each theme, written down as text, and whether it can be read."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual._compositor import LayoutUpdate
from textual.app import App

from smith_tui.theme import MIN_CONTRAST, THEMES, contrast

MIN_GRAPHICS_CONTRAST = 3.0
"""WCAG 2.2, success criterion 1.4.11: for what is no text, but tells something."""
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_RULES = re.compile("[\u2500-\u257f\u2594\u2591\u00b7]")
"""Borders, rules and the empty part of bars: they tell nothing that is not said otherwise."""
_GRAPHICS = re.compile("[\u2580-\u259f\u2800-\u28ff]")


class Cell(NamedTuple):
    """What one cell shows; text "" is the right half of a wide character. Colours as #rrggbb."""

    text: str
    foreground: str
    background: str
    attributes: str = ""


Frame = list[list[Cell]]


class TextFile(SingleFileSnapshotExtension):
    """One text file for each picture."""

    _file_extension = "txt"
    file_extension = "txt"
    _write_mode = WriteMode.TEXT


def frame_of(app: App[Any]) -> Frame:
    """Return what is on the screen."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    assert isinstance(update, LayoutUpdate)
    return [[cell for strip in strips for cell in _cells(strip)] for strips in update.strips]


def sizes_of(app: App[Any]) -> tuple[set[int], int]:
    """Return the widths of the rows on the screen, and how many rows there are."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    assert isinstance(update, LayoutUpdate)
    return {sum(strip.cell_length for strip in strips) for strips in update.strips}, len(update.strips)


def _cells(segments: Iterable[Segment]) -> Iterator[Cell]:
    for text, style, control in segments:
        if control or not text:
            continue
        foreground, background = (_hex(style and style.color), _hex(style and style.bgcolor))
        if style and style.reverse:
            foreground, background = background, foreground
        names = ("bold", "dim", "italic", "underline", "strike")
        attributes = " ".join(name for name in names if style and getattr(style, name))
        if text.isascii():
            shared = {character: Cell(character, foreground, background, attributes) for character in set(text)}
            yield from map(shared.__getitem__, text)
            continue
        for character in text:
            width = cell_len(character)
            if width:
                yield Cell(character, foreground, background, attributes)
            if width == 2:
                yield Cell("", foreground, background, attributes)


def _hex(color: Color | None) -> str:
    return color.triplet.hex if color is not None and color.triplet is not None else ""


def text_of(frame: Frame) -> str:
    """Return the characters, row by row."""
    return "\n".join("".join(cell.text for cell in row).rstrip() for row in frame)


def faint(frame: Frame, decoration: str = "") -> dict[tuple[str, str], str]:
    """Return what cannot be read well: (foreground, background) → the text in them and its contrast.

    decoration: signs that tell nothing there, such as those of the rain.
    """
    found: dict[tuple[str, str], str] = {}
    for row in frame:
        for cell in row:
            colors = (cell.foreground, cell.background)
            if not cell.text.strip() or colors in found or _RULES.match(cell.text) or cell.text in decoration:
                continue
            least = MIN_GRAPHICS_CONTRAST if _GRAPHICS.match(cell.text) else MIN_CONTRAST
            ratio = contrast(*colors) if all(colors) else 0.0
            if ratio < least or "dim" in cell.attributes:
                around = "".join(each.text for each in row if (each.foreground, each.background) == colors)
                found[colors] = f"{around.strip()[:40]!r} {ratio:.2f} {cell.attributes}".rstrip()
    return found


def picture(frames: Sequence[Frame]) -> str:
    """Return one screen in all themes as text: its characters, the looks of its cells, and what each look is."""
    legend: dict[tuple[Cell, ...], str] = {}
    looks = []
    for rows in zip(*frames, strict=True):
        keys = [tuple(cell._replace(text="") for cell in place) for place in zip(*rows, strict=True)]
        runs = [(legend.setdefault(key, _name(len(legend))), len(list(group))) for key, group in groupby(keys)]
        looks.append(" ".join(f"{name}{count}" for name, count in runs))
    first = frames[0]
    lines = [f"{len(first[0])}×{len(first)}", *(f"|{line}" for line in text_of(first).split("\n")), ""]
    lines += [f"{look} ×{count}" if count > 1 else look for look, count in _counted(looks)]
    lines += ["", " | ".join(THEMES)]
    lines += [f"{name} {' | '.join(_words(cell) for cell in key)}" for key, name in legend.items()]
    return "\n".join(lines) + "\n"


def _counted(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    for line, group in groupby(lines):
        yield line, len(list(group))


def _name(number: int) -> str:
    return _LETTERS[number % len(_LETTERS)] * (1 + number // len(_LETTERS))


def _words(cell: Cell) -> str:
    return f"{cell.foreground} {cell.background} {cell.attributes}".rstrip()
