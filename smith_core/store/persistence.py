"""The handle `persistence` on disk: every call runs on one worker thread of its own, off the event loop."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from smith_core.errors import AgentFailure, failure
from smith_core.messages import Message, TurnRecord
from smith_core.store.faults import translate
from smith_core.store.interface import (
    ConversationHeld,
    ConversationMeta,
    MessageChange,
    Note,
    StoredMessage,
    StoreNotice,
    TurnUsage,
)

if TYPE_CHECKING:
    from smith_core.store.store import Store

R = TypeVar("R")


class DiskPersistence:
    """Keeps the promises of `Persistence`; failures are AgentFailures of kind persistence and harm nothing."""

    def __init__(self, make_store: "Callable[[], Store]", folder: Path) -> None:
        self._make_store = make_store
        self._folder = folder
        self._store: Store | None = None
        self._is_closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")

    @property
    def unsaved_turns(self) -> int:
        """How many finished turns are in memory only."""
        return self._store.unsaved_turns if self._store is not None else 0

    def take_notices(self) -> tuple[StoreNotice, ...]:
        """Return what has come up since the last call."""
        if self._store is None:
            return ()
        notices = self._store.notices
        return tuple(notices.popleft() for _ in range(len(notices)))

    # The conversation of the session

    async def hold(self, conversation_id: str) -> ConversationHeld | None:
        """Take a conversation for this session, giving up the one before; say who has it when it cannot be had."""
        return await self._run(lambda store: store.hold(conversation_id))

    async def save_prompt(self, conversation_id: str, turn_id: str, message: Message) -> None:
        """Keep what the person typed; it is on disk when this returns."""
        await self._run(lambda store: store.save_prompt(conversation_id, turn_id, message))
        # The catalogue can be made again, so nobody has to wait for it.
        with suppress(RuntimeError):  # the session ended in the meantime
            self._worker.submit(self._call, lambda store: store.note_in_catalogue())

    async def persist_turn(self, record: TurnRecord) -> None:
        """Keep a finished turn; one that cannot be saved stays in memory and is written with the next that can."""
        await self._run(lambda store: store.persist_turn(record))

    async def load_messages(self, conversation_id: str) -> tuple[Message, ...]:
        """Return a conversation in order; empty when there is none of that id."""
        stored = await self._run(lambda store: store.messages(conversation_id))
        return tuple(item.message for item in stored)

    async def load_tail(self, conversation_id: str, count: int) -> tuple[StoredMessage, ...]:
        """Return the last `count` messages, in order."""
        return await self._run(lambda store: store.tail(conversation_id, count))

    async def load_stored(self, conversation_id: str, since: int = 0) -> tuple[StoredMessage, ...]:
        """Return the messages from number `since` on, in order."""
        return await self._run(lambda store: store.messages(conversation_id, since))

    async def follow(self, conversation_id: str, since: int) -> tuple[StoredMessage, ...]:
        """Return what another process has added to a conversation from number `since` on."""
        return await self._run(lambda store: store.follow(conversation_id, since))

    async def load_child(self, conversation_id: str, job_id: str) -> tuple[Message, ...]:
        """Return what a dispatched child said, in order; empty when there is none of that id."""
        return await self._run(lambda store: store.child_messages(conversation_id, job_id))

    async def keep_waiting(self, conversation_id: str, texts: tuple[str, ...]) -> None:
        """Keep the prompts that wait, in place of those that were kept before."""
        await self._run(lambda store: store.keep_waiting(conversation_id, texts))

    async def load_waiting(self, conversation_id: str) -> tuple[str, ...]:
        """Return the prompts that were kept."""
        return await self._run(lambda store: store.waiting(conversation_id))

    async def replace_message(self, conversation_id: str, sequence: int, message: Message) -> None:
        """Put another message in the place of one."""
        await self._run(lambda store: store.replace_message(conversation_id, sequence, message))

    async def delete_message(self, conversation_id: str, sequence: int) -> None:
        """Take one message out; the others keep their numbers."""
        await self._run(lambda store: store.delete_message(conversation_id, sequence))

    async def change_messages(self, conversation_id: str, changes: Sequence[MessageChange]) -> None:
        """Make all of these changes of messages, or none."""
        await self._run(lambda store: store.change_messages(conversation_id, changes))

    async def purge(self, conversation_id: str) -> None:
        """Remove from the medium what has been changed or deleted in a conversation."""
        await self._run(lambda store: store.purge(conversation_id))

    # All conversations

    async def active_conversation_id(self) -> str:
        """Return the conversation to go on with after a restart, "" without one."""
        return await self._run(lambda store: store.global_file.active_conversation())

    async def set_active_conversation_id(self, conversation_id: str) -> None:
        """Say which conversation to go on with, "" for none."""
        await self._run(lambda store: store.global_file.set_active(conversation_id))

    async def list_conversations(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations that are not deleted, the newest first."""
        return await self._run(lambda store: store.list_conversations())

    async def list_deleted(self) -> tuple[ConversationMeta, ...]:
        """Return all conversations that are deleted and can be restored, the last deleted first."""
        return await self._run(lambda store: store.list_deleted())

    async def describe(self, conversation_id: str) -> ConversationMeta | None:
        """Return the description of one conversation, deleted ones included; None when there is none."""
        return await self._run(lambda store: store.describe(conversation_id))

    async def usage_of(self, conversation_id: str) -> tuple[TurnUsage, ...]:
        """Return the tokens of all saved turns of a conversation, and of each of their children."""
        return await self._run(lambda store: store.usage_of(conversation_id))

    async def held_conversations(self) -> Mapping[str, int]:
        """Return the conversations that other processes have: id to process id, 0 when that is not known."""
        return await self._run(lambda store: store.held_elsewhere())

    async def set_title(self, conversation_id: str, title: str) -> None:
        """Name a conversation."""
        await self._run(lambda store: store.set_title(conversation_id, title))

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation so that it can be restored for some days."""
        await self._run(lambda store: store.delete_conversation(conversation_id))

    async def restore_conversation(self, conversation_id: str) -> None:
        """Take a deletion back."""
        await self._run(lambda store: store.restore_conversation(conversation_id))

    async def fork(self, conversation_id: str, up_to: int | None = None) -> str:
        """Copy a conversation up to and with message number `up_to`, or all of it; return the id of the copy."""
        return await self._run(lambda store: store.fork(conversation_id, up_to))

    # Notes

    async def put_note(self, conversation_id: str, key: str, text: str) -> Note:
        """Set a note of the scratchpad."""
        return await self._run(lambda store: store.put_note(conversation_id, key, text))

    async def get_note(self, conversation_id: str, key: str) -> Note | None:
        """Return a note of the scratchpad."""
        return await self._run(lambda store: store.get_note(conversation_id, key))

    async def list_notes(self, conversation_id: str, prefix: str = "") -> tuple[Note, ...]:
        """Return the notes of the scratchpad whose keys begin with `prefix`, by key."""
        return await self._run(lambda store: store.list_notes(conversation_id, prefix))

    async def delete_note(self, conversation_id: str, key: str) -> bool:
        """Delete a note of the scratchpad; say whether there was one."""
        return await self._run(lambda store: store.delete_note(conversation_id, key))

    async def put_project_note(self, project_id: str, key: str, text: str) -> Note:
        """Set a note of a project."""
        return await self._run(lambda store: store.global_file.project_memory.put(project_id, key, text))

    async def get_project_note(self, project_id: str, key: str) -> Note | None:
        """Return a note of a project."""
        return await self._run(lambda store: store.fresh_project_memory().get(project_id, key))

    async def list_project_notes(self, project_id: str) -> tuple[Note, ...]:
        """Return the notes of a project, by key."""
        return await self._run(lambda store: store.fresh_project_memory().list(project_id))

    async def delete_project_note(self, project_id: str, key: str) -> bool:
        """Delete a note of a project; say whether there was one."""
        return await self._run(lambda store: store.global_file.project_memory.discard(project_id, key))

    # Configuration

    async def read_overrides(self) -> Mapping[str, Any]:
        """Return the persisted patch of the configuration."""
        return await self._run(lambda store: store.global_file.overrides())

    async def write_overrides(self, patch: Mapping[str, Any]) -> None:
        """Replace the persisted patch of the configuration."""
        await self.update_overrides(lambda _: patch)

    async def update_overrides(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Change the patch as it is now, while no other process can; `change` runs on the worker thread."""
        return await self._run(lambda store: store.global_file.update_overrides(change))

    async def aclose(self) -> None:
        """Write what is still unsaved if that is possible now, and let go of everything."""
        if not self._is_closed:
            self._is_closed = True
            await asyncio.wrap_future(self._worker.submit(self._close))
            self._worker.shutdown(wait=False)

    def _close(self) -> None:
        if self._store is not None:
            self._call(lambda store: store.close())

    # The worker

    def begin(self) -> None:
        """Open the store in the background and remove what was deleted long ago."""
        self._worker.submit(self._call, lambda store: store.remove_expired())

    async def _run(self, work: "Callable[[Store], R]") -> R:
        # Shielded, because a turn that is cancelled is to be saved all the same.
        if self._is_closed:
            raise failure("persistence", "store_closed", "the store is closed; start smith-tui again", origin="store")
        job = asyncio.get_running_loop().run_in_executor(self._worker, self._call, work)
        return await asyncio.shield(job)

    def _call(self, work: "Callable[[Store], R]") -> R:
        try:
            if self._store is None:
                self._store = self._make_store()
            return work(self._store)
        except AgentFailure:
            raise
        except Exception as error:  # the border of the store: whatever it is, the session goes on
            raise translate(error, self._folder) from error


def open_disk_persistence(
    folder: Path, *, cwd: str = "", project_id: Callable[[], str] = lambda: ""
) -> DiskPersistence:
    """Return the store below `folder` (see `paths.data_dir`), which is opened in the background; raises nothing.

    cwd, project_id: where this process works, for conversations whose first turn has not ended; the id is asked for
    in the background too.
    """

    def make_store() -> "Store":
        # TinyDB takes a while to import, and the first paint does not need it.
        from smith_core.store.store import Store

        return Store(folder, cwd, project_id())

    persistence = DiskPersistence(make_store, folder)
    persistence.begin()
    return persistence
