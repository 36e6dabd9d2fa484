"""What screens of stored conversations ask for and change, apart from the conversation that is open."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from smith_core.errors import failure
from smith_core.messages import Message
from smith_core.session.session import Session
from smith_core.store.interface import ConversationMeta
from smith_core.text import clean_text

if TYPE_CHECKING:
    from smith_core.store.search.results import SearchOrder, SearchPage, SearchStatus
    from smith_core.store.search.service import SearchService

PREVIEWED_MESSAGES = 12


class Shelf:
    """The stored conversations of a session; every call may raise AgentFailure."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._store = session.services.persistence

    async def list_conversations(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations that are not deleted, the newest first."""
        return await self._store.list_conversations()

    async def held_conversations(self) -> Mapping[str, int]:
        """Return the conversations that other processes have: id to process id, 0 when that is not known."""
        return await self._store.held_conversations()

    async def preview(self, conversation_id: str) -> tuple[Message, ...]:
        """Return the last messages of a conversation, in order."""
        tail = await self._store.load_tail(conversation_id, PREVIEWED_MESSAGES)
        return tuple(stored.message for stored in tail)

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation so that it can be restored; not the one that is open."""
        if conversation_id == self._session.services.conversation.conversation_id:
            raise failure("policy", "is_open", "this is the conversation that you are in; /delete deletes it")
        await self._store.delete_conversation(conversation_id)
        self._session.deleted.append(conversation_id)
        self._session.wake_search()

    async def restore_conversation(self, conversation_id: str) -> None:
        """Take a deletion back."""
        await self._store.restore_conversation(conversation_id)
        self._session.wake_search()

    async def fork_conversation(self, conversation_id: str) -> str:
        """Copy a conversation; return the id of the copy."""
        copy = await self._store.fork(conversation_id)
        self._session.wake_search()
        return copy

    async def set_title(self, conversation_id: str, title: str) -> None:
        """Name a conversation."""
        await self._store.set_title(conversation_id, clean_text(title))
        conversation = self._session.services.conversation
        if conversation_id == conversation.conversation_id:
            conversation.title = clean_text(title)

    async def search(self, query: str, order: "SearchOrder" = "best", limit: int = 20, offset: int = 0) -> "SearchPage":
        """Return what is found, the best or the newest first; see `SearchService.search`."""
        return await self._search.search(query, order, limit, offset)

    async def search_status(self) -> "SearchStatus":
        """Return how complete the index is."""
        return await self._search.status()

    @property
    def _search(self) -> "SearchService":
        if self._session.search is None:
            raise failure("policy", "no_search", "there is no search index in this session")
        return self._session.search
