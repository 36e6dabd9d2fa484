"""The folder of the index seen as files: finding damage, emptying it, and keeping it private."""

import contextlib
import fcntl
import json
import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

WRITER_LOCK = ".tantivy-writer.lock"
"""tantivy takes an flock on this file for as long as it writes; it is never unlinked."""
META = "meta.json"

_LOCKS = frozenset({WRITER_LOCK, ".tantivy-meta.lock"})
_SEGMENT_SUFFIXES = (".term", ".idx", ".pos", ".fieldnorm", ".fast", ".store")
_FOOTER_END = struct.Struct("<II")
_FOOTER_MAGIC = 1337
_CHUNK = 1 << 20


def find_damage(folder: Path, should_stop: Callable[[], bool] = lambda: False) -> str:
    """Return the name of a file of the index that is missing, cut or changed; "" when all are as they were written.

    Files of segments end in their own checksum (tantivy's `Footer`: JSON with a CRC-32, its length, a magic number).
    They are read in full: tantivy itself does not look before use, and damaged postings make it panic, which prints
    to the terminal. Raises OSError when the folder cannot be read.
    """
    while True:
        before = _read_meta(folder)
        damaged = _first_damaged(folder, before, should_stop)
        # Another process may have replaced segments while they were being read.
        if not damaged or _read_meta(folder) == before:
            return damaged


def _read_meta(folder: Path) -> bytes | None:
    try:
        return (folder / META).read_bytes()
    except FileNotFoundError:
        return None


def _first_damaged(folder: Path, meta: bytes | None, should_stop: Callable[[], bool]) -> str:
    if meta is None:
        holds_segments = any(path.suffix in _SEGMENT_SUFFIXES for path in folder.iterdir())
        return META if holds_segments else ""
    try:
        names = [name for segment in json.loads(meta)["segments"] for name in _files_of(segment)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return META
    for name in names:
        if should_stop():
            return ""
        try:
            if not _is_whole(folder / name):
                return name
        except FileNotFoundError:
            return name
    return ""


def _files_of(segment: dict[str, Any]) -> list[str]:
    name = segment["segment_id"].replace("-", "")
    files = [name + suffix for suffix in _SEGMENT_SUFFIXES]
    if segment["deletes"] is not None:
        files.append(f"{name}.{segment['deletes']['opstamp']}.del")
    return files


def empty_folder(folder: Path) -> bool:
    """Delete the index unless somebody is writing to it; return whether that was done. Raises OSError."""
    with _writer_lock(folder) as is_ours:
        if not is_ours:
            return False
        for path in folder.iterdir():
            if path.name not in _LOCKS:
                path.unlink()
        return True


def make_private(folder: Path) -> None:
    """Set the folder to 0700 and its files to 0600, as far as the file system knows modes and lets us."""
    with contextlib.suppress(OSError):
        if stat.S_IMODE(folder.stat().st_mode) != 0o700:
            folder.chmod(0o700)
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                mode = path.lstat().st_mode
                if stat.S_ISREG(mode) and stat.S_IMODE(mode) != 0o600:
                    path.chmod(0o600)


def _is_whole(path: Path) -> bool:
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < _FOOTER_END.size:
            return False
        stream.seek(size - _FOOTER_END.size)
        footer_size, magic = _FOOTER_END.unpack(stream.read(_FOOTER_END.size))
        content_size = size - _FOOTER_END.size - footer_size
        if magic != _FOOTER_MAGIC or content_size < 0:
            return False
        stream.seek(content_size)
        try:
            expected = int(json.loads(stream.read(footer_size))["crc"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return False
        stream.seek(0)
        checksum, left = 0, content_size
        while left and (chunk := stream.read(min(_CHUNK, left))):
            checksum = zlib.crc32(chunk, checksum)
            left -= len(chunk)
        return left == 0 and checksum == expected


@contextlib.contextmanager
def _writer_lock(folder: Path) -> Iterator[bool]:
    descriptor = os.open(folder / WRITER_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)
