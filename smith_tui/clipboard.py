"""The clipboard: through the terminal (OSC 52), also from inside tmux and screen, and through the system's program."""

import asyncio
import base64
import contextlib
import shutil
import subprocess
import sys
from collections.abc import Mapping

from smith_tui.output.passing_on import passed_on

MAX_ENCODED = 100_000
"""Characters of base64 that terminals take in one sequence; xterm's limit, and that of most others."""
PROGRAM_S = 3.0
"""How long a clipboard program may take to read the text."""


def terminal_sequences(text: str, environ: Mapping[str, str]) -> str:
    """Return what makes the terminal copy a text, "" for one that is too large.

    tmux takes the sequence itself or hands it on, whichever its options allow, so it gets both forms.
    """
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    if len(encoded) > MAX_ENCODED:
        return ""
    sequence = f"\x1b]52;c;{encoded}\x07"
    return (sequence if environ.get("TMUX") else "") + passed_on(sequence, environ)


def clipboard_program(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[str, ...]:
    """Return the command that copies its input to the system's clipboard, () where there is none."""
    choices: list[tuple[str, ...]] = []
    if platform == "darwin":
        choices.append(("pbcopy",))
    if environ.get("WAYLAND_DISPLAY"):
        choices.append(("wl-copy",))
    if environ.get("DISPLAY"):
        choices += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    for name, *options in choices:
        found = shutil.which(name, path=environ.get("PATH"))
        if found:
            return (found, *options)
    return ()


async def copy_by_program(command: tuple[str, ...], text: str, environ: Mapping[str, str]) -> bool:
    """Give a text to a clipboard program; say whether it took it."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # some stay behind to serve the text, and would hold a pipe open
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(text.encode("utf-8", "replace")), PROGRAM_S)
    except (TimeoutError, OSError):
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        return False
    return process.returncode == 0


def outcome_sentence(text: str, *, by_terminal: bool, by_program: bool) -> str:
    """Say what became of a copy."""
    lines = text.count("\n") + 1
    amount = f"{len(text):,} character{'s' * (len(text) != 1)}" + (f" in {lines:,} lines" if lines > 1 else "")
    if by_program:
        return f"Copied {amount} to the clipboard."
    if by_terminal:
        return f"Copied {amount} through the terminal (OSC 52)."
    return f"{amount} are too many for the clipboard of a terminal; install wl-copy, xclip or xsel, or use /export."
