"""What the screens of stored conversations ask of the engine, as narrow protocols."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from smith_core.errors import AgentError
from smith_core.messages import Message

Order = Literal["best", "newest"]


class StoredConversation(Protocol):
    """A conversation without its messages; times in seconds since the epoch, `size_bytes` of its file."""

    @property
    def conversation_id(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def cwd(self) -> str: ...  # noqa: D102
    @property
    def updated_at(self) -> float: ...  # noqa: D102
    @property
    def message_count(self) -> int: ...  # noqa: D102
    @property
    def size_bytes(self) -> int: ...  # noqa: D102


class Passage(Protocol):
    """One place where something was said.

    kind: message, tool_result, note or project_memory. conversation_id: "" for project memory. sequence: number of
    the message in its conversation, -1 for notes. job_id: of the child that said it, "" if none did. excerpt: one
    line; highlights: ranges of its characters.
    """

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def conversation_id(self) -> str: ...  # noqa: D102
    @property
    def sequence(self) -> int: ...  # noqa: D102
    @property
    def job_id(self) -> str: ...  # noqa: D102
    @property
    def note_id(self) -> str: ...  # noqa: D102
    @property
    def role(self) -> str: ...  # noqa: D102
    @property
    def tool(self) -> str: ...  # noqa: D102
    @property
    def time(self) -> float: ...  # noqa: D102
    @property
    def excerpt(self) -> str: ...  # noqa: D102
    @property
    def highlights(self) -> Sequence[tuple[int, int]]: ...  # noqa: D102


class Passages(Protocol):
    """Some passages out of `total`; `problems` are about the query, `notice` about the index."""

    @property
    def hits(self) -> Sequence[Passage]: ...  # noqa: D102
    @property
    def total(self) -> int: ...  # noqa: D102
    @property
    def problems(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def notice(self) -> AgentError | None: ...  # noqa: D102


class Catalogue(Protocol):
    """Knows the conversations; its calls may raise AgentFailure."""

    async def list_conversations(self) -> Sequence[StoredConversation]:
        """Return all conversations that are not deleted, the newest first."""
        ...


class IndexState(Protocol):
    """How complete the index is: documents in it, bytes that it has not taken in, and whether it is about to."""

    @property
    def indexed(self) -> int: ...  # noqa: D102
    @property
    def lag_bytes(self) -> int: ...  # noqa: D102
    @property
    def is_working(self) -> bool: ...  # noqa: D102


class Searcher(Catalogue, Protocol):
    """What the search screen needs."""

    async def search(self, query: str, order: Order, limit: int, offset: int) -> Passages:
        """Return up to `limit` passages from number `offset` on; pages begin at the 10,000th at the latest."""
        ...

    async def search_status(self) -> IndexState:
        """Return how complete the index is."""
        ...


class Shelf(Catalogue, Protocol):
    """What the conversation picker needs; every call may raise AgentFailure."""

    async def held_conversations(self) -> Mapping[str, int]:
        """Return the conversations that other processes have open: id → process id, 0 when it is not known."""
        ...

    async def preview(self, conversation_id: str) -> Sequence[Message]:
        """Return the last messages of a conversation, in order."""
        ...

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation so that it can be restored."""
        ...

    async def restore_conversation(self, conversation_id: str) -> None:
        """Take a deletion back."""
        ...

    async def fork_conversation(self, conversation_id: str) -> str:
        """Copy a conversation; return the id of the copy."""
        ...

    async def set_title(self, conversation_id: str, title: str) -> None:
        """Name a conversation."""
        ...


class Opening(msgspec.Struct, frozen=True):
    """What the person chose to see.

    conversation_id: "" for a new one. sequence: of the message to go to, 0 for the end. found: text of that
    message to mark. job_id: of the child to show, "" for none.
    """

    conversation_id: str
    sequence: int = 0
    found: str = ""
    job_id: str = ""
