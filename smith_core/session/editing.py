"""What editing stored history means, as pure rules: whatever is taken out or changed, calls and results stay paired."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import msgspec

from smith_core.errors import failure
from smith_core.messages import Message, ToolCall
from smith_core.store.interface import MessageChange, StoredMessage
from smith_core.text import clean_text
from smith_core.turn import history_safe

PartKind = Literal["text", "reasoning", "arguments"]


class Part(msgspec.Struct, frozen=True):
    """A piece of a message that can be edited; call_id: of the call whose arguments it is."""

    kind: PartKind
    call_id: str = ""


TEXT = Part("text")


def parts_of(message: Message) -> tuple[Part, ...]:
    """Return what can be edited in a message, the text first even where there is none yet."""
    reasoning = (Part("reasoning"),) if message.reasoning else ()
    return (TEXT, *reasoning, *(Part("arguments", call.id) for call in message.tool_calls))


def part_text(message: Message, part: Part) -> str:
    """Return the text of a part as it is stored; AgentFailure of kind policy when the message has no such part."""
    if part.kind == "arguments":
        return _call(message, part).arguments
    return message.reasoning if part.kind == "reasoning" else message.content


def with_part(message: Message, part: Part, text: str) -> Message:
    """Return the message with another text in one part.

    Lone surrogates and NUL become U+FFFD. AgentFailure of kind schema when the message could not be sent like that.
    """
    text = clean_text(text)
    if part.kind == "arguments":
        return _with_arguments(message, _call(message, part), text.strip())
    if part.kind == "reasoning":
        return msgspec.structs.replace(message, reasoning=text)
    if not text.strip():
        _refuse_empty(message)
    changed = msgspec.structs.replace(message, content=text)
    if message.metadata is not None:
        # A diff is shown in place of its text, and would still say what was taken out of it; where in an edited prompt
        # the files begin, nobody knows.
        metadata = msgspec.structs.replace(message.metadata, diff="", typed_chars=-1)
        changed = msgspec.structs.replace(changed, metadata=metadata)
    return changed


def replacement(stored: Sequence[StoredMessage], sequence: int, part: Part, text: str) -> tuple[MessageChange, ...]:
    """Return the change that puts another text in one part of one message, none when it is the same text."""
    before = next((item.message for item in stored if item.sequence == sequence), None)
    if before is None:
        raise _not_there(sequence)
    after = before if text == part_text(before, part) else with_part(before, part, text)
    return () if after == before else (MessageChange(sequence, before, after),)


def deletion(stored: Sequence[StoredMessage], sequences: Collection[int]) -> tuple[MessageChange, ...]:
    """Return the changes that take messages out, with what has no meaning without them.

    The results of a deleted call go along. The call of a deleted result leaves its message, which goes as well when
    nothing that can be sent is left of it.
    """
    known = {item.sequence for item in stored}
    missing = sorted(set(sequences) - known)
    if missing:
        raise _not_there(missing[0])
    gone = set(sequences)
    changed: dict[int, Message] = {}
    for position, item in enumerate(stored):
        if not item.message.tool_calls:
            continue
        results = _results_of(stored, position)
        if item.sequence in gone:
            gone.update(sequence for found in results.values() for sequence in found)
            continue
        calls = tuple(call for call in item.message.tool_calls if not _is_gone(results[call.id], gone))
        if len(calls) == len(item.message.tool_calls):
            continue
        if calls or item.message.content.strip():
            changed[item.sequence] = msgspec.structs.replace(item.message, tool_calls=calls)
        else:
            gone.add(item.sequence)
    return tuple(
        MessageChange(item.sequence, item.message, changed.get(item.sequence))
        for item in stored
        if item.sequence in gone or item.sequence in changed
    )


def inverse(changes: Sequence[MessageChange]) -> tuple[MessageChange, ...]:
    """Return the changes that take changes back."""
    return tuple(MessageChange(change.sequence, change.after, change.before) for change in changes)


def _results_of(stored: Sequence[StoredMessage], position: int) -> dict[str, list[int]]:
    """Return the numbers of all results by call, for the calls of the message at a position."""
    found: dict[str, list[int]] = {call.id: [] for call in stored[position].message.tool_calls}
    for item in _until_next_answer(stored, position + 1):
        if item.message.role == "tool" and item.message.tool_call_id in found:
            found[item.message.tool_call_id].append(item.sequence)
    return found


def _until_next_answer(stored: Sequence[StoredMessage], start: int) -> Iterator[StoredMessage]:
    for position in range(start, len(stored)):
        if stored[position].message.role == "assistant":
            return
        yield stored[position]


def _is_gone(results: Sequence[int], gone: Collection[int]) -> bool:
    # A call that never had a result is mended in the copy for the model, and nobody asked to delete it.
    return bool(results) and all(sequence in gone for sequence in results)


def _call(message: Message, part: Part) -> ToolCall:
    for call in message.tool_calls:
        if call.id == part.call_id:
            return call
    raise failure("policy", "no_part", "this message has no such call any more; open it again", origin="history")


def _with_arguments(message: Message, call: ToolCall, text: str) -> Message:
    try:
        decoded = msgspec.json.decode(text.encode("utf-8"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise failure("schema", "bad_arguments", f"the arguments are no JSON: {error}", origin="history") from error
    if not isinstance(decoded, dict):
        raise failure(
            "schema", "bad_arguments", 'arguments are a JSON object, such as {"path": "a.py"}', origin="history"
        )
    changed = history_safe(msgspec.structs.replace(call, arguments=text))
    calls = tuple(changed if other is call else other for other in message.tool_calls)
    return msgspec.structs.replace(message, tool_calls=calls)


def _refuse_empty(message: Message) -> None:
    if message.role == "user":
        raise failure("schema", "empty_message", "a prompt needs a text; delete the message instead", origin="history")
    if message.role == "assistant" and not message.tool_calls:
        raise failure(
            "schema",
            "empty_message",
            "an answer without calls needs a text; delete the message instead",
            origin="history",
        )


def _not_there(sequence: int) -> Exception:
    return failure(
        "policy", "no_message", f"message {sequence} is not there any more; open the view again", origin="history"
    )
