"""Handing the terminal to another program, such as an editor or a pager, and coming back whole."""

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from smith_core.errors import failure

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_LATE_SIGNAL_S = 0.1
"""Longer than the loop takes to read the Ctrl+C that was meant for the other program."""


class TerminalOwner(Protocol):
    """The app, as far as it is needed here."""

    def suspend(self) -> "AbstractContextManager[None]":
        """Give the terminal back for the time of a block."""
        ...

    def take_signals(self) -> None:
        """Take the signals that end the app."""
        ...


def edit_text(owner: TerminalOwner, text: str, suffix: str, environ: Mapping[str, str]) -> str:
    """Let the person change a text in $VISUAL or $EDITOR and return what became of it.

    The event loop stands still meanwhile. The file is private and removed afterwards. AgentFailure of kind tool when
    no editor can be started, when it fails, or when what it leaves is no text.
    """
    command = program(environ, ("VISUAL", "EDITOR"), ("sensible-editor", "nano", "vi"))
    with _private_file(text, suffix) as path:
        status = _run(owner, [*command, str(path)], environ)
        if status:
            raise failure(
                "tool",
                "editor_failed",
                f"{command[0]} ended with status {status}; nothing was changed",
                origin="editor",
            )
        try:
            changed = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            words = f"{command[0]} left no readable text ({error}); nothing was changed"
            raise failure("tool", "editor_failed", words, origin="editor") from error
    # Editors end the last line, whether it was ended before or not.
    return changed[:-1] if changed.endswith("\n") and not text.endswith("\n") else changed


def page_text(owner: TerminalOwner, text: str, environ: Mapping[str, str]) -> None:
    """Show a text in $PAGER; the event loop stands still meanwhile. AgentFailure of kind tool when that fails."""
    command = program(environ, ("PAGER",), ("less", "more"))
    with _private_file(text, ".md") as path:
        status = _run(owner, [*command, str(path)], environ)
    if status:
        raise failure("tool", "pager_failed", f"{command[0]} ended with status {status}", origin="pager")


def program(environ: Mapping[str, str], variables: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Return the command that the environment names, or the first usual one that is there."""
    for variable in variables:
        try:
            command = shlex.split(environ.get(variable, ""))
        except ValueError as error:
            raise failure("tool", "bad_command", f"${variable} cannot be read: {error}", origin="outside") from error
        if command:
            return command
    for name in usual:
        if shutil.which(name, path=environ.get("PATH")):
            return [name]
    raise failure("tool", "no_program", f"set ${variables[0]} to a program; none of the usual ones is here")


@contextmanager
def _private_file(text: str, suffix: str) -> Iterator[Path]:
    try:
        descriptor, name = tempfile.mkstemp(suffix, "smith-")  # mode 0600
    except OSError as error:
        raise failure("tool", "no_file", f"no temporary file can be made ({error}); set TMPDIR") from error
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
        yield path
    finally:
        # Some editors leave what was there before beside it.
        for left in (path, path.with_name(f"{path.name}~")):
            left.unlink(missing_ok=True)


def _run(owner: TerminalOwner, command: list[str], environ: Mapping[str, str]) -> int:
    from textual.app import SuspendNotSupported

    loop = asyncio.get_running_loop()
    # Ctrl+C is for the other program, and must not end this one as soon as it is back.
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    try:
        with owner.suspend():
            return subprocess.run(command, env=dict(environ), check=False).returncode
    except SuspendNotSupported as error:
        raise failure("tool", "no_terminal", "this terminal cannot be handed to another program") from error
    except OSError as error:
        words = f"{command[0]} cannot be started ({error.strerror or error})"
        raise failure("tool", "no_program", words, origin="outside") from error
    finally:
        loop.call_later(_LATE_SIGNAL_S, owner.take_signals)
