"""Commands about whole turns: take the last ones back, and ask again."""

from collections.abc import Sequence

from smith_core.commands.context import CommandContext
from smith_core.commands.opening import take_over
from smith_core.errors import failure
from smith_core.events import PromptReturned
from smith_core.messages import Message, typed_text
from smith_core.session.history import History
from smith_core.session.values import TurnRequest
from smith_core.text import shorten

_SHOWN_PROMPT = 60


def last_turns(messages: Sequence[Message], count: int) -> int:
    """Return the position of the first message of the last `count` turns, -1 when there are not so many.

    A turn begins with what the person typed and reaches to the next such message.
    """
    begins = [position for position, message in enumerate(messages) if message.role == "user"]
    return begins[-count] if 0 < count <= len(begins) else -1


async def undo(context: CommandContext, arguments: str) -> None:
    """Take the last turn out of the conversation, or the last few, and give its prompt back."""
    count = _count(arguments)
    prompt = await _take_out(context, count)
    context.emit(PromptReturned(text=prompt))
    what = "the last turn is" if count == 1 else f"the last {count} turns are"
    context.say(
        "undo",
        f"{what} out of this conversation ({shorten(prompt, _SHOWN_PROMPT)!r}); files stay as they are now, "
        "and the prompt is in the input line again",
    )


async def retry(context: CommandContext, arguments: str) -> None:
    """Take the last turn out of the conversation and run its prompt again."""
    prompt = await _take_out(context, 1)
    await take_over(context.session, context.emit)
    await context.session.run_turn(TurnRequest(text=prompt), context.emit)


async def _take_out(context: CommandContext, count: int) -> str:
    """Delete the last turns; return what the person typed for the first of them."""
    conversation = context.services.conversation
    first = last_turns(conversation.messages, count)
    if first < 0:
        raise failure("policy", "no_turn", "there is no such turn in this conversation; Alt+I shows what is there")
    prompt = typed_text(conversation.messages[first])
    await History(context.session).delete(conversation.sequences[first:])
    return prompt


def _count(arguments: str) -> int:
    if not arguments:
        return 1
    if not (arguments.isascii() and arguments.isdecimal()) or int(arguments[:6]) < 1:
        raise failure("policy", "usage", "usage: /undo [how many turns]")
    return int(arguments[:6])
