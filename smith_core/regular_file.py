"""Reading of small files that other people may have put there, with every failure as a value."""

import os
import stat
from pathlib import Path

import msgspec

from smith_core.plainfile import NotRegularFileError, open_regular

_READ_BITS = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
_NO_PERMISSION = "you have no permission to read it"


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
        with os.fdopen(open_regular(Path(path), follow_symlink=follow_symlink), "rb") as file:
            status = os.fstat(file.fileno())
            if not status.st_mode & _READ_BITS:
                return FileRead(problem=_NO_PERMISSION)
            data = file.read(limit)
            return FileRead(data=data, size=max(status.st_size, len(data)))
    except NotRegularFileError as error:
        return FileRead(problem=f"it is {error.what}")
    except (FileNotFoundError, NotADirectoryError):
        return FileRead(is_missing=True)
    except PermissionError:
        return FileRead(problem=_NO_PERMISSION)
    except OSError as error:
        return FileRead(problem=(error.strerror or "it cannot be read").lower())
    except ValueError:
        return FileRead(problem="its name holds a character that no file name has")
