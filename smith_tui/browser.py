"""Opening an address of the web in the person's browser."""

import shutil
import subprocess
import sys
from collections.abc import Mapping

_WITHOUT_DISPLAY = "there is no screen for a browser here"


def open_address(address: str, environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """Hand an address to the system; return "" or, in words, why that cannot be. environ: without our keys."""
    if not address.lower().startswith(("http://", "https://")):
        return "only addresses of the web (http, https) are opened"
    name = "open" if platform == "darwin" else "xdg-open"
    if platform != "darwin" and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        return _WITHOUT_DISPLAY
    program = shutil.which(name, path=environ.get("PATH"))
    if program is None:
        return f"{name} is not installed"
    try:
        # In a session of its own: a browser in text mode finds no terminal to draw on.
        subprocess.Popen(
            [program, address],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return f"{name} cannot be started ({error.strerror or error})"
    return ""
