"""The files that the turns of a session change: kept while a turn runs, shown when it ends, taken back on demand."""

import asyncio
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from smith_core.errors import AgentFailure, failure
from smith_core.messages import Message, ToolMetadata
from smith_core.project import Project
from smith_core.services import Services
from smith_core.tools.changes.pruning import Limits
from smith_core.tools.sandbox.reach import OutOfReachError, reached
from smith_core.tools.sandbox.sandboxes import Sandboxes
from smith_core.turn import TurnOutput
from smith_core.turn_files import Direction, TurnFiles

if TYPE_CHECKING:
    from smith_core.tools.changes.recorder import TurnRecorder
    from smith_core.tools.changes.restore import Reach
    from smith_core.tools.changes.service import FileChanges

_MB = 1_000_000
_TIDY_WAIT_S = 3.0
_OWN_TEMPORARY = "the sandbox has a folder for temporary files of its own"


class ChangedFiles:
    """Used on the event loop; the work is done in threads.

    folder: where copies and records are kept; without one they are kept below spill_dir until the session ends.
    """

    def __init__(self, services: Services, sandboxes: Sandboxes, folder: Path | None, spill_dir: Path) -> None:
        self._services = services
        self._sandboxes = sandboxes
        self._folder = folder or spill_dir / "undo"
        self._is_temporary = folder is None
        self._made: FileChanges | None = None
        self._recorder: TurnRecorder | None = None
        self._tidying: asyncio.Task[None] | None = None

    def begin_turn(
        self, conversation_id: str, turn_id: str, project: Project, started_at: float
    ) -> "TurnRecorder | None":
        """Return what keeps the changes of a turn and its children, None when nothing is to be kept."""
        self._recorder = self._changes.begin_turn(conversation_id, turn_id, project.root, started_at)
        return self._recorder

    async def end_turn(self) -> TurnFiles | None:
        """Return what the turn has changed, None when it was nothing."""
        recorder, self._recorder = self._recorder, None
        record = await asyncio.to_thread(recorder.record) if recorder is not None else None
        if record is None:
            return None
        from smith_core.tools.changes.service import as_shown

        return as_shown(record)

    async def turns(self) -> tuple[TurnFiles, ...]:
        """Return the turns of the current conversation that have changed files, the oldest first."""
        identity = self._services.conversation.conversation_id
        return await asyncio.to_thread(self._changes.of_conversation, identity)

    async def move(self, turn_id: str, direction: Direction, root: str, *, is_forced: bool = False) -> TurnFiles:
        """Take the changes of a turn back or put them again, as far as the files are as they were left.

        root: of the project of the session, outside of which a sandbox lets nothing be written.

        AgentFailure of kind policy when nothing may be changed in this session, or the turn is not on record.
        """
        if self._services.config.effective.tools.permission == "read-only":
            raise failure(
                "policy",
                "read_only",
                "nothing may be changed in this session (tools.permission is read-only), so the files stay as they "
                "are; /config set tools.permission ask allows it",
            )
        identity = self._services.conversation.conversation_id
        reach = await self._reach(root)
        return await asyncio.to_thread(self._changes.move, identity, turn_id, direction, reach, is_forced=is_forced)

    def tidy(self) -> None:
        """Remove old copies in the background."""
        if self._tidying is None or self._tidying.done():
            self._tidying = asyncio.create_task(asyncio.to_thread(self._changes.tidy))

    async def aclose(self) -> None:
        """End what runs."""
        if self._tidying is not None:
            await asyncio.wait({self._tidying}, timeout=_TIDY_WAIT_S)
        if self._made is not None:
            await asyncio.to_thread(self._made.close)
            if self._is_temporary:
                await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    @property
    def _changes(self) -> "FileChanges":
        if self._made is None:
            from smith_core.tools.changes.service import FileChanges

            self._made = FileChanges(self._folder, self._limits)
        return self._made

    def _limits(self) -> Limits:
        undo = self._services.config.effective.undo
        return Limits(undo.keep_mb * _MB, undo.keep_days)

    async def _reach(self, root: str) -> "Reach":
        """Return what says why a file may not be written to: a tool could reach no more."""
        try:
            sandbox = await self._sandboxes.sandbox(self._services.config.effective.tools, root)
        except AgentFailure:  # as for the tools that work outside of it
            sandbox = None
        if sandbox is None:
            return lambda path: ""
        layout = sandbox.layout

        def reach(path: Path) -> str:
            place = path.parent if path.is_symlink() else path
            try:
                return "" if reached(layout, place, writes=True) == place else _OWN_TEMPORARY
            except OutOfReachError as error:
                return str(error)

        return reach


def marked(output: TurnOutput, **facts: str | bool) -> TurnOutput:
    """Return the output with facts of the turn on its last message, behind which they are shown (`ToolMetadata`)."""
    if not output.messages:
        return output
    last: Message = output.messages[-1]
    metadata = msgspec.structs.replace(last.metadata or ToolMetadata(), **facts)
    return msgspec.structs.replace(
        output, messages=(*output.messages[:-1], msgspec.structs.replace(last, metadata=metadata))
    )
