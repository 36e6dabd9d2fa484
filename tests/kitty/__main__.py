"""`make kitty`: lets it rain in a real kitty, looks at the pixels, and leaves a picture in screenshots/."""

import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from smith_core.llm.host_control import stop_hosts
from smith_tui.graphics.field import MAX_COLUMNS, SHARE
from tests.kitty.window import Kitty, Pixels, kitty
from tests.support.children import TASKS
from tests.support.demo_task import make_repository
from tests.support.model_steps import AnyStep, Stall, call_tools
from tests.support.server_thread import ServerThread

COLUMNS, ROWS = 120, 40
PICTURE = Path(__file__).parents[2] / "screenshots" / "kitty-rain.png"
FIELD = min(int((COLUMNS - 1) * SHARE) // 2, MAX_COLUMNS) * 2
"""Cells that it rains in, from the left."""
TRANSCRIPT, WIDE = range(1, 22), range(COLUMNS - 1)
"""Rows and columns of the transcript that are looked at when it has the screen."""
Cells = Iterable[tuple[int, int]]


def script(request: dict[str, Any]) -> list[AnyStep]:
    """Send two children out, who wait for ever."""
    if "You are Tank" not in request["messages"][0]["content"]:
        return [Stall()]
    jobs = [("dispatch", {"role": role, "task": task}) for role, task in TASKS[:2]]
    return call_tools(*jobs, text="The totals are wrong, so I'll have the rounding looked into.\n")


def blank(text: list[str], rows: range, columns: range) -> list[tuple[int, int]]:
    """Return the cells of a part of the screen that are blank, as are their neighbours."""
    return [(x, y) for y in rows for x in columns if not text[y][max(0, x - 2) : x + 3].strip()]


def stained(pixels: Pixels, cells: Cells) -> list[tuple[int, int]]:
    """Return the cells in which anything but a ground is to be seen."""
    return [cell for cell in cells if len(pixels.cell(*cell)) > 1]


def look(window: Kitty, folder: Path) -> None:
    """Go through the states of a turn and look at each; an AssertionError says what is wrong."""
    text = window.wait_for(lambda rows: any("idle" in row for row in rows))
    assert not stained(window.picture(folder / "idle.png"), blank(text, TRANSCRIPT, WIDE)), "rain while nothing waits"
    window.type("Find out why the totals are wrong\r")
    window.wait_for(lambda rows: "".join(rows).count("thinking") == 2)
    time.sleep(3)
    look_at_rain(window, folder)
    window.type("\x1bOP")
    text = window.wait_for(lambda rows: any("─ Help ─" in row for row in rows))
    time.sleep(0.3)
    pixels = window.picture(folder / "modal.png")
    assert not stained(pixels, blank(text, TRANSCRIPT, range(1, FIELD))), "rain over a modal"
    window.type("\x1bOP")
    window.wait_for(lambda rows: not any("─ Help ─" in row for row in rows))
    # Both panes as strips, so that the transcript has the screen.
    for number in "12":
        window.type(f"\x1b{number}")
        window.wait_for(lambda rows: any("cancel child" in row for row in rows))
        window.type("\x1bm")
        window.wait_for(lambda rows, left=2 - int(number): "\n".join(rows).count("╭") == left)
    window.type("\x1b[27u")
    window.wait_for(lambda rows: not any("cancel child" in row for row in rows))
    time.sleep(3)
    pixels = window.picture(PICTURE)
    text = window.text()
    assert stained(pixels, blank(text, TRANSCRIPT, range(1, FIELD - 1))), "no rain behind a modal that is gone"
    window.type("\x03")
    window.wait_for(lambda rows: any("cancelled" in row for row in rows))
    time.sleep(0.3)
    pixels = window.picture(folder / "over.png")
    assert not stained(pixels, blank(window.text(), TRANSCRIPT, WIDE)), "rain after the end"


def look_at_rain(window: Kitty, folder: Path) -> None:
    """See that it rains in its field, in both colours, moving, and nowhere else."""
    pixels = window.picture(folder / "rain.png")
    text = window.text()
    panes = next(y for y, row in enumerate(text) if row.startswith("╭"))
    inside = blank(text, range(1, panes - 1), range(1, FIELD - 1))
    rained = stained(pixels, inside)
    share = len(rained) / len(inside)
    assert 0.05 < share < 0.8, f"{share:.0%} of the blank cells show rain"
    colors = [max(pixels.cell(*cell), key=sum) for cell in rained]
    violet, cyan = (sum(test(*color) for color in colors) for test in (_is_violet, _is_cyan))
    assert violet > 5 and cyan > 5, f"{violet} violet and {cyan} cyan cells"
    assert not stained(pixels, blank(text, range(1, panes - 1), range(FIELD + 1, COLUMNS - 1))), "rain beside its field"
    assert not stained(pixels, blank(text, range(panes + 3, ROWS - 4), range(2, COLUMNS - 2))), "rain over the panes"
    later = window.picture(folder / "later.png")
    assert any(pixels.cell(*cell) != later.cell(*cell) for cell in inside), "it does not move"
    print(f"{share:.0%} of the blank cells in the field show rain: {cyan} cyan, {violet} violet; none elsewhere")


def _is_violet(red: int, green: int, blue: int) -> bool:
    return blue > green + 8 and red > green


def _is_cyan(red: int, green: int, blue: int) -> bool:
    return green > red + 8 and blue > red + 8


def main() -> int:
    """Look, and say what was seen."""
    with tempfile.TemporaryDirectory() as made, ServerThread(script) as server:
        folder = Path(made)
        make_repository(folder / "shop")
        environ = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        environ |= {"HOME": made, "LC_ALL": "C.UTF-8"}
        smith = Path(sys.executable).parent / "smith-tui"
        settings = [f"llm_config.api_url={server.url}", "default_model=qwen3-coder"]
        flags = [part for setting in settings for part in ("--set", setting)]
        command = ["sh", "-c", 'cd "$0" && exec "$@"', f"{made}/shop", str(smith), "--role", "orchestrator", *flags]
        with kitty(command, folder, environ, COLUMNS, ROWS) as window:
            try:
                look(window, folder)
            finally:
                stop_hosts(environ)
    print(f"the picture: {PICTURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
