"""The calls of a stored conversation, as the tool-output pane lists them again. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from smith_core.messages import Message, ToolCall, ToolMetadata
from smith_tui.transcript.summaries import summarize

if TYPE_CHECKING:
    from smith_tui.widgets.tool_calls import CallState

MAX_STORED = 100
"""Most calls that are listed: the last ones."""

_NOTHING = ToolMetadata()


class StoredCall(NamedTuple):
    """A call that has ended: what it was, how it ended, and its output as it was kept.

    text: the result, or the diff that it made. full_path: of the raw output on disk, if that was kept.
    """

    call_id: str
    name: str
    summary: str
    state: "CallState"
    exit_code: int | None
    duration_s: float
    text: str
    is_diff: bool
    full_path: str


def stored_calls(messages: Sequence[Message], most: int = MAX_STORED) -> list[StoredCall]:
    """Return the last calls of a conversation that have a result, the oldest first."""
    results: dict[str, Message] = {}
    found: list[StoredCall] = []
    for message in reversed(messages):
        if message.role == "tool":
            results[message.tool_call_id] = message
        for call in reversed(message.tool_calls):
            if (result := results.pop(call.id, None)) is not None:
                found.append(_stored(call, result))
        if len(found) >= most:
            break
    return found[:most][::-1]


def _stored(call: ToolCall, result: Message) -> StoredCall:
    kept = result.metadata or _NOTHING
    return StoredCall(
        call_id=call.id,
        name=call.name,
        summary=summarize(call.name, call.arguments),
        state="cancelled" if result.cancelled else "ok" if result.ok else "error",
        exit_code=kept.exit_code,
        duration_s=kept.duration_s,
        text=kept.diff or result.content,
        is_diff=bool(kept.diff),
        full_path=kept.full_output_path,
    )
