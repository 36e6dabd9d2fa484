"""The Kitty graphics protocol, as far as the rain needs it: pictures behind the text, and questions about it.

https://sw.kovidgoyal.net/kitty/graphics-protocol/
"""

from base64 import b64encode

from smith_tui.graphics.field import Field
from smith_tui.graphics.leftovers import IMAGE_ID

ASK_NAME = "\x1b[>q\x1b[c"
"""Asks for the terminal's name and, because not every terminal tells it, for what every one answers (DA1)."""
_MEMORY_QUERY, _DIRECT_QUERY = 31, 32
_PLACE = "z=-10,C=1,q=2"
"""Below all text, above all grounds; the cursor stays; no answers."""
_CHUNK = 4096
"""Characters of data in one sequence; the protocol allows no more."""


def frame_in_memory(field: Field, width: int, height: int, name: str) -> str:
    """Return what shows pixels (red, green, blue, opacity) from a shared-memory segment in a field."""
    control = f"a=T,t=s,f=32,s={width},v={height},{_placed(field)}"
    return _at(field, _sequence(control, b64encode(name.encode()).decode()))


def frame_direct(field: Field, png: bytes) -> str:
    """Return what shows a PNG file in a field, the file included."""
    data = b64encode(png).decode()
    chunks = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)]
    last = len(chunks) - 1
    control = f"a=T,t=d,f=100,{_placed(field)}"
    return _at(
        field,
        "".join(
            _sequence(f"{control},m={int(index < last)}" if index == 0 else f"m={int(index < last)},q=2", chunk)
            for index, chunk in enumerate(chunks)
        ),
    )


def ask_graphics(segment: str) -> str:
    """Ask whether pictures can be shown from a segment of four bytes ("" to leave that out), and directly, then DA1."""
    memory = f"i={_MEMORY_QUERY},s=1,v=1,a=q,t=s,f=32"
    question = _sequence(memory, b64encode(segment.encode()).decode()) if segment else ""
    return f"{question}{_sequence(f'i={_DIRECT_QUERY},s=1,v=1,a=q,t=d,f=24', 'AAAA')}\x1b[c"


def yes_to_memory(report: str) -> bool:
    """Whether a report of the terminal says that shared memory works."""
    return report.startswith(f"\x1b_Gi={_MEMORY_QUERY}") and report.endswith(";OK\x1b\\")


def yes_to_direct(report: str) -> bool:
    """Whether a report of the terminal says that pictures can be sent directly."""
    return report.startswith(f"\x1b_Gi={_DIRECT_QUERY}") and report.endswith(";OK\x1b\\")


def is_last_answer(report: str) -> bool:
    """Whether a report is the answer (DA1) that comes behind all others."""
    return report.startswith("\x1b[?") and report.endswith("c")


def name_in(report: str) -> str:
    """Return the name that a report gives the terminal, such as `kitty(0.26.5)`; "" when it is about something else."""
    begin = "\x1bP>|"
    return report[len(begin) : -2] if report.startswith(begin) else ""


def _placed(field: Field) -> str:
    return f"i={IMAGE_ID},p=1,c={field.width},r={field.height},{_PLACE}"


def _at(field: Field, sequences: str) -> str:
    """Return sequences at the field's corner; the cursor is then where it was."""
    return f"\x1b7\x1b[{field.y + 1};{field.x + 1}H{sequences}\x1b8"


def _sequence(control: str, data: str) -> str:
    return f"\x1b_G{control};{data}\x1b\\"
