"""Where a stored message stands in a transcript that also shows notices and the output of commands."""

from collections.abc import Sequence

from smith_core.messages import Message
from smith_tui.transcript.answers import Code, Prose
from smith_tui.transcript.blocks import Block, Prompt, Reasoning
from smith_tui.transcript.cards import ToolCard
from smith_tui.transcript.history import blocks_of
from smith_tui.transcript.model import Place

_SAID = (Prose, Code, Reasoning, ToolCard)


def place_of_message(blocks: Sequence[Block], messages: Sequence[Message], index: int) -> Place:
    """Return where message number `index` (from 0) begins; a tool's message is on the card of its call.

    Prompts are counted from the end, because a transcript may begin later than its conversation.
    """
    begin = next((number for number in range(index, -1, -1) if _is_prompt(messages[number])), -1)
    later = sum(map(_is_prompt, messages[begin + 1 :]))
    prompts = [number for number, block in enumerate(blocks) if isinstance(block, Prompt)]
    prompt = prompts[-1 - later] if begin >= 0 and later < len(prompts) else -1
    if index == begin or not blocks:
        return Place(max(0, prompt), 0)
    ahead = _count_before(messages[begin + 1 : index + 1])
    said = 0
    for number in range(prompt + 1, len(blocks)):
        if isinstance(blocks[number], Prompt):
            break
        if isinstance(blocks[number], _SAID):
            if said == ahead:
                return Place(number, 0)
            said += 1
    return Place(max(0, prompt), 0)


def _count_before(turn: Sequence[Message]) -> int:
    """Return how many blocks of a turn stand before its last message, or before the card of the call it answers."""
    *before, last = turn
    if last.role != "tool":
        return _count(before)
    for position in range(len(before) - 1, -1, -1):
        ids = [call.id for call in before[position].tool_calls]
        if last.tool_call_id in ids:
            return _count(before[: position + 1]) - len(ids) + ids.index(last.tool_call_id)
    return _count(before)


def _is_prompt(message: Message) -> bool:
    """Say whether a message is shown as a prompt, which a line for the shell is not."""
    return message.role == "user" and not (message.metadata is not None and message.metadata.command)


def _count(messages: Sequence[Message]) -> int:
    return sum(isinstance(block, _SAID) for block in blocks_of(messages, "green"))
