"""The end of the conversation that a start goes on with, before the store is open: it follows the first frame."""

from pathlib import Path

import msgspec

from smith_core.messages import Message
from smith_core.store.early_tail import read_tail
from smith_core.store.interface import TAIL_MESSAGES


class StoredTail(msgspec.Struct, frozen=True, kw_only=True):
    """The last messages of a conversation; sequences: their numbers in the store.

    It is no event: those take longer to import than this takes to read, and nothing but the screen wants it.
    """

    conversation_id: str
    title: str
    messages: tuple[Message, ...]
    sequences: tuple[int, ...]


def stored_tail(folder: Path) -> StoredTail | None:
    """Return the end of the last conversation below a data folder, to be shown until the engine has opened it.

    None when there is none, or none that the engine is going to open; raises nothing.
    """
    tail = read_tail(folder, TAIL_MESSAGES)
    if tail is None:
        return None
    return StoredTail(
        conversation_id=tail.conversation_id,
        title=tail.title,
        messages=tuple(item.message for item in tail.messages),
        sequences=tuple(item.sequence for item in tail.messages),
    )
