"""The border where failures of the disk become one sentence that says what to do."""

import errno
from pathlib import Path

from smith_core.errors import AgentFailure, failure
from smith_core.store.interface import ConversationHeld
from smith_core.store.journal.lock import LockHeldError
from smith_core.store.journal.recovery import reason

_FULL = (errno.ENOSPC, errno.EDQUOT)
_SOMETHING_ELSE = (errno.EINVAL, errno.EISDIR, errno.ENOTDIR)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


def translate(error: Exception, folder: Path) -> AgentFailure:
    """Return the failure of kind persistence for whatever an operation on the store below `folder` raised."""
    if isinstance(error, AgentFailure):
        return error
    if isinstance(error, LockHeldError):
        return _failure(
            "store_busy",
            f"the store is busy: process {error.pid or '?'} does not let go of {error.path}; try again, or end it",
            retryable=True,
        )
    if isinstance(error, OSError):
        return _of_system_call(error, folder)
    return _failure("store_failed", f"the store failed ({type(error).__name__}: {error}); please report it")


def _of_system_call(error: OSError, folder: Path) -> AgentFailure:
    if error.errno in _FULL:
        return _failure("disk_full", f"the disk is full; free some space for {folder}", retryable=True)
    if error.errno == errno.EFBIG:
        return _failure("size_limit", f"files in {folder} may not grow any more; raise the limit (ulimit -f)")
    if error.errno in _FORBIDDEN:
        words = f"{folder} cannot be written ({reason(error)}); make it writable or set another XDG_DATA_HOME"
        return _failure("read_only", words, retryable=True)
    place = folder if error.filename is None else error.filename
    words = f"{place} cannot be used ({reason(error)}); "
    if error.errno in _SOMETHING_ELSE:
        words += "move away what stands there in place of a file"
    else:
        words += "check the disk"
    return _failure("disk_failed", words, retryable=True)


def held_elsewhere(held: ConversationHeld) -> AgentFailure:
    """Return the failure of writing to a conversation that another process has."""
    return _failure(
        "conversation_held",
        f"the conversation is open in another smith-tui (process {held.pid or '?'}); "
        "close it there, fork the conversation, or start a new one",
        data={"conversation_id": held.conversation_id, "pid": held.pid},
    )


def no_conversation(conversation_id: str) -> AgentFailure:
    """Return the failure of naming a conversation that is not there."""
    return _failure("no_conversation", f"there is no conversation {conversation_id}; /list shows all")


def no_message(sequence: int) -> AgentFailure:
    """Return the failure of naming a message that is not there."""
    return _failure("no_message", f"there is no message {sequence} in this conversation any more; look at it again")


def _failure(code: str, message: str, **fields: object) -> AgentFailure:
    return failure("persistence", code, message, origin="store", **fields)
