"""The history of the open conversation under edit: one atomic change at a time, with undo until the view is closed."""

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence

import msgspec

from smith_core.errors import AgentFailure, failure
from smith_core.events import HistoryEdited
from smith_core.messages import Message
from smith_core.session.editing import Part, deletion, inverse, replacement
from smith_core.session.session import Session
from smith_core.store.interface import MessageChange, StoredMessage


class Revision(msgspec.Struct, frozen=True):
    """Changes that were made together."""

    conversation_id: str
    changes: tuple[MessageChange, ...]

    @property
    def deleted(self) -> tuple[int, ...]:
        """The numbers of messages that it took out."""
        return tuple(change.sequence for change in self.changes if change.after is None)

    @property
    def changed(self) -> tuple[int, ...]:
        """The numbers of messages that it put in or made different."""
        return tuple(change.sequence for change in self.changes if change.after is not None)


class History:
    """Reads and edits the messages of a session's conversation.

    An edit is in the store, in the search index and in the next request, or nowhere. Edits raise AgentFailure: of kind
    policy while a turn runs, when another process has the conversation or when the message is not there; of kind
    schema when a message could not be sent like that; of kind persistence when it cannot be saved.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._done: list[Revision] = []
        self._undone: list[Revision] = []
        self._edited: set[str] = set()
        # One after the other: keys come faster than a medium writes, and a view may be closed meanwhile.
        self._turns = asyncio.Lock()

    @property
    def entries(self) -> tuple[StoredMessage, ...]:
        """The messages of the conversation with their numbers, in order."""
        conversation = self._session.services.conversation
        return tuple(map(StoredMessage, conversation.sequences, conversation.messages))

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return bool(self._of_this_conversation(self._done))

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to make again."""
        return bool(self._of_this_conversation(self._undone))

    def require_editable(self) -> None:
        """Raise AgentFailure of kind policy while the history cannot be edited."""
        self._session.require_idle("editing the history")
        if self._session.services.conversation.is_read_only:
            raise failure(
                "policy", "read_only", "another smith-tui has this conversation; /fork goes on with a copy of it"
            )

    async def delete(self, sequences: Collection[int]) -> Revision:
        """Take messages out, with what has no meaning without them; return what was done."""
        async with self._turns:
            self.require_editable()
            return await self._edit(deletion(self.entries, sequences))

    async def edit(self, sequence: int, part: Part, text: str) -> Revision:
        """Put another text in one part of one message; return what was done, nothing when the text is the same."""
        async with self._turns:
            self.require_editable()
            return await self._edit(replacement(self.entries, sequence, part, text))

    async def undo(self) -> Revision | None:
        """Take the last edit back and return what that changed; None when there is none."""
        async with self._turns:
            return await self._move(self._done, self._undone)

    async def redo(self) -> Revision | None:
        """Make the edit again that was taken back last, and return what that changed; None when there is none."""
        async with self._turns:
            return await self._move(self._undone, self._done)

    async def close(self) -> None:
        """Forget what could be undone, and remove the old texts from the medium; raises nothing."""
        async with self._turns:
            self._done.clear()
            self._undone.clear()
            edited, self._edited = self._edited, set()
        for conversation_id in edited:
            with contextlib.suppress(AgentFailure):
                await self._session.services.persistence.purge(conversation_id)
        if edited:
            self._session.wake_search()

    # Inside

    async def _edit(self, changes: tuple[MessageChange, ...]) -> Revision:
        revision = Revision(self._session.services.conversation.conversation_id, changes)
        if changes:
            await self._apply(revision)
            self._done.append(revision)
            self._undone.clear()
        return revision

    async def _move(self, source: list[Revision], target: list[Revision]) -> Revision | None:
        self.require_editable()
        if not self._of_this_conversation(source):
            return None
        revision = source[-1]
        back = Revision(revision.conversation_id, inverse(revision.changes))
        await self._apply(back)
        source.pop()
        target.append(back)
        return back

    def _of_this_conversation(self, revisions: list[Revision]) -> list[Revision]:
        current = self._session.services.conversation.conversation_id
        return revisions if revisions and revisions[-1].conversation_id == current else []

    async def _apply(self, revision: Revision) -> None:
        services = self._session.services
        conversation, persistence = services.conversation, services.persistence
        # First here: a turn that begins while the store writes works with the edited history already.
        conversation.change(_after(revision.changes))
        try:
            await persistence.change_messages(revision.conversation_id, revision.changes)
        except BaseException:
            if conversation.conversation_id == revision.conversation_id:
                conversation.change(_after(inverse(revision.changes)))
            raise
        self._edited.add(revision.conversation_id)
        self._session.wake_search()
        if conversation.conversation_id != revision.conversation_id:
            return
        with contextlib.suppress(AgentFailure):
            # A conversation without messages is none to go on with after a restart.
            await persistence.set_active_conversation_id(revision.conversation_id if conversation.messages else "")
            meta = await persistence.describe(revision.conversation_id)
            if meta is not None and conversation.conversation_id == revision.conversation_id:
                conversation.title = meta.title
        services.ui.emit(
            HistoryEdited(
                conversation_id=conversation.conversation_id,
                title=conversation.title,
                messages=conversation.messages,
                sequences=conversation.sequences,
            )
        )


def _after(changes: Sequence[MessageChange]) -> Mapping[int, Message | None]:
    return {change.sequence: change.after for change in changes}
