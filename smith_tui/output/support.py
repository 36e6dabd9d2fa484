"""Whether the output layer may work here: on the Textual that it was made for, and on what kind of terminal."""

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TEXTUAL_VERSION = "8.2.8"
"""The release whose private parts are known; pyproject.toml pins the same one."""

_COLOR_ERASERS = ("xterm", "alacritty", "foot", "kitty", "wezterm", "ghostty", "linux", "rxvt", "vte", "konsole", "st")
"""First words of TERM whose terminfo entries have `bce`."""
_BETWEEN = ("TMUX", "STY", "INSIDE_EMACS")
"""Variables of programs that stand between us and the terminal and may erase without colour."""


def textual_problem() -> str:
    """Say what about the installed Textual the output layer does not know; "" when all is as expected."""
    found = textual_version()
    if found != TEXTUAL_VERSION:
        return f"Textual {found} is installed, and {TEXTUAL_VERSION} is known"
    from textual import screen
    from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
    from textual.app import App
    from textual.drivers import linux_driver
    from textual.drivers._writer_thread import WriterThread
    from textual.strip import Strip

    expected: dict[Callable[..., Any], list[str]] = {
        App._display: ["self", "screen", "renderable"],
        ChopsUpdate.__init__: ["self", "chops", "spans", "chop_ends"],
        LayoutUpdate.__init__: ["self", "strips", "region"],
        Compositor.render_update: ["self", "full", "screen_stack", "simplify"],
        Compositor._render_chops: ["self", "crop", "is_rendered_line"],
        screen.Screen._on_timer_update: ["self"],
        Strip.render_ansi: ["style", "color_system"],
        WriterThread.__init__: ["self", "file"],
    }
    for function, names in expected.items():
        if list(inspect.signature(function).parameters) != names:
            return f"{function.__qualname__} takes other arguments than expected"
    if not hasattr(screen, "Compositor") or not hasattr(screen, "UPDATE_PERIOD"):
        return "its screens draw in another way"
    return "" if hasattr(linux_driver, "WriterThread") else "its driver does not write through a thread"


def textual_version() -> str:
    """Return the release that is installed."""
    import textual

    # Asking the package's records takes longer than the rest of this check.
    if (Path(textual.__file__).parent.parent / f"textual-{TEXTUAL_VERSION}.dist-info").is_dir():
        return TEXTUAL_VERSION
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("textual")
    except PackageNotFoundError:
        return "of unknown version"


def has_color_erase(environ: Mapping[str, str]) -> bool:
    """Whether the terminal surely erases cells in the background of the moment; where not, blanks are written."""
    if environ.get("TERM_PROGRAM") == "Apple_Terminal" or any(environ.get(name) for name in _BETWEEN):
        return False
    return sys.platform != "win32" and environ.get("TERM", "").split("-")[0] in _COLOR_ERASERS
