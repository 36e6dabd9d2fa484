"""Opens the files of the store, and nothing that could block: where a pipe or a folder stands, that is an error."""

import errno
import os
from pathlib import Path
from typing import BinaryIO

from smith_core.plainfile import NotRegularFileError, open_regular


def open_for_reading(path: Path, buffering: int = -1) -> BinaryIO:
    """Return a regular file as a stream; raises OSError, also for what is no regular file."""
    return os.fdopen(open_descriptor(path), "rb", buffering=buffering)


def open_descriptor(path: Path, *, writable: bool = False) -> int:
    """Return a descriptor of a regular file; raises OSError, also for what is no regular file."""
    try:
        descriptor = open_regular(path)
    except NotRegularFileError as error:
        raise OSError(errno.EINVAL, f"it is {error.what}", str(path)) from error
    if not writable:
        return descriptor
    os.close(descriptor)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
