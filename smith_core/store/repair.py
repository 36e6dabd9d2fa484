"""Making a stored conversation fit for a request: a pure function for the copy that goes to the model."""

from collections.abc import Iterable, Iterator, Sequence

from smith_core.messages import Message, ToolCall

REMOVED = "[a message was deleted here]"
_REMOVED = Message(role="user", content=REMOVED)
NOT_RUN = "not run: the turn was interrupted before this call had a result"


def repair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages so that every call is followed by exactly one result, and every result has its call.

    A call without a result gets a short one that says so; a result without a call, a second result of a call and an
    assistant message with neither text nor calls are left out. Where the prompt of an answer was deleted, a short one
    says so, because some chat templates want the roles to alternate. Whole conversations come back as they are.
    """
    repaired: list[Message] = []
    for position, message in enumerate(messages):
        is_answer = message.role == "assistant" and (message.tool_calls or message.content.strip())
        if is_answer and (not repaired or repaired[-1].role == "assistant"):
            repaired.append(_REMOVED)
        if message.role == "assistant" and message.tool_calls:
            repaired.append(message)
            repaired += _results(message.tool_calls, _until_next_answer(messages, position + 1))
        elif message.role == "tool" or (message.role == "assistant" and not message.content.strip()):
            continue
        else:
            repaired.append(message)
    return tuple(repaired)


def _until_next_answer(messages: Sequence[Message], start: int) -> Iterator[Message]:
    for position in range(start, len(messages)):
        if messages[position].role == "assistant":
            return
        yield messages[position]


def _results(calls: Iterable[ToolCall], following: Iterable[Message]) -> list[Message]:
    found: dict[str, Message] = {}
    for message in following:
        if message.role == "tool":
            found.setdefault(message.tool_call_id, message)
    return [found.get(call.id) or _not_run(call) for call in calls]


def _not_run(call: ToolCall) -> Message:
    return Message(role="tool", tool_call_id=call.id, name=call.name, content=NOT_RUN, ok=False, cancelled=True)
