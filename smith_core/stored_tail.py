"""The end of the conversation that a start goes on with, before the store is open: it follows the first frame."""

from pathlib import Path

from smith_core.events import ConversationLoaded
from smith_core.store.early_tail import read_tail
from smith_core.store.interface import TAIL_MESSAGES


def stored_tail(folder: Path) -> ConversationLoaded | None:
    """Return the end of the last conversation below a data folder, to be shown until the engine has opened it.

    None when there is none, or none that the engine is going to open; raises nothing.
    """
    tail = read_tail(folder, TAIL_MESSAGES)
    if tail is None:
        return None
    return ConversationLoaded(
        conversation_id=tail.conversation_id,
        title=tail.title,
        messages=tuple(item.message for item in tail.messages),
        sequences=tuple(item.sequence for item in tail.messages),
        is_whole=False,
    )
