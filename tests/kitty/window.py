"""A real kitty under a virtual X server: what is typed into it, what it shows as text, and its pixels."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PROGRAMS = {
    "kitty": "kitty", "Xvfb": "xvfb", "xwininfo": "x11-utils", "import": "imagemagick", "convert": "imagemagick",
}  # fmt: skip
PACKAGES = "kitty xvfb x11-utils imagemagick libgl1-mesa-dri libgl1 libegl1 fonts-dejavu-core fonts-noto-cjk"
_START_S = 30.0


class Pixels(NamedTuple):
    """A picture of the window: three bytes for each pixel, and the size of a cell."""

    width: int
    height: int
    data: bytes
    cell_width: int
    cell_height: int

    def cell(self, x: int, y: int) -> set[tuple[int, int, int]]:
        """Return the colours in a cell of the terminal."""
        colors = set()
        for line in range(y * self.cell_height, (y + 1) * self.cell_height):
            start = (line * self.width + x * self.cell_width) * 3
            row = self.data[start : start + self.cell_width * 3]
            colors |= set(zip(row[::3], row[1::3], row[2::3], strict=True))
        return colors


class Kitty:
    """The window; a cell is one character of its text, which has no wide ones here."""

    def __init__(self, columns: int, rows: int, environ: Mapping[str, str], socket: str) -> None:
        self.columns, self.rows = columns, rows
        self._environ = dict(environ)
        self._socket = socket
        self._window = ""
        self._size = (0, 0)

    def type(self, text: str) -> None:
        """Type."""
        self._ask("send-text", "--stdin", typed=text)

    def text(self) -> list[str]:
        """Return the rows of the screen, all of the same length."""
        rows = self._ask("get-text").split("\n")
        return [row.ljust(self.columns) for row in (rows + [""] * self.rows)[: self.rows]]

    def wait_for(self, holds: Callable[[list[str]], bool], seconds: float = _START_S) -> list[str]:
        """Wait until the text of the screen satisfies a condition; return it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(subprocess.CalledProcessError):
                shown = self.text()
                if holds(shown):
                    return shown
            time.sleep(0.1)
        raise AssertionError("never on the screen of kitty:\n" + "\n".join(self.text()))

    def picture(self, file: Path) -> Pixels:
        """Take a picture of the window into a PNG file, and return its pixels."""
        if not self._window:
            self._find_window()
        subprocess.run(["import", "-window", self._window, str(file)], env=self._environ, check=True)
        raw = subprocess.run(
            ["convert", str(file), "-depth", "8", "rgb:-"], env=self._environ, check=True, capture_output=True
        ).stdout
        width, height = self._size
        assert len(raw) == width * height * 3
        return Pixels(width, height, raw, width // self.columns, height // self.rows)

    def _find_window(self) -> None:
        tree = subprocess.run(["xwininfo", "-root", "-tree"], env=self._environ, capture_output=True, text=True).stdout
        line = next(line for line in tree.splitlines() if '("kitty" "kitty")' in line)
        self._window = line.split()[0]
        size = line.split(")")[1].split()[0].split("+")[0]
        self._size = tuple(map(int, size.split("x")))  # type: ignore[assignment]

    def _ask(self, *arguments: str, typed: str = "") -> str:
        command = ["kitty", "@", "--to", self._socket, *arguments]
        return subprocess.run(
            command, env=self._environ, input=typed, capture_output=True, text=True, check=True, timeout=20
        ).stdout


@contextlib.contextmanager
def kitty(command: Sequence[str], folder: Path, environ: Mapping[str, str], columns: int, rows: int) -> Iterator[Kitty]:
    """Run a command in a kitty of so many cells; `folder` is where it may leave what it needs."""
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        raise SystemExit(f"not here: {', '.join(missing)}; as root: apt-get install --no-install-recommends {PACKAGES}")
    with _screen() as display:
        # Without NOSSE the software renderer of Mesa 22.3 draws wrong colours of cells.
        quiet = {"LIBGL_ALWAYS_SOFTWARE": "1", "KITTY_DISABLE_WAYLAND": "1", "GALLIUM_NOSSE": "1"}
        whole = {**environ, **quiet, "DISPLAY": display, "XDG_RUNTIME_DIR": str(folder)}
        socket = f"unix:{folder}/kitty"
        options = {
            "remember_window_size": "no", "initial_window_width": f"{columns}c", "initial_window_height": f"{rows}c",
            "window_padding_width": "0", "update_check_interval": "0", "allow_remote_control": "yes",
            "confirm_os_window_close": "0", "font_family": "DejaVu Sans Mono", "font_size": "11",
            "cursor_blink_interval": "0", "placement_strategy": "top-left",
        }  # fmt: skip
        flags = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        process = subprocess.Popen(
            ["kitty", "--config", "NONE", *flags, "--listen-on", socket, *command],
            env=whole, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            yield Kitty(columns, rows, whole, socket)
        finally:
            process.terminate()
            process.wait(10)


@contextlib.contextmanager
def _screen() -> Iterator[str]:
    """Run an X server that shows nothing, on a display that it finds itself; yield its name."""
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1800x1100x24", "-nolisten", "tcp"],
        pass_fds=(writer,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writer)
    try:
        with os.fdopen(reader) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait(10)
