"""Fits a conversation into the model's window: old tool output is elided, then the oldest rounds are dropped.

Pure functions on tuples of messages; what is stored is never touched. Held in every result: the first system
message and the most recent user message are there, and a tool call is never without all its results.
"""

from collections.abc import Iterator, Sequence

import msgspec

from smith_core.messages import Message

CHARS_PER_TOKEN = 4


class WindowLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The policy of one call; `context_window` in tokens, the other fields as in `context_management`."""

    context_window: int
    enabled: bool = True
    keep_rounds: int = 7
    elide_over_chars: int = 1024
    trim_threshold_pct: float = 80.0

    @property
    def token_limit(self) -> int:
        """Tokens that the messages may take."""
        return int(self.context_window * self.trim_threshold_pct / 100)


class FittedWindow(msgspec.Struct, frozen=True, kw_only=True):
    """What goes to the model; `fits` is False when even the parts that must stay are too large."""

    messages: tuple[Message, ...]
    tokens: int
    fits: bool
    elided: int = 0
    dropped: int = 0


def fit(messages: Sequence[Message], limits: WindowLimits) -> FittedWindow:
    """Apply both layers of the policy, or none when it is disabled."""
    if not limits.enabled:
        everything = tuple(messages)
        return FittedWindow(messages=everything, tokens=estimate_tokens(everything), fits=True)
    elided, count = elide(messages, limits)
    kept = drop(elided, limits.token_limit)
    tokens = estimate_tokens(kept)
    return FittedWindow(
        messages=kept,
        tokens=tokens,
        fits=tokens <= limits.token_limit,
        elided=count,
        dropped=len(elided) - len(kept),
    )


def estimate_tokens(messages: Sequence[Message]) -> int:
    """Estimate the tokens of messages by their characters, four to a token, rounded up."""
    return -(-sum(map(message_chars, messages)) // CHARS_PER_TOKEN)


def message_chars(message: Message) -> int:
    """Return the characters of a message that are sent to the model."""
    return len(message.content) + sum(len(call.name) + len(call.arguments) for call in message.tool_calls)


def elide(messages: Sequence[Message], limits: WindowLimits) -> tuple[tuple[Message, ...], int]:
    """Replace large tool results older than the newest `keep_rounds` tool rounds; also return how many."""
    rounds = [index for index, message in enumerate(messages) if message.tool_calls]
    first_kept = 0
    if len(rounds) > limits.keep_rounds:
        first_kept = rounds[-limits.keep_rounds] if limits.keep_rounds else len(messages)
    count = 0
    result: list[Message] = []
    for index, message in enumerate(messages):
        if index < first_kept and message.role == "tool" and len(message.content) > limits.elide_over_chars:
            message = msgspec.structs.replace(message, content=_placeholder(message))
            count += 1
        result.append(message)
    return tuple(result), count


def _placeholder(message: Message) -> str:
    size = f"elided {len(message.content)} chars of tool output"
    if message.recall_key:
        return f'[{size}; retrieve with recall(key="{message.recall_key}")]'
    return f"[{size}]"


def drop(messages: Sequence[Message], token_limit: int) -> tuple[Message, ...]:
    """Keep the newest whole rounds that fit beside the first system and the most recent user message.

    A round of an earlier turn begins with its user message; inside the current turn a round is one assistant
    message with its results. The newest round is shortened rather than dropped, or the model would repeat it.
    """
    if estimate_tokens(messages) <= token_limit:
        return tuple(messages)
    head = tuple(messages[:1]) if messages and messages[0].role == "system" else ()
    body = messages[len(head) :]
    last_user = max((i for i, message in enumerate(body) if message.role == "user"), default=-1)
    pinned = tuple(body[last_user : last_user + 1]) if last_user >= 0 else ()
    room = token_limit * CHARS_PER_TOKEN - sum(map(message_chars, head + pinned))

    current, room, whole = _newest_that_fit(list(_tool_rounds(body[last_user + 1 :])), room, shorten_newest=True)
    earlier: tuple[Message, ...] = ()
    if whole and last_user > 0:
        earlier, _, _ = _newest_that_fit(list(_turns(body[:last_user])), room, shorten_newest=False)
    return head + earlier + pinned + current


def _newest_that_fit(
    rounds: list[tuple[Message, ...]], room: int, *, shorten_newest: bool
) -> tuple[tuple[Message, ...], int, bool]:
    kept: list[tuple[Message, ...]] = []
    for position, messages in enumerate(reversed(rounds)):
        size = sum(map(message_chars, messages))
        if size > room and position == 0 and shorten_newest:
            messages = _shorten_results(messages, room)
            size = sum(map(message_chars, messages))
        if size > room:
            break
        room -= size
        kept.append(messages)
    flat = tuple(message for messages in reversed(kept) for message in messages)
    return flat, room, len(kept) == len(rounds)


def _tool_rounds(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    group: list[Message] = []
    for message in messages:
        if message.role != "tool" and group:
            yield tuple(group)
            group = []
        group.append(message)
    if group:
        yield tuple(group)


def _turns(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    group: list[Message] = []
    for message in messages:
        if message.role == "user" and group:
            yield tuple(group)
            group = []
        group.append(message)
    if group:
        yield tuple(group)


def _shorten_results(messages: tuple[Message, ...], room: int) -> tuple[Message, ...]:
    results = [message for message in messages if message.role == "tool"]
    fixed = sum(message_chars(message) for message in messages if message.role != "tool")
    share = (room - fixed) // len(results) if results else 0
    if share < _LEAST_SHARE:
        return messages
    return tuple(
        msgspec.structs.replace(message, content=_head_and_tail(message.content, share))
        if message.role == "tool" and len(message.content) > share
        else message
        for message in messages
    )


_LEAST_SHARE = 200


def _head_and_tail(text: str, limit: int) -> str:
    note = f"\n[… cut to fit the model's window; the whole has {len(text)} chars …]\n"
    half = max(0, limit - len(note)) // 2
    return text[:half] + note + text[len(text) - half :]
