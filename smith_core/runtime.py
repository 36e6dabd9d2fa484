"""The front door of the engine: it composes the services, runs the session and takes what the person types."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from smith_core.command_table import split_command
from smith_core.commands.context import CommandContext
from smith_core.commands.opening import NEW, ResumeWish, open_conversation, resume, take_over
from smith_core.commands.shelf import Shelf
from smith_core.composition import compose_services, open_search, open_store, service_options
from smith_core.config.report import render_problems
from smith_core.errors import AgentError, AgentFailure, failure, normalize
from smith_core.events import AnyEvent, Emit, Notice, PermissionAnswer, PromptReturned
from smith_core.frozen import EMPTY_MAPPING
from smith_core.log import LOGGER
from smith_core.messages import Message
from smith_core.model import ModelChoice
from smith_core.paths import config_dir
from smith_core.secrets import hide_from_proc, key_variables
from smith_core.services import Services
from smith_core.session.history import History
from smith_core.session.session import Session
from smith_core.session.shell_line import run_shell_line
from smith_core.session.values import TurnRequest
from smith_core.turn_files import Direction

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from smith_core.completion.source import CompletionSource
    from smith_core.store.search.service import SearchService

__all__ = ["ResumeWish", "Runtime", "compose_services", "open_search", "open_store", "service_options"]

TURN_END_S = 6.0
"""How long the end of the program waits for a cancelled turn to be on record; see `executor.CANCEL_GRACE_S`."""


class Runtime:
    """One running engine; used on one event loop.

    wish: what the start goes on with; nothing of it happens before `open` or the first input. search: None for
    sessions that index nothing. undo_folder: where copies of changed files are kept, a temporary place without it.
    """

    def __init__(
        self,
        services: Services,
        *,
        cwd: Path | None = None,
        spill_dir: Path | None = None,
        choice: ModelChoice | None = None,
        wish: ResumeWish = NEW,
        search: "SearchService | None" = None,
        undo_folder: Path | None = None,
    ) -> None:
        self._own_spill_dir = None
        if spill_dir is None:
            self._own_spill_dir = _temporary_folder()
            spill_dir = Path(self._own_spill_dir.name)
        self.services = services
        self.session = Session(services, cwd or Path.cwd(), spill_dir, choice, search, undo_folder)
        self.shelf = Shelf(self.session)
        services.ui.on_event(self.session.spending.note)
        self.history = History(self.session)
        self._wish = wish
        self._command_problems: set[str] = set()
        self._completion: CompletionSource | None = None
        self.entries: Mapping[str, str] = EMPTY_MAPPING
        """Settings that only the app can name, as completion offers them."""
        self.shown = ""
        """The conversation whose end the app has shown already, from `stored_tail`."""
        self._opening: asyncio.Task[None] | None = None
        self._waiting: tuple[str, ...] = ()
        self._keeping: asyncio.Task[None] | None = None

    def start_session(self) -> None:
        """Open the session; turns can be run from here on."""
        self.session.start_session()

    async def stop_session(self, reason: str, error: Exception | None = None) -> None:
        """Close the session, cancel what runs and put it on record, and end the model host and the store.

        error: what ends it, if it has not come to its end in good order.
        """
        if error is None:
            self.session.stop_session(reason)
        else:
            self.session.fail_session(error)
        await self.session.wait_for_turn(TURN_END_S)
        if self._opening is not None:
            await asyncio.wait({self._opening}, timeout=TURN_END_S)
        if self._keeping is not None:
            await asyncio.wait({self._keeping}, timeout=TURN_END_S)
        if self._completion is not None:
            await self._completion.aclose()
        await self.session.sandboxes.aclose()
        await self.session.files.aclose()
        await self.services.model.aclose()
        if self.session.search is not None:
            await self.session.search.aclose()
        try:
            await self.services.persistence.aclose()
        except AgentFailure as caught:
            LOGGER.warning("the store did not close: %s", caught.error.message)
        if self._own_spill_dir is not None:
            await asyncio.to_thread(self._own_spill_dir.cleanup)

    def cancel(self) -> bool:
        """Cancel the running turn; say whether there was one."""
        return self.session.cancel()

    def cancel_child(self, job_id: str) -> bool:
        """Cancel one dispatched child alone, its parent goes on; say whether it was running."""
        return self.services.dispatch.cancel(job_id)

    def keep_waiting(self, texts: tuple[str, ...]) -> None:
        """Keep the prompts that wait for a turn, for the next start of this conversation; the last call counts."""
        self._waiting = texts
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep_waiting())

    async def _keep_waiting(self) -> None:
        kept: tuple[str, ...] | None = None
        while kept != self._waiting:
            if self._opening is not None:
                await asyncio.shield(self._opening)
            kept = self._waiting
            conversation = self.services.conversation
            if not conversation.is_read_only:
                try:
                    await self.services.persistence.keep_waiting(conversation.conversation_id, kept)
                except AgentFailure as caught:
                    LOGGER.warning("what waits could not be kept: %s", caught.error.message)

    def answer_permission(self, call_id: str, answer: PermissionAnswer, job_id: str = "") -> bool:
        """Answer a PermissionRequested of the turn, or of a child by its job id; say whether it was still open."""
        return self.session.permissions.answer(call_id, answer, job_id)

    async def child_messages(self, job_id: str) -> tuple[Message, ...]:
        """Return the transcript of a child of this conversation, () when there is none; it may be running still.

        Raises AgentFailure of kind persistence when the store cannot be read.
        """
        said = self.services.dispatch.messages(job_id)
        if said:
            return said
        return await self.services.persistence.load_child(self.services.conversation.conversation_id, job_id)

    @property
    def completion(self) -> "CompletionSource":
        """What can be completed in the prompt; made with the first look at it."""
        if self._completion is None:
            from smith_core.completion.source import CompletionSource

            self._completion = CompletionSource(self.session, self.entries)
        return self._completion

    def unsaved_sentence(self) -> str:
        """Say after the end what is lost because it could not be saved; "" when nothing is."""
        turns, problem = self.services.persistence.unsaved_turns, self.session.saver.problem
        if not turns:
            return ""
        why = f": {problem.message}" if problem else ""
        return f"{turns} turn{'s' * (turns > 1)} could not be saved{why}"

    def open(self) -> AsyncIterator[AnyEvent]:
        """Take in the stored settings, go on with a conversation as was wished, and yield what there is to show.

        It happens once; an input that comes before waits for it.
        """
        return self._report(self._ensure_open)

    def open_conversation(self, conversation_id: str, at: int | None = None) -> AsyncIterator[AnyEvent]:
        """Go on with a stored conversation, shown from its end or at message number `at`, and yield its events."""

        async def work(emit: Emit) -> None:
            await self._ensure_open(emit)
            self.session.require_idle("opening a conversation")
            await open_conversation(self.session, emit, conversation_id, at=at or 0)

        return self._report(work)

    def move_files(self, turn_id: str, direction: Direction) -> AsyncIterator[AnyEvent]:
        """Take back what a turn of this conversation has done to files, or put it again, and yield its events."""

        async def work(emit: Emit) -> None:
            self.session.require_idle("taking changes back")
            await self.session.move_files(turn_id, direction, emit)

        return self._report(work)

    def process_raw_input(self, line: str, choice: ModelChoice | None = None) -> AsyncIterator[AnyEvent]:
        """Run a slash command, a shell line or a turn and yield its events; closing the iterator cancels the turn."""
        return self._report(lambda emit: self._handle(line, choice or ModelChoice(), emit))

    async def _report(self, job: Callable[[Emit], Awaitable[None]]) -> AsyncIterator[AnyEvent]:
        """Do some work and yield what it reports; failures become notices."""
        events: asyncio.Queue[AnyEvent | None] = asyncio.Queue()

        def emit(event: AnyEvent) -> None:
            events.put_nowait(event)
            self.services.ui.emit(event)

        work = asyncio.create_task(self._do(job, emit))
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await work
        finally:
            if not work.done():
                if not self.session.cancel():
                    work.cancel()
                await asyncio.wait({work})

    async def _handle(self, line: str, choice: ModelChoice, emit: Emit) -> None:
        await self._ensure_open(emit)
        try:
            if line.startswith("/"):
                await self.run_command(line, emit)
                return
            await take_over(self.session, emit)
            if line.startswith("!"):
                await run_shell_line(self.session, line, emit)
            else:
                await self.session.run_turn(TurnRequest(text=line, choice=choice), emit)
        except AgentFailure as caught:
            if (caught.error.kind, caught.error.code) == ("policy", "read_only") and self._is_prompt(line):
                emit(PromptReturned(text=line))
            raise

    def _is_prompt(self, line: str) -> bool:
        """Whether a line is no command of ours; one of the person's own stands for a prompt."""
        return not line.startswith("/") or split_command(line)[0] not in self.services.command.own_names

    async def _ensure_open(self, emit: Emit) -> None:
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(emit))
        await asyncio.shield(self._opening)

    async def _open(self, emit: Emit) -> None:
        session = self.session
        problem: AgentError | None = None
        try:
            await self._use_stored_settings(emit)
        except AgentFailure as caught:
            problem = caught.error
            if problem.code == "newer_store":
                # What is said from now on is kept all the same, in files of its own.
                emit(Notice(level="error", text=problem.message))
            else:
                session.saver.report(problem, emit)
        try:
            if self._wish.kind == "pick":
                await self.run_command("/list", emit)
            await resume(session, emit, self._wish, self.shown)
        except AgentFailure as caught:
            if caught.error != problem:
                emit(Notice(level="error", text=caught.error.message))
        except Exception as caught:  # noqa: BLE001 - it is logged, and a new conversation can do without the old one
            LOGGER.exception("the start could not go on with anything")
            emit(Notice(level="error", text=normalize(caught, origin="runtime").message))
        if session.has_screen:
            await self._look_for_commands(emit)
            await self._look_for_sandbox(emit)
        session.saver.report_notices(emit)
        session.wake_search()
        session.files.tidy()

    async def _use_stored_settings(self, emit: Emit) -> None:
        config = self.services.config
        before = config.effective
        problems = await config.load_stored()
        if problems:
            emit(Notice(level="warning", text=render_problems(problems)))
        if config.effective == before:
            return
        hide_from_proc(key_variables(config.effective))
        if config.effective.active_role != before.active_role:
            self.session.active_role_from_config("active_role")
        emit(self.session.changed())

    async def _look_for_sandbox(self, emit: Emit) -> None:
        tools = self.services.config.effective.tools
        if tools.sandbox != "off":
            await self.session.sandboxes.look(tools)
            emit(self.session.changed())

    async def _do(self, job: Callable[[Emit], Awaitable[None]], emit: Emit) -> None:
        try:
            await job(emit)
            self.session.saver.report_notices(emit)
        except AgentFailure as caught:
            emit(Notice(level="error", text=caught.error.message))
        except Exception as caught:  # noqa: BLE001 - it is logged and becomes an error value
            LOGGER.exception("input could not be handled")
            emit(Notice(level="error", text=normalize(caught, origin="runtime").message))

    async def _look_for_commands(self, emit: Emit) -> None:
        """Take in the commands that the person and the project have written down."""
        from smith_core.commands.custom import command_folders, load_custom

        with contextlib.suppress(AgentFailure):  # without a home folder there are none
            scope = await self.session.recompute_turn_scope()
            folders = command_folders(config_dir(), Path(scope.project.root or scope.cwd))
            table = self.services.command
            found = await asyncio.to_thread(load_custom, folders, table.own_names)
            table.use_custom(found.commands)
            for problem in found.problems:
                if problem not in self._command_problems:
                    self._command_problems.add(problem)
                    emit(Notice(level="warning", text=problem))

    async def run_command(self, line: str, emit: Emit) -> None:
        """Run one slash command; AgentFailure of kind policy when there is none of that name."""
        name, arguments = split_command(line)
        table = self.services.command
        command = table.get(name)
        if command is None:
            await self._look_for_commands(emit)
            command = table.get(name)
        if command is None:
            nearest = table.nearest(name)
            hint = f"did you mean /{nearest}?" if nearest else "/help lists all commands"
            raise failure(
                "policy", "unknown_command", f"unknown command /{name}; {hint} (to send it as text, put a blank first)"
            )
        if not command.while_running:
            self.session.require_idle(f"/{name}")
        await command.handler(CommandContext(self.session, emit), arguments)


def _temporary_folder() -> "TemporaryDirectory[str]":
    """Return a new private folder that goes with its object; AgentFailure of kind persistence when none can be made."""
    from tempfile import TemporaryDirectory

    try:
        # What a command has left running may still write to it when it goes.
        return TemporaryDirectory(prefix="smith-", ignore_cleanup_errors=True)
    except OSError as error:
        raise failure(
            "persistence",
            "no_temporary_folder",
            f"no folder for temporary files can be used ({error.strerror or error}); set TMPDIR to one of yours",
            origin="runtime",
        ) from error
