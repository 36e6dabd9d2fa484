"""Where the copy of a conversation ends. Pure."""

from collections.abc import Sequence

from smith_core.store.interface import StoredMessage


def up_to_message(stored: Sequence[StoredMessage], up_to: int | None) -> tuple[StoredMessage, ...]:
    """Return the messages up to and with number `up_to`, and all results of the calls that are cut into; None: all.

    Without its result, a call would be said to be cancelled.
    """
    if up_to is None:
        return tuple(stored)
    end = sum(item.sequence <= up_to for item in stored)
    while 0 < end < len(stored) and stored[end].message.role == "tool":
        end += 1
    return tuple(stored[:end])
