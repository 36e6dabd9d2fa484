"""Copies of contents under the SHA-256 of what is in them, so that the same content is kept once."""

import contextlib
import hashlib
import os
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from smith_core.paths import ensure_private_dir
from smith_core.regular_file import read_regular_file
from smith_core.tools.changes.states import MAX_KEPT_BYTES

_RAW, _DEFLATED = b"r", b"z"
_FASTEST = 1
_MANY = 16
"""From so many files on, the file system as a whole is synced in place of each of them."""


class BlobStore:
    """The folder `blobs`: <first two digits>/<digest>, a letter for the form and then the content.

    Used by several processes at once: a name always stands for the same content, and appears with all of it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, digest: str) -> Path:
        """Return where the copy of a content is."""
        return self.folder / digest[:2] / digest

    def has(self, digest: str) -> bool:
        """Say whether there is a copy."""
        return bool(digest) and self.path_of(digest).exists()

    def put(self, contents: Iterable[bytes]) -> None:
        """Keep contents; they are on the medium when this returns. Raises OSError and AgentFailure."""
        written: dict[Path, Path] = {}
        try:
            for data in contents:
                path = self.path_of(hashlib.sha256(data).hexdigest())
                if path not in written and not path.exists():
                    written[path] = self._write(path, data)
            # All of them are written before the first is waited for, which is quicker than one after the other.
            self._sync_all(written.values())
            for path, temporary in written.items():
                temporary.replace(path)
        finally:
            for temporary in written.values():
                with contextlib.suppress(OSError):
                    temporary.unlink()  # it is gone when it has its name
        self._sync_all({path.parent for path in written})

    def get(self, digest: str) -> bytes | None:
        """Return a content, None when there is no whole copy of it."""
        stored = read_regular_file(self.path_of(digest), MAX_KEPT_BYTES + 1, follow_symlink=False).data
        form, body = stored[:1], stored[1:]
        try:
            data = zlib.decompress(body) if form == _DEFLATED else body
        except zlib.error:
            return None
        is_whole = form in (_RAW, _DEFLATED) and hashlib.sha256(data).hexdigest() == digest
        return data if is_whole else None

    def entries(self) -> Iterator[tuple[Path, int]]:
        """Yield the files of the folder with their sizes, half-written ones included."""
        with contextlib.suppress(OSError):
            for folder in sorted(self.folder.iterdir()):
                with os.scandir(folder) as entries:
                    for entry in entries:
                        with contextlib.suppress(OSError):
                            yield Path(entry.path), entry.stat(follow_symlinks=False).st_size

    def _sync_all(self, paths: Collection[Path]) -> None:
        if len(paths) > _MANY and _sync_file_system(self.folder):
            return
        for path in paths:
            _sync(path)

    def _write(self, path: Path, data: bytes) -> Path:
        ensure_private_dir(self.folder)
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _sync(self.folder)
        packed = zlib.compress(data, _FASTEST)
        temporary = path.parent / f"{os.urandom(8).hex()}.tmp"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_DEFLATED + packed if len(packed) < len(data) else _RAW + data)
        return temporary


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_file_system(folder: Path) -> bool:
    """Return when all that was written to the file system of a folder is on the medium; say whether that can be had."""
    import ctypes  # which takes its time, and most turns change few files

    sync = getattr(ctypes.CDLL(None), "syncfs", None)
    if sync is None:
        return False
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return bool(sync(descriptor) == 0)
    finally:
        os.close(descriptor)
