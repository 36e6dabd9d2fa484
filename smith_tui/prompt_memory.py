"""What was typed in earlier sessions, kept in one private file for all folders."""

import asyncio
import os
import stat
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from smith_core.errors import AgentFailure
from smith_core.log import LOGGER
from smith_core.paths import ensure_private_dir, state_dir
from smith_core.text import clean_text

FILE_NAME = "prompts.jsonl"
LONGEST_KEPT = 20_000
"""Characters; a longer prompt is a paste, which its conversation keeps."""
_SHORTEST_SECRET = 8
"""Characters; shorter values stand in ordinary prompts as well."""


class _Entry(msgspec.Struct, frozen=True):
    at: int
    folder: str
    text: str


class PromptMemory:
    """Reads and appends; a file that cannot be used is as good as an empty one.

    path: None keeps nothing. folder: where the person works now. secrets: texts whose prompts are not kept. max_bytes:
    size from which on the older half of the file is given up.
    """

    def __init__(
        self,
        path: Path | None = None,
        folder: str = "",
        secrets: Iterable[str] = (),
        *,
        max_bytes: int = 4_000_000,
    ) -> None:
        self._path = path
        self._folder = clean_text(folder)
        self._secrets = tuple(secret for secret in secrets if len(secret) >= _SHORTEST_SECRET)
        self._max_bytes = max_bytes
        self._waiting: list[_Entry] = []
        self._lock = threading.Lock()

    def read(self) -> list[str]:
        """Return what was typed, the oldest first, with what was typed in this folder behind all else."""
        entries = self._entries()
        here = [entry.text for entry in entries if entry.folder == self._folder]
        return [*(entry.text for entry in entries if entry.folder != self._folder), *here]

    def add(self, text: str) -> None:
        """Keep a text, in a thread; the loop's end waits for it."""
        if self._path is None or len(text) > LONGEST_KEPT or any(secret in text for secret in self._secrets):
            return
        self._waiting.append(_Entry(int(time.time()), self._folder, clean_text(text)))
        asyncio.get_running_loop().run_in_executor(None, self._write, self._path)

    def _write(self, path: Path) -> None:
        from smith_core.plainfile import FileBusyError, NotRegularFileError, check_regular, exclusively

        with self._lock:
            entries, self._waiting = self._waiting, []
            if not entries:
                return
            try:
                ensure_private_dir(path.parent)
                if path.exists():
                    check_regular(path)
                with exclusively(path):
                    _append(path, entries)
                    if path.stat().st_size > self._max_bytes:
                        _halve(path)
            except (OSError, AgentFailure, FileBusyError, NotRegularFileError) as error:
                LOGGER.info("the prompt could not be kept: %s", error)

    def _entries(self) -> list[_Entry]:
        from smith_core.plainfile import NotRegularFileError, open_regular

        if self._path is None:
            return []
        try:
            with os.fdopen(open_regular(self._path), "rb") as stream:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - self._max_bytes))
                data = stream.read(self._max_bytes)
        except (OSError, NotRegularFileError):
            return []
        return [entry for line in data.splitlines() if (entry := _decoded(line)) is not None]


def prompts_file() -> Path | None:
    """Return where prompts are kept, None without a home folder."""
    try:
        return state_dir() / FILE_NAME
    except AgentFailure:
        return None


def _append(path: Path, entries: Iterable[_Entry]) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as stream:
        status = os.fstat(descriptor)
        if stat.S_IMODE(status.st_mode) & 0o077:
            os.fchmod(descriptor, 0o600)
        # A crash may have left half a line.
        is_torn = status.st_size > 0 and os.pread(descriptor, 1, status.st_size - 1) != b"\n"
        stream.write(b"\n" * is_torn + msgspec.json.Encoder().encode_lines(list(entries)))


def _halve(path: Path) -> None:
    from smith_core.atomic import write_atomically

    lines = path.read_bytes().splitlines(keepends=True)
    write_atomically(path.resolve(), b"".join(lines[len(lines) // 2 :]))


def _decoded(line: bytes) -> _Entry | None:
    try:
        return msgspec.json.decode(line, type=_Entry)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
