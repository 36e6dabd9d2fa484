"""What is done with a journal that is not as it should be: its bytes are kept aside first, and people are told."""

import contextlib
import errno
import os
import time
from collections.abc import Sequence
from pathlib import Path

from smith_core.errors import failure
from smith_core.store.interface import StoreNotice
from smith_core.store.journal.disk import Disk
from smith_core.store.journal.line import Damage
from smith_core.store.version import SCHEMA_VERSION

_BLOCK = 1 << 20


def keep_copy(journal: Path, descriptor: int, disk: Disk) -> Path:
    """Save the bytes of an open journal beside it as `<name>.corrupt-<UTC time>`; raises OSError."""
    target = _free_name(journal.with_name(f"{journal.name}.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"))
    temporary = target.with_name(f"{target.name}.tmp")
    copy = disk.create(temporary)
    try:
        offset = 0
        while block := os.pread(descriptor, _BLOCK, offset):
            disk.write(copy, block, offset)
            offset += len(block)
        disk.sync(copy)
        disk.replace(temporary, target)
        disk.sync_folder(target.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    finally:
        os.close(copy)
    return target


def _free_name(wanted: Path) -> Path:
    candidate, number = wanted, 2
    while candidate.exists():
        candidate, number = wanted.with_name(f"{wanted.name}-{number}"), number + 1
    return candidate


def repaired(journal: Path, copy: Path, damage: Sequence[Damage], records: int, *, only_tail: bool) -> StoreNotice:
    """Return the notice about a journal that was repaired."""
    lost = sum(part.end - part.start for part in damage)
    if only_tail:
        text = f"the end of {journal} was unfinished ({lost} bytes); everything before it is there"
    elif records:
        text = f"{journal} was damaged; {records} records around the damage were saved"
    else:
        text = f"{journal} held nothing that can be read; a new one was begun"
    return StoreNotice(
        level="warning", text=f"{text}, and the original is kept as {copy}", path=str(journal), kept_copy=str(copy)
    )


def damaged(journal: Path) -> StoreNotice:
    """Return the notice about a damaged journal that was opened for reading."""
    text = f"{journal} is damaged; what can be read of it is shown, and it is repaired when it is opened for writing"
    return StoreNotice(level="warning", text=text, path=str(journal))


def not_repaired(journal: Path, error: Exception) -> StoreNotice:
    """Return the notice about a damaged journal that can be read but not repaired now."""
    return StoreNotice(
        level="error",
        text=f"{journal} is damaged and cannot be repaired now ({reason(error)}); it is left as it is",
        path=str(journal),
    )


def check_schema(journal: Path, schema: int, *, can_migrate: bool) -> None:
    """Raise AgentFailure of kind persistence for a journal of a newer version, or of an older one that must stay so."""
    if schema > SCHEMA_VERSION:
        code = "newer_store"
        words = (
            f"was written by a newer smith-tui (form {schema}, this one knows {SCHEMA_VERSION}); "
            "update smith-tui, nothing in the file was changed"
        )
    elif schema < SCHEMA_VERSION and not can_migrate:
        code = "older_store"
        words = (
            "is in an older form and cannot be converted now; "
            "close the smith-tui that has it open, or make the file writable"
        )
    else:
        return
    raise failure("persistence", code, f"{journal} {words}", origin="store")


def reason(error: Exception) -> str:
    """Return why a system call failed, in words."""
    if isinstance(error, OSError):
        if error.errno == errno.EFBIG:
            return "no more space is allowed to this program"
        return (error.strerror or str(error)).lower()
    return str(error)
