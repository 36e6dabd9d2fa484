"""Reading of small files that other people may have put there: never waits, never follows into a device or pipe."""

import os
import stat
from pathlib import Path

import msgspec

_KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a named pipe"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
)
_READ_BITS = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


class FileRead(msgspec.Struct, frozen=True, kw_only=True):
    """What came of reading: `data`, or `problem` in plain words ("it is a folder"), or nothing was there.

    size: bytes of the whole file, which may be more than `data` holds.
    """

    data: bytes = b""
    size: int = 0
    problem: str = ""
    is_missing: bool = False


def read_regular_file(path: str | Path, limit: int, *, follow_symlink: bool = True) -> FileRead:
    """Return at most `limit` bytes of a regular file; every failure comes back as a value.

    A file without any read permission counts as unreadable for root too, who could read it all the same.
    """
    try:
        refusal = _refusal(Path(path).stat(follow_symlinks=follow_symlink))
        return FileRead(problem=refusal) if refusal else _read(path, limit, follow_symlink)
    except (FileNotFoundError, NotADirectoryError):
        return FileRead(is_missing=True)
    except PermissionError:
        return FileRead(problem="you have no permission to read it")
    except OSError as error:
        return FileRead(problem=(error.strerror or "it cannot be read").lower())
    except ValueError:
        return FileRead(problem="its name holds a character that no file name has")


def _read(path: str | Path, limit: int, follow_symlink: bool) -> FileRead:
    # The kind is looked at again on the open file: between stat and open somebody may have put a pipe there.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if follow_symlink else os.O_NOFOLLOW)
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        refusal = _refusal(status)
        if refusal:
            return FileRead(problem=refusal)
        data = file.read(limit)
        return FileRead(data=data, size=max(status.st_size, len(data)))


def _refusal(status: os.stat_result) -> str:
    if not stat.S_ISREG(status.st_mode):
        return next((words for is_kind, words in _KINDS if is_kind(status.st_mode)), "it is not a regular file")
    return "" if status.st_mode & _READ_BITS else "you have no permission to read it"
