"""The picture of a soak: memory and key echo over time, written as SVG."""

from collections.abc import Sequence
from html import escape

import msgspec

from tests.soak.measuring import Sample

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _GAP = 1000, 190, 74, 250, 46, 52
_GROUND, _GRID, _INK, _DIM = "#0c1210", "#26332d", "#d7e5dc", "#8fa598"
_TICKS = 4


class Line(msgspec.Struct, frozen=True):
    """One curve; points are (minutes, value). is_dots: single dots instead of a line."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    is_dots: bool = False


class Panel(msgspec.Struct, frozen=True):
    """One diagram; top: the value at its upper edge."""

    title: str
    lines: Sequence[Line]
    top: float


def draw(title: str, panels: Sequence[Panel], minutes: float) -> str:
    """Return an SVG with panels below each other over the same minutes."""
    height = _TOP + len(panels) * (_HEIGHT + _GAP) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="DejaVu Sans, sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="{_GROUND}"/>',
        _text(_LEFT, 24, title, _INK, size=15),
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, _TOP + 18 + number * (_HEIGHT + _GAP), max(minutes, 0.1))
    return "\n".join([*parts, "</svg>\n"])


def of_samples(title: str, samples: Sequence[Sample]) -> str:
    """Return the picture of a soak's samples."""
    rss = [(sample.at / 60, sample.rss / 1e6) for sample in samples]
    memory = Panel("resident memory of the app, MB", (Line("app", "#57d98a", rss),), 0)
    calm = [sample for sample in samples if not sample.busy]
    busy = [sample for sample in samples if sample.busy]
    echo = Panel(
        "key echo, median of six keys, ms",
        (
            Line("app, no turn", "#57d98a", _medians(calm, "keys")),
            Line("app, while a turn runs", "#e8c15a", _medians(busy, "keys"), is_dots=True),
            Line("bare toolkit at the same time", "#b58ae0", _medians(samples, "toolkit")),
            Line("program that writes back", "#7f9088", _medians(samples, "bare")),
        ),
        0,
    )
    cpu = [(sample.at / 60, sample.cpu * 1000) for sample in calm]
    spent = Panel("processor time of one key while no turn runs, ms", (Line("app", "#57d98a", cpu),), 0)
    return draw(title, (memory, echo, spent), samples[-1].at / 60 if samples else 1.0)


def _medians(samples: Sequence[Sample], name: str) -> list[tuple[float, float]]:
    middle = [(sample.at / 60, sorted(getattr(sample, name))) for sample in samples]
    return [(minute, delays[len(delays) // 2] * 1000) for minute, delays in middle]


def _panel(panel: Panel, top: float, minutes: float) -> list[str]:
    values = sorted(value for line in panel.lines for _, value in line.points)
    # The few greatest values of a loaded machine would press all others onto the floor.
    highest = panel.top or _round_up(values[int(len(values) * 0.99)] if values else 1.0)
    right, bottom = _WIDTH - _RIGHT, top + _HEIGHT

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return _LEFT + point[0] / minutes * (right - _LEFT), bottom - min(1.0, point[1] / highest) * _HEIGHT

    parts = [_text(_LEFT, top - 8, panel.title, _INK)]
    for tick in range(_TICKS + 1):
        y, x = bottom - tick * _HEIGHT / _TICKS, _LEFT + tick * (right - _LEFT) / _TICKS
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="{_GRID}"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{highest * tick / _TICKS:g}", _DIM, anchor="end"))
        parts.append(_text(x, bottom + 18, f"{minutes * tick / _TICKS:.0f} min", _DIM, anchor="middle"))
    for number, line in enumerate(panel.lines):
        parts += _curve(line, [place(point) for point in line.points])
        y = top + 10 + 22 * number
        parts.append(f'<rect x="{right + 18}" y="{y - 5}" width="14" height="4" fill="{line.colour}"/>')
        parts.append(_text(right + 40, y + 1, line.name, _INK))
    return parts


def _curve(line: Line, places: Sequence[tuple[float, float]]) -> list[str]:
    if line.is_dots:
        return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{line.colour}"/>' for x, y in places]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return [f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="1.4"/>']


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 5, 8 and 10 times a power of ten, in which four equal parts are easy to read."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value and power > 1e-6:
        power /= 10
    return next(step * power for step in (1, 2, 4, 5, 8, 10, 20) if step * power >= value)


def _text(x: float, y: float, text: str, colour: str, *, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
    )
