"""Makes one round fit that is too large by itself: texts keep their head and tail, arguments only their size."""

from collections.abc import Callable, Sequence

import msgspec

from smith_core.messages import Message, ToolCall
from smith_core.patterns import later
from smith_core.tokens import text_quarters

_STEP = 0.75
_LEAST_LEVEL = 30
_LEAST_PART = 40
_EARLIER_NOTE = later(r"\[(?:…|\.\.\.) [^\]\n]{1,300}\]")
"""What a tool has put where it shortened its output itself: only there is the size of all of it."""


def cut_to_size(
    messages: Sequence[Message], room: int, size_of: Callable[[Message], int]
) -> tuple[Message, ...] | None:
    """Shorten the longest texts until all together take `room` quarters of a token; None when that cannot be done."""
    level = float(room)
    while level >= _LEAST_LEVEL:
        cut = tuple(_cut(message, int(level)) for message in messages)
        if sum(map(size_of, cut)) <= room:
            return cut
        level *= _STEP
    return None


def _cut(message: Message, level: int) -> Message:
    content = _head_and_tail(message.content, level)
    calls = tuple(_without_long_arguments(call, level) for call in message.tool_calls)
    if content is message.content and calls == message.tool_calls:
        return message
    return msgspec.structs.replace(message, content=content, tool_calls=calls)


def _head_and_tail(text: str, level: int) -> str:
    quarters = text_quarters(text)
    if quarters <= level:
        return text
    note = f"[… cut to fit the model's window; the whole has {len(text)} chars …]"
    if earlier := _EARLIER_NOTE.search(text):
        note = f"{note}\n{earlier[0]}"
    half = (level * len(text) // quarters - len(note)) // 2
    return f"{text[:half]}\n{note}\n{text[len(text) - half :]}" if half >= _LEAST_PART else note


def _without_long_arguments(call: ToolCall, level: int) -> ToolCall:
    if text_quarters(call.arguments) <= level:
        return call
    return msgspec.structs.replace(call, arguments=f'{{"elided":"{len(call.arguments)} chars of arguments"}}')
