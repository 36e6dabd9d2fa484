"""Commands that show the conversation on a screen of its own, or as text where there is no screen."""

import time

from smith_core.commands.context import CommandContext
from smith_core.events import ViewRequested
from smith_core.export.conversation import render
from smith_core.export.parts import ExportedConversation
from smith_core.messages import ToolCall
from smith_core.session.session import Session
from smith_core.text import shorten

_LINE = 90


async def inspect(context: CommandContext, arguments: str) -> None:
    """Show each stored message."""
    if context.session.has_screen:
        context.emit(ViewRequested(view="messages"))
        return
    conversation = context.services.conversation
    lines = [
        f"{number:>4}  {message.role:<9}  {shorten(message.content or _calls(message.tool_calls), _LINE)}".rstrip()
        for number, message in zip(conversation.sequences, conversation.messages, strict=True)
    ]
    context.say("inspect", "\n".join(lines) or "there are no messages yet")


async def page(context: CommandContext, arguments: str) -> None:
    """Show the whole conversation."""
    if context.session.has_screen:
        context.emit(ViewRequested(view="conversation"))
        return
    context.say("pager", conversation_markdown(context.session) or "there are no messages yet")


def conversation_markdown(session: Session) -> str:
    """Return the whole conversation as markdown, "" when there is none yet."""
    conversation = session.services.conversation
    if not conversation.messages:
        return ""
    exported = ExportedConversation(
        conversation_id=conversation.conversation_id,
        title=conversation.title,
        cwd=str(session.cwd),
        exported_at=time.time(),
        messages=conversation.messages,
    )
    return render(exported, "markdown")


def _calls(calls: tuple[ToolCall, ...]) -> str:
    return ", ".join(call.name for call in calls)
