"""Doubles of stored conversations, for screens that list and search them."""

import asyncio
from collections.abc import Sequence

import msgspec

from smith_core.errors import AgentError, failure
from smith_core.messages import Message

NOW = 1_800_000_000.0


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    conversation_id: str
    title: str = ""
    cwd: str = "/home/neo/shop"
    updated_at: float = NOW - 7200
    message_count: int = 2
    size_bytes: int = 13_000


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    kind: str = "message"
    conversation_id: str = "c0"
    sequence: int = 0
    job_id: str = ""
    note_id: str = ""
    role: str = "user"
    tool: str = ""
    time: float = NOW - 7200
    excerpt: str = ""
    highlights: tuple[tuple[int, int], ...] = ()


class Page(msgspec.Struct, frozen=True, kw_only=True):
    hits: tuple[Hit, ...] = ()
    total: int = 0
    problems: tuple[str, ...] = ()
    notice: AgentError | None = None


class IndexState(msgspec.Struct, frozen=True, kw_only=True):
    indexed: int = 1
    lag_bytes: int = 0
    is_working: bool = False


class Archive:
    """Answers searches with passages made up on the spot; `gates[query]` holds the answer back until it is set."""

    def __init__(self, total: int = 3, hits: Sequence[Hit] = (), conversations: Sequence[Conversation] = ()) -> None:
        self.total = len(hits) or total
        self.hits = tuple(hits)
        self.conversations = tuple(conversations)
        self.asked: list[tuple[str, str, int]] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.problems: tuple[str, ...] = ()
        self.notice: AgentError | None = None
        self.is_broken = False
        self.states = [IndexState()]

    async def list_conversations(self) -> Sequence[Conversation]:
        return self.conversations

    async def search(self, query: str, order: str, limit: int, offset: int) -> Page:
        self.asked.append((query, order, offset))
        if query in self.gates:
            await self.gates[query].wait()
        if self.is_broken:
            raise failure(
                "persistence", "index_unusable", "The index cannot be read; run smith-tui store rebuild-index"
            )
        numbers = range(offset, min(offset + limit, self.total))
        hits = tuple(self.hits[number] if self.hits else self._made_up(number, query) for number in numbers)
        return Page(hits=hits, total=self.total, problems=self.problems, notice=self.notice)

    async def search_status(self) -> IndexState:
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    @staticmethod
    def _made_up(number: int, query: str) -> Hit:
        excerpt = f"passage {number} of {query}"
        start = len(excerpt) - len(query)
        return Hit(sequence=number, excerpt=excerpt, highlights=((start, len(excerpt)),))


class Shelf(Archive):
    """Keeps conversations in memory; `held` are those that another process has open."""

    def __init__(self, conversations: Sequence[Conversation], messages: Sequence[Message] = ()) -> None:
        super().__init__(conversations=conversations)
        self.messages = tuple(messages)
        self.held: dict[str, int] = {}
        self.deleted: list[Conversation] = []
        self.previewed: list[str] = []

    async def held_conversations(self) -> dict[str, int]:
        return self.held

    async def preview(self, conversation_id: str) -> tuple[Message, ...]:
        self.previewed.append(conversation_id)
        if conversation_id in self.gates:
            await self.gates[conversation_id].wait()
        return (Message(role="user", content=f"the prompt of {conversation_id}"), *self.messages)

    async def delete_conversation(self, conversation_id: str) -> None:
        if conversation_id in self.held:
            raise failure("persistence", "conversation_held", "the conversation is open in another smith-tui")
        self.deleted += [each for each in self.conversations if each.conversation_id == conversation_id]
        self.conversations = tuple(each for each in self.conversations if each.conversation_id != conversation_id)

    async def restore_conversation(self, conversation_id: str) -> None:
        back = [each for each in self.deleted if each.conversation_id == conversation_id]
        self.conversations = (*self.conversations, *back)

    async def fork_conversation(self, conversation_id: str) -> str:
        original = next(each for each in self.conversations if each.conversation_id == conversation_id)
        copy = msgspec.structs.replace(original, conversation_id=f"{conversation_id}-fork")
        self.conversations = (copy, *self.conversations)
        return copy.conversation_id

    async def set_title(self, conversation_id: str, title: str) -> None:
        self.conversations = tuple(
            msgspec.structs.replace(each, title=title) if each.conversation_id == conversation_id else each
            for each in self.conversations
        )
