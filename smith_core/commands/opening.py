"""Making another conversation the current one: a new one, a stored one, or one that another process has."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from smith_core.commands.listing import find
from smith_core.errors import AgentFailure, failure
from smith_core.events import (
    AnyEvent,
    ConversationLoaded,
    Emit,
    FilesChanged,
    HeldElsewhere,
    MessagesFollowed,
    Notice,
    PromptsWaiting,
)
from smith_core.ids import new_id
from smith_core.messages import Message
from smith_core.session.session import Session
from smith_core.store.interface import TAIL_MESSAGES, ConversationHeld, StoredMessage

FOLLOW_POLL_S = 1.0

Wish = Literal["new", "last", "pick", "named"]


class ResumeWish(msgspec.Struct, frozen=True):
    """What a start goes on with: a new conversation, the last one, one to choose, or the one that `target` names."""

    kind: Wish = "new"
    target: str = ""


NEW = ResumeWish()


async def resume(session: Session, emit: Emit, wish: ResumeWish, shown: str = "") -> None:
    """Open the last conversation or the one that is named, if the start asks for it.

    shown: the conversation whose end was shown before; it is taken away when anything else comes than the rest of it.
    AgentFailure when the store cannot be read or does not have what is named.
    """
    is_kept = not shown

    def settle(event: AnyEvent | None) -> None:
        nonlocal is_kept
        if not is_kept and not (isinstance(event, ConversationLoaded) and event.conversation_id == shown):
            emit(session.changed(cleared=True))
        is_kept = True

    def settle_and_emit(event: AnyEvent) -> None:
        settle(event)
        emit(event)

    try:
        await _resume(session, settle_and_emit, wish, shown)
    finally:
        settle(None)


async def _resume(session: Session, emit: Emit, wish: ResumeWish, shown: str) -> None:
    persistence = session.services.persistence
    if wish.kind == "named":
        found = find(wish.target, await persistence.list_conversations(), session.listed)
        await open_conversation(session, emit, found.conversation_id)
    elif wish.kind == "last":
        last = await persistence.active_conversation_id()
        if last and last != session.services.conversation.conversation_id:
            opened = await open_conversation(session, emit, last, may_be_empty=False, shown=shown)
            meta = await persistence.describe(last) if opened else None
            if meta is not None and _is_elsewhere(meta.cwd, session.cwd):
                emit(Notice(level="info", text=f"this is the last conversation, of {meta.cwd}; /new begins one here"))


def _is_elsewhere(folder: str, here: Path) -> bool:
    """Whether neither of two folders is inside the other."""
    there = Path(folder)
    return bool(folder) and not (here.is_relative_to(there) or there.is_relative_to(here))


async def start_new(session: Session, emit: Emit, title: str = "") -> None:
    """Begin an empty conversation; it is on disk from its first prompt on."""
    session.services.conversation.reset(title=title)
    session.offered = ""
    session.move_on()
    emit(session.changed(cleared=True))
    await _let_go(session)


async def open_conversation(
    session: Session, emit: Emit, conversation_id: str, *, at: int = 0, may_be_empty: bool = True, shown: str = ""
) -> bool:
    """Go on with a stored conversation and show it, from its end or at message number `at`; say whether it was opened.

    One that another process has is offered instead. shown: the conversation whose end is to be seen already.
    Raises AgentFailure when it is not there or cannot be read.
    """
    persistence = session.services.persistence
    try:
        held = await persistence.hold(conversation_id)
    except AgentFailure as caught:
        # What cannot be written may still be read.
        session.saver.report(caught.error, emit)
        held = None
    if held is not None:
        await _offer(session, emit, held)
        return False
    tail = await persistence.load_tail(conversation_id, TAIL_MESSAGES)
    meta = await persistence.describe(conversation_id)
    if not tail and (not may_be_empty or meta is None):
        await persistence.hold(session.services.conversation.conversation_id)
        if may_be_empty:
            raise failure("policy", "no_conversation", "that conversation is not there any more; /list shows all")
        return False
    title = meta.title if meta else ""
    if len(tail) == TAIL_MESSAGES:
        if not at and conversation_id != shown:
            emit(_loaded(conversation_id, title, tail, is_whole=False))
        tail = await persistence.load_stored(conversation_id)
    _make_current(session, conversation_id, title, tail)
    session.resume_role(meta.role if meta else "")
    emit(_loaded(conversation_id, title, tail, at=at))
    emit(session.changed())
    if waiting := await persistence.load_waiting(conversation_id):
        emit(PromptsWaiting(texts=waiting))
    if turns := await session.files.turns():
        emit(FilesChanged(turns=turns))
    if tail and _is_unanswered(tail[-1].message):
        emit(Notice(level="info", text="your last prompt has no answer; /retry asks again"))
    with contextlib.suppress(AgentFailure):  # it is noted again with the next turn
        await persistence.set_active_conversation_id(conversation_id)
    return True


def _is_unanswered(message: Message) -> bool:
    """Whether a turn failed, or was killed, before its model said anything; a command of the person awaits nothing."""
    return message.role == "user" and not (message.metadata and message.metadata.command)


async def follow_conversation(session: Session, emit: Emit, conversation_id: str) -> None:
    """Show a conversation that another process has, and what is added to it, until another one is opened."""
    persistence = session.services.persistence
    stored = await persistence.follow(conversation_id, 0)
    meta = await persistence.describe(conversation_id)
    if not stored:
        raise failure("persistence", "no_conversation", "that conversation has no messages yet; try again later")
    title = meta.title if meta else ""
    left = _make_current(session, conversation_id, title, stored, is_read_only=True)
    emit(_loaded(conversation_id, title, stored, is_read_only=True))
    emit(session.changed())
    emit(Notice(level="info", text="read-only: what the other process adds is shown here; /fork goes on with a copy"))
    await _let_go(session)
    await _poll(session, emit, conversation_id, left)


async def _poll(session: Session, emit: Emit, conversation_id: str, left: asyncio.Event) -> None:
    conversation = session.services.conversation
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(left.wait(), FOLLOW_POLL_S)
        if left.is_set():
            return
        added = await session.services.persistence.follow(conversation_id, conversation.next_sequence)
        if added and not left.is_set():
            messages = tuple(item.message for item in added)
            conversation.extend(messages, [item.sequence for item in added])
            emit(MessagesFollowed(conversation_id=conversation_id, messages=messages))


async def take_over(session: Session, emit: Emit) -> None:
    """Go on with the conversation that is followed if the other process has let go of it, else leave it as it is."""
    conversation = session.services.conversation
    with contextlib.suppress(AgentFailure):
        if conversation.is_read_only and await session.services.persistence.hold(conversation.conversation_id) is None:
            await open_conversation(session, emit, conversation.conversation_id)


async def _let_go(session: Session) -> None:
    """Let other processes have the conversation that was left; a new one is locked from its first prompt on."""
    with contextlib.suppress(AgentFailure):
        await session.services.persistence.hold(new_id())


async def _offer(session: Session, emit: Emit, held: ConversationHeld) -> None:
    meta = await session.services.persistence.describe(held.conversation_id)
    title = meta.title if meta else ""
    session.offered = held.conversation_id
    emit(HeldElsewhere(conversation_id=held.conversation_id, title=title, pid=held.pid))
    emit(
        Notice(
            level="warning",
            text=f'"{title or held.conversation_id}" is open in another smith-tui (process {held.pid or "?"}): '
            "/follow shows it read-only, /fork goes on with a copy, /new begins a new conversation",
        )
    )


def _make_current(
    session: Session, conversation_id: str, title: str, stored: Sequence[StoredMessage], *, is_read_only: bool = False
) -> asyncio.Event:
    session.services.conversation.reset(
        conversation_id,
        tuple(item.message for item in stored),
        title,
        sequences=tuple(item.sequence for item in stored),
        is_read_only=is_read_only,
    )
    session.offered = ""
    return session.move_on()


def _loaded(
    conversation_id: str,
    title: str,
    stored: Sequence[StoredMessage],
    *,
    at: int = 0,
    is_whole: bool = True,
    is_read_only: bool = False,
) -> ConversationLoaded:
    return ConversationLoaded(
        conversation_id=conversation_id,
        title=title,
        messages=tuple(item.message for item in stored),
        sequences=tuple(item.sequence for item in stored),
        shown_sequence=at,
        is_whole=is_whole,
        is_read_only=is_read_only,
    )
