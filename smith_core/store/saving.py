"""Keeping what a session says, and telling people exactly once that it could not be kept, or can be again."""

from collections.abc import Awaitable

from smith_core.errors import AgentError, AgentFailure
from smith_core.events import Emit, Notice, SaveStateChanged
from smith_core.messages import Message, TurnRecord
from smith_core.store.interface import Persistence


class Saver:
    """Writes prompts and turns; a failure becomes a notice and never stops the turn.

    problem: why what was said last is in memory only, None when it is saved.
    """

    def __init__(self, persistence: Persistence) -> None:
        self.problem: AgentError | None = None
        self._persistence = persistence
        self._told: set[str] = set()
        self._failed_before = False

    async def save_prompt(self, conversation_id: str, turn_id: str, prompt: Message, emit: Emit) -> None:
        """Keep what the person typed, before the first request goes out."""
        self._failed_before = not await self._try(self._persistence.save_prompt(conversation_id, turn_id, prompt), emit)

    async def save_turn(self, record: TurnRecord, emit: Emit) -> None:
        """Keep a finished turn; one that cannot be saved goes along with the next that can."""
        await self._try(self._persistence.persist_turn(record), emit, is_told=self._failed_before)
        self._failed_before = False
        self.report_notices(emit)

    def report(self, error: AgentError, emit: Emit, *, is_told: bool = False) -> None:
        """Say that saving does not work, and why; is_told: not again when the reason is the same."""
        if not is_told or self.problem != error:
            emit(Notice(level="error", text=f"not saved: {error.message}"))
        self.problem = error
        emit(SaveStateChanged(problem=error.message, unsaved_turns=self._persistence.unsaved_turns))

    def report_notices(self, emit: Emit) -> None:
        """Show what has come up in the store, each sentence once."""
        for notice in self._persistence.take_notices():
            if notice.text not in self._told:
                self._told.add(notice.text)
                emit(Notice(level=notice.level, text=notice.text))

    async def _try(self, saving: Awaitable[None], emit: Emit, *, is_told: bool = False) -> bool:
        try:
            await saving
        except AgentFailure as caught:
            self.report(caught.error, emit, is_told=is_told)
            return False
        if self.problem is not None and not self._persistence.unsaved_turns:
            self.problem = None
            emit(Notice(level="info", text="saved again; all turns of this session are on disk"))
            emit(SaveStateChanged(problem=""))
        return True
