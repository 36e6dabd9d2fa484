"""Whole turns of the conversation: take the last ones out, and ask again."""

from collections.abc import Sequence

from smith_core.commands.context import CommandContext
from smith_core.commands.opening import take_over
from smith_core.errors import failure
from smith_core.messages import Message, typed_text
from smith_core.session.history import History
from smith_core.session.shell_line import run_shell_line
from smith_core.session.values import TurnRequest


def last_turns(messages: Sequence[Message], count: int) -> int:
    """Return the position of the first message of the last `count` turns, -1 when there are not so many.

    A turn begins with what the person typed and reaches to the next such message.
    """
    begins = [position for position, message in enumerate(messages) if message.role == "user"]
    return begins[-count] if 0 < count <= len(begins) else -1


async def retry(context: CommandContext, arguments: str) -> None:
    """Take the last turn out of the conversation and run its prompt, or its shell line, again."""
    messages = context.services.conversation.messages
    metadata = messages[last_turns(messages, 1)].metadata if messages else None
    prompt = await take_out(context, 1)
    await take_over(context.session, context.emit)
    if metadata is not None and metadata.command:
        await run_shell_line(context.session, prompt, context.emit)
        return
    await context.session.run_turn(TurnRequest(text=prompt), context.emit)


async def take_out(context: CommandContext, count: int) -> str:
    """Delete the last turns; return what the person typed for the first of them."""
    conversation = context.services.conversation
    first = last_turns(conversation.messages, count)
    if first < 0:
        message = "there is no such turn in this conversation; Alt+I shows what is there"
        raise failure("policy", "no_turn", f"{message}, and /undo files takes back what only files still show")
    prompt = typed_text(conversation.messages[first])
    await History(context.session).delete(conversation.sequences[first:])
    return prompt
