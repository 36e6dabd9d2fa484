"""Commands about whole conversations: list, load, name, copy, delete, follow."""

import contextlib
import time

from smith_core.commands.context import CommandContext
from smith_core.commands.listing import MOST_LISTED, filtered, find, list_text, where_dispatched
from smith_core.commands.opening import follow_conversation, open_conversation, start_new
from smith_core.errors import AgentFailure, failure
from smith_core.events import PickerRequested
from smith_core.paths import home_dir
from smith_core.session.values import Listed
from smith_core.store.interface import ConversationMeta
from smith_core.text import clean_text, shorten

MOST_TITLE_CHARACTERS = 200


async def begin_new(context: CommandContext, title: str) -> None:
    """Begin a new conversation."""
    title = shorten(clean_text(title), MOST_TITLE_CHARACTERS)
    await start_new(context.session, context.emit, title)
    if title:
        await context.services.persistence.set_title(context.services.conversation.conversation_id, title)


async def clear(context: CommandContext, arguments: str) -> None:
    """Begin a new conversation, and let the next start begin with one as well."""
    await start_new(context.session, context.emit)
    await context.services.persistence.set_active_conversation_id("")


async def list_all(context: CommandContext, words: str) -> None:
    """Show all conversations, or those whose title or folder has some words."""
    if context.session.has_screen:
        context.emit(PickerRequested(kind="conversations", query=words))
        return
    metas = filtered(await context.services.persistence.list_conversations(), words)
    context.session.listed = tuple(Listed(meta.conversation_id) for meta in metas[:MOST_LISTED])
    current = context.services.conversation.conversation_id
    context.say("list", list_text(metas, current, _home(), time.time()) or "there is no such conversation yet")


async def load(context: CommandContext, target: str) -> None:
    """Go on with a stored conversation."""
    if not target:
        await list_all(context, "")
        return
    metas = await context.services.persistence.list_conversations()
    found = find(target, metas, context.session.listed)
    at = found.sequence
    if found.job_id:
        stored = await context.services.persistence.load_stored(found.conversation_id)
        at = where_dispatched(stored, found.job_id)
    await open_conversation(context.session, context.emit, found.conversation_id, at=at)


async def rename(context: CommandContext, text: str) -> None:
    """Show or change the title of the current conversation."""
    conversation = context.services.conversation
    if not text:
        context.say("title", conversation.title or "it has no title yet; /title TEXT gives it one")
        return
    name = shorten(clean_text(text), MOST_TITLE_CHARACTERS)
    await context.services.persistence.set_title(conversation.conversation_id, name)
    conversation.title = name
    context.emit(context.session.changed())
    context.say("title", f"this conversation is called {name!r} now")


async def fork(context: CommandContext, arguments: str) -> None:
    """Go on with a copy of the current conversation, or of the one that another process has."""
    session, conversation = context.session, context.services.conversation
    source = conversation.conversation_id
    if session.offered and not conversation.messages:
        source = session.offered
    elif not conversation.messages:
        raise failure("policy", "nothing_to_fork", "there is nothing to copy yet: this conversation is empty")
    up_to = None
    if arguments:
        if not (arguments.isascii() and arguments.isdecimal()) or int(arguments[:9]) < 1:
            raise failure("policy", "usage", "usage: /fork [number of the last message that the copy is to have]")
        up_to = int(arguments[:9])
        last = max((stored.sequence for stored in await context.services.persistence.load_tail(source, 1)), default=0)
        if up_to > last:
            raise failure("policy", "usage", f"the last message is number {last}; /fork without a number copies all")
    copy = await context.services.persistence.fork(source, up_to)
    if await open_conversation(session, context.emit, copy):
        context.say("fork", "this is a copy; the other conversation stays as it is")
    session.wake_search()


async def delete(context: CommandContext, target: str) -> None:
    """Delete the current conversation, or another one."""
    session, persistence = context.session, context.services.persistence
    current = context.services.conversation.conversation_id
    doomed = find(target, await persistence.list_conversations(), session.listed).conversation_id if target else current
    meta = await persistence.describe(doomed)
    if meta is None:
        raise failure("policy", "nothing_to_delete", "there is nothing to delete: this conversation is empty")
    await persistence.delete_conversation(doomed)
    session.deleted.append(doomed)
    if doomed == current:
        await start_new(session, context.emit)
    session.wake_search()
    context.say("delete", f"{_name(meta)} is deleted; /undelete brings it back")


async def undelete(context: CommandContext, conversation_id: str) -> None:
    """Take back the last deletion of this session, or that of a conversation by its id."""
    session, persistence = context.session, context.services.persistence
    wanted = conversation_id or (session.deleted[-1] if session.deleted else "")
    if not wanted:
        raise failure("policy", "nothing_deleted", "nothing was deleted in this session; /undelete ID takes an id")
    await persistence.restore_conversation(wanted)
    with contextlib.suppress(ValueError):
        session.deleted.remove(wanted)
    meta = await persistence.describe(wanted)
    session.wake_search()
    context.say("undelete", f"{_name(meta)} is back")
    if not context.services.conversation.messages:
        await open_conversation(session, context.emit, wanted)


async def follow(context: CommandContext, arguments: str) -> None:
    """Show the conversation that another process has, until another one is opened."""
    if not context.session.offered:
        raise failure(
            "policy", "nothing_to_follow", "no conversation of another smith-tui was asked for; /load one first"
        )
    await follow_conversation(context.session, context.emit, context.session.offered)


def _name(meta: ConversationMeta | None) -> str:
    return repr(meta.title or meta.conversation_id) if meta else "the conversation"


def _home() -> str:
    try:
        return str(home_dir())
    except AgentFailure:
        return ""
