"""A conversation as its exports see it: each call stands beside its result."""

import time
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from smith_core.messages import Message, ToolCall

# A document is read in pagers and terminals too: controls other than line feed and tab must not reach them.
_CONTROLS = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
_CONTROLS |= {0x7F: "\u2421", **{code: "\ufffd" for code in range(0x80, 0xA0)}}


SPEAKERS = {"user": "You", "assistant": "Smith", "system": "System"}
"""Headings of messages by role."""


class ExportedConversation(msgspec.Struct, frozen=True, kw_only=True):
    """What is exported; times in seconds since the epoch."""

    conversation_id: str
    title: str
    cwd: str
    exported_at: float
    messages: tuple[Message, ...]


class CallPart(msgspec.Struct, frozen=True):
    """One call of an answer and what came of it, None when it was never answered."""

    call: ToolCall
    result: Message | None


def heading_of(conversation: ExportedConversation) -> str:
    """Return the title, or words in its place."""
    return conversation.title or "Conversation without a title"


def facts_of(conversation: ExportedConversation) -> str:
    """Return one line on where the conversation took place and when it was exported."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(conversation.exported_at))
    return f"{conversation.cwd}, exported {when}, {len(conversation.messages)} messages"


def shown_messages(conversation: ExportedConversation) -> Iterator[tuple[Message, tuple[CallPart, ...]]]:
    """Yield each message that stands for itself, with the calls that it makes; results stand with their calls."""
    results = results_by_call(conversation.messages)
    for message in conversation.messages:
        if message.role == "tool":
            continue
        yield message, tuple(CallPart(call, results.get(call.id)) for call in message.tool_calls)


def results_by_call(messages: tuple[Message, ...]) -> Mapping[str, Message]:
    """Return the result of each call by the call's id."""
    return {message.tool_call_id: message for message in messages if message.role == "tool"}


def result_text(part: CallPart) -> str:
    """Return what a call brought, fit to be shown."""
    if part.result is None:
        return "(no result was kept)"
    return shown(part.result.content)


def outcome(part: CallPart) -> str:
    """Return in one word how a call ended."""
    if part.result is None:
        return "unanswered"
    if part.result.cancelled:
        return "cancelled"
    return "ok" if part.result.ok else "failed"


def bad_ends(message: Message, calls: Iterable[CallPart]) -> Iterator[str]:
    """Yield how the turn ended whose last message this is, or a result of its calls, unless it ended well."""
    results = [part.result for part in calls if part.result is not None]
    for metadata in (last.metadata for last in (message, *results)):
        if metadata is not None and (metadata.turn_error or metadata.turn_cancelled):
            yield shown(metadata.turn_error) or "cancelled"


def pretty_arguments(arguments: str) -> str:
    """Return JSON text over several lines, or as it is when it is no JSON."""
    try:
        return shown(msgspec.json.format(arguments.encode(), indent=2).decode())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return shown(arguments)


def shown(text: str) -> str:
    """Return text in which control characters are pictures of themselves; line feed and tab stay."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)
