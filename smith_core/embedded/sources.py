"""What a source of weights is, and the nearest one: a file that the person names."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from smith_core.cancel import CancelToken
from smith_core.embedded.failures import cannot_write, unreadable_file
from smith_core.embedded.progress import Meter
from smith_core.embedded.running import run_in_thread
from smith_core.embedded.weights import CHUNK_BYTES, ModelFiles
from smith_core.plainfile import NotRegularFileError, open_regular


class Source(Protocol):
    """One place that may deliver a model's bytes; the installation, not the source, judges them."""

    @property
    def label(self) -> str:
        """What it is, for people."""

    def spare_bytes(self, files: ModelFiles) -> int:
        """Return how much disk it takes for a while, beyond the model's own size."""

    async def fetch(self, files: ModelFiles, meter: Meter, token: CancelToken) -> None:
        """Complete `files.partial`, going on at its end where possible; AgentFailure when that cannot be done."""


class NamedFile:
    """A GGUF file on this machine; it is copied, and stays as it is."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def label(self) -> str:
        """The file's path."""
        return f"the file {self._path}"

    def spare_bytes(self, files: ModelFiles) -> int:
        """Return 0: the copy is the model."""
        return 0

    async def fetch(self, files: ModelFiles, meter: Meter, token: CancelToken) -> None:
        """Copy the file from its first byte; one of another size is refused before that."""
        await run_in_thread(lambda stop: self._copy(files, meter, stop), token)

    def _copy(self, files: ModelFiles, meter: Meter, token: CancelToken) -> None:
        with self._open(files.model.size) as stream, writing(files.partial, at=0) as partial:
            meter.restart(0)
            done = 0
            while chunk := self._read(stream):
                token.check()
                partial.write(chunk)
                done += len(chunk)
                meter.reached(done)

    @contextlib.contextmanager
    def _open(self, expected_size: int) -> Iterator[BinaryIO]:
        try:
            descriptor = open_regular(self._path)
        except NotRegularFileError as error:
            raise unreadable_file(self._path, f"it is {error.what}; name a GGUF file") from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise unreadable_file(self._path, f"{reason.lower()}; check the path and its permissions") from error
        with os.fdopen(descriptor, "rb") as stream:
            size = os.fstat(descriptor).st_size
            if size != expected_size:
                hint = "it was cut short; copy it again" if size < expected_size else "it is another file"
                raise unreadable_file(self._path, f"it has {size} bytes instead of {expected_size}, so {hint}")
            yield stream

    def _read(self, stream: BinaryIO) -> bytes:
        try:
            return stream.read(CHUNK_BYTES)
        except OSError as error:
            raise unreadable_file(self._path, f"{error.strerror or error}; copy it again") from error


@contextlib.contextmanager
def writing(path: Path, at: int) -> Iterator[BinaryIO]:
    """Open a private file for writing from the byte `at` and cut off what was behind it.

    Failures of the disk come out as AgentFailure of kind persistence; what was written before stays.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.truncate(at)
            stream.seek(at)
            yield stream
    except OSError as error:
        raise cannot_write(path, error) from error
