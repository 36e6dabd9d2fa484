"""One session: the only state that changes while the program runs, and the life of its turns."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from smith_core.cancel import new_root
from smith_core.config.schema import Config
from smith_core.conversation import UsageTracker
from smith_core.dispatch.worker import Children
from smith_core.embedded.label import label_of
from smith_core.errors import AgentError, AgentFailure, failure, normalize
from smith_core.events import (
    AnyEvent,
    Emit,
    FilesChanged,
    Notice,
    SessionChanged,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from smith_core.ids import new_id
from smith_core.log import LOGGER
from smith_core.messages import StopReason, TurnResult
from smith_core.model import ModelChoice, SelectedModel
from smith_core.project import Project, find_project
from smith_core.roles import ROLES, RoleSpec
from smith_core.services import Services
from smith_core.session.changed_files import ChangedFiles, marked
from smith_core.session.children import children_of
from smith_core.session.record import advised, record_of
from smith_core.session.setup import TurnParts, TurnPlace, make_setup
from smith_core.session.spending import Spending
from smith_core.session.steering import Steering
from smith_core.session.values import ExecutionContext, Listed, SessionState, Status, Turn, TurnRequest, TurnScope
from smith_core.store.interface import TITLE_LENGTH
from smith_core.store.saving import Saver
from smith_core.text import clean_text, shorten
from smith_core.tools.attach import attach
from smith_core.tools.permission import Permissions
from smith_core.tools.sandbox.sandboxes import Sandboxes
from smith_core.turn import TurnOutput, run_turn
from smith_core.turn_files import Direction, TurnFiles

if TYPE_CHECKING:
    from smith_core.store.search.service import SearchService


class Session:
    """Holds the state; everything else is handed to it.

    listed: what the list shown last has at number 1, 2 and so on. offered: the conversation that could not be opened
    because another process has it. deleted: conversations that this session has deleted, in order. has_screen: lists
    are shown to choose from, instead of as text. has_own_role: this start has named one, which conversations keep to.
    """

    def __init__(
        self,
        services: Services,
        cwd: Path,
        spill_dir: Path,
        choice: ModelChoice | None = None,
        search: "SearchService | None" = None,
        undo_folder: Path | None = None,
    ) -> None:
        self.session_id = f"session-{new_id()}"
        self.services = services
        self.cwd = cwd
        self.spill_dir = spill_dir
        self.choice = choice or ModelChoice()
        self.active_role = services.config.effective.active_role
        self.state = SessionState()
        self.current_turn: Turn | None = None
        self._children: Children | None = None
        self.next_turn_id = 1
        self.usage = UsageTracker()
        self.spending = Spending()
        self.scope = TurnScope(cwd=str(cwd), project=Project(root=str(cwd)))
        self._index_notice = ""
        self.model: SelectedModel | None = None
        self._turn_model = ""
        self._introduced: set[str] = set()
        self.last_prompt = ""
        self.search = search
        self.saver = Saver(services.persistence)
        self.listed: tuple[Listed, ...] = ()
        self.offered = ""
        self.deleted: list[str] = []
        self.has_screen = False
        self.has_own_role = False
        self.permissions = Permissions(lambda: services.config.effective.tools.permission)
        self.sandboxes = Sandboxes(spill_dir)
        self.files = ChangedFiles(services, self.sandboxes, undo_folder, spill_dir)
        self._steering = Steering()
        self._turn_over = asyncio.Event()
        self._turn_over.set()
        self._moved_on = asyncio.Event()

    # Life of the session

    def start_session(self) -> None:
        """Begin; a second call does nothing."""
        if self.state.status == "created":
            self.state = SessionState(status="running", started_at=time.time())

    def stop_session(self, reason: str) -> None:
        """End in good order, cancelling a turn that runs."""
        self._end("stopped", reason, None)

    def fail_session(self, error: object) -> None:
        """End because of an error, cancelling a turn that runs."""
        normalized = normalize(error, origin="session")
        self._end("failed", normalized.code, normalized)

    def _end(self, status: Status, reason: str, error: AgentError | None) -> None:
        self.cancel()
        self._moved_on.set()
        if self.state.status in ("stopped", "failed"):
            return
        self.state = msgspec.structs.replace(
            self.state, status=status, stopped_at=time.time(), stop_reason=reason, error=error
        )

    def cancel(self) -> bool:
        """Cancel the turn that runs; say whether there was one."""
        if self.current_turn is None:
            return False
        self.current_turn.token.request()
        return True

    def steer(self, text: str) -> bool:
        """Say something to the turn that runs, before its next model call; say whether there is one that takes it."""
        if self.current_turn is None or self.current_turn.token.is_cancelled:
            return False
        return self._steering.say(text)

    def take_steering(self) -> tuple[str, ...]:
        """Return, once, what was said to a turn and has not reached it yet, which may have ended before."""
        return self._steering.take()

    async def wait_for_turn(self, timeout_s: float) -> None:
        """Return when the turn that runs is over and on record, or when the time is up."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._turn_over.wait(), timeout_s)

    # Life of a turn

    def begin_turn(self, request: TurnRequest) -> Turn:
        """Open a turn; AgentFailure of kind policy while another one is open or the session is over."""
        if self.state.status != "running":
            raise failure("policy", "session_over", f"the session is {self.state.status}; start smith-tui again")
        if self.current_turn is not None:
            raise failure("policy", "turn_active", "a turn is running; wait for its end, or cancel it with Ctrl+C")
        if self.services.conversation.is_read_only:
            raise failure(
                "policy",
                "read_only",
                "another smith-tui has this conversation: /fork goes on with a copy of it, /new begins a new one",
            )
        turn = Turn(
            turn_id=f"turn-{self.next_turn_id}-{new_id()[:8]}",
            token=new_root(),
            request=request,
            context=ExecutionContext(
                session_id=self.session_id,
                active_role=self.active_role,
                conversation_id=self.services.conversation.conversation_id,
                config_snapshot=self.services.config.effective,
                service_handles=self.services,
            ),
            started_at=time.time(),
        )
        self.next_turn_id += 1
        self.current_turn = turn
        self._turn_model = ""
        self._turn_over.clear()
        self.last_prompt = request.text
        return turn

    async def with_turn(self, turn: Turn, body: Callable[[], Awaitable[TurnOutput]]) -> TurnOutput:
        """Run the body of a turn; whatever it throws becomes an output that says so."""
        try:
            return await body()
        except asyncio.CancelledError:
            turn.token.request()
            return self._failed(turn, normalize("cancelled", origin="turn"))
        except AgentFailure as caught:
            return self._failed(turn, caught.error)
        except Exception as caught:  # noqa: BLE001 - it is logged and becomes an error value
            LOGGER.exception("turn %s broke", turn.turn_id)
            return self._failed(turn, normalize(caught, origin="turn"))

    @staticmethod
    def _failed(turn: Turn, error: AgentError) -> TurnOutput:
        stop_reason: StopReason = "cancelled" if error.kind == "cancelled" else "error"
        return TurnOutput(messages=(turn.prompt,), stop_reason=stop_reason, error=error)

    async def finish_turn(self, turn: Turn, output: TurnOutput, emit: Emit, *, is_kept: bool = True) -> TurnResult:
        """Close the turn, put it on record unless it is not to be kept, and report its end."""
        job_ids = self._children.job_ids if self._children is not None else []
        children = self.services.dispatch.children(job_ids)
        changed = await self.files.end_turn()
        if self.has_screen:
            output = advised(output)
        if changed is not None:
            output = marked(output, turn_id=turn.turn_id)
        if output.error is not None and output.stop_reason in ("error", "budget_exhausted"):
            output = marked(output, turn_error=output.error.message)
        if output.stop_reason == "cancelled":
            output = marked(output, turn_cancelled=True)
        record = record_of(turn, output, self.scope, self._turn_model, children)
        result = record.result
        conversation = self.services.conversation
        if is_kept and record.conversation_id == conversation.conversation_id:
            conversation.append(record)
            conversation.title = conversation.title or shorten(clean_text(turn.request.text), TITLE_LENGTH)
        try:
            if is_kept:
                await self.saver.save_turn(record, emit)
        finally:
            self.services.dispatch.forget(job_ids)
            self._children = None
            self.current_turn = None
            self._turn_over.set()
        self.wake_search()
        LOGGER.info(
            "%s %s after %.1f s, %d calls: %s",
            turn.turn_id,
            result.stop_reason,
            result.duration_s,
            result.tool_calls,
            result.error.message if result.error else "no error",
        )
        if changed is not None and is_kept:
            emit(FilesChanged(turns=(changed,), is_new=True))
        emit(TurnEnded(result=result))
        return result

    async def run_turn(self, request: TurnRequest, emit: Emit) -> TurnResult:
        """Run one whole turn, from begin to finish; files that the text mentions go along."""
        if "@" in request.text:
            request = await self._with_files(request, emit)
        turn = self.begin_turn(request)
        role = ROLES[turn.context.active_role]
        emit(
            TurnStarted(
                turn_id=turn.turn_id,
                conversation_id=turn.context.conversation_id,
                role=role.name,
                text=clean_text(request.text),
            )
        )
        output = await self.with_turn(turn, lambda: self._body(turn, role, emit))
        return await self.finish_turn(turn, output, emit)

    async def _with_files(self, request: TurnRequest, emit: Emit) -> TurnRequest:
        attached = await asyncio.to_thread(attach, request.text, self.cwd, new_root())
        for problem in attached.problems:
            emit(Notice(level="warning", text=problem))
        return msgspec.structs.replace(request, attached=attached.text)

    async def _body(self, turn: Turn, role: RoleSpec, emit: Emit) -> TurnOutput:
        prompt = turn.prompt
        # The disk takes its time; what else a request needs is found out meanwhile.
        saving = asyncio.ensure_future(self.saver.save_prompt(turn.context.conversation_id, turn.turn_id, prompt, emit))
        try:
            await self.recompute_turn_scope(emit)
            model = await turn.token.guard(self.select_model(turn.request.choice, role))
        finally:
            await saving
        self._turn_model = model.model
        self.introduce(model.model, emit)
        place = TurnPlace(
            cwd=self.cwd,
            project=self.scope.project,
            spill_dir=self.spill_dir,
            permissions=self.permissions,
            sandboxes=self.sandboxes,
            search=self.search,
            changes=self.files.begin_turn(
                turn.context.conversation_id, turn.turn_id, self.scope.project, turn.started_at
            ),
        )
        self._children = children_of(turn, place, model, self, emit)
        parts = TurnParts(
            turn_id=turn.turn_id,
            text=turn.request.text,
            attached=turn.request.attached,
            history=self.services.conversation.messages,
            model=model,
            token=turn.token,
            emit=self._counting(emit),
            dispatch=self._children.dispatch,
            take_steering=self.take_steering,
        )
        with self._steering.heard():
            output = await run_turn(make_setup(turn.context, place, parts))
        if output.most_tokens is not None:
            self.services.model.note_limit(model.model, turn.context.config_snapshot, output.most_tokens)
        return output

    async def recompute_turn_scope(self, emit: Emit | None = None) -> TurnScope:
        """Find out anew where the next turn works: folder, git project, index file."""
        index_file = self.services.config.effective.index_file
        project = await asyncio.to_thread(find_project, self.cwd, index_file)
        # Others look at the scope, too, and say nothing of it to the person.
        if emit is not None and project.index_notice != self._index_notice:
            self._index_notice = project.index_notice
            if project.index_notice:
                emit(Notice(level="warning", text=project.index_notice))
        self.scope = TurnScope(cwd=str(self.cwd), project=project)
        return self.scope

    async def select_model(self, choice: ModelChoice, role: RoleSpec) -> SelectedModel:
        """Resolve the model for a role; AgentFailure of kind policy when none is configured."""
        wanted = choice if choice.model or choice.model_key else self.choice
        self.model = await self.services.model.select(wanted, role, self.services.config.effective)
        return self.model

    def introduce(self, model: str, emit: Emit) -> None:
        """Say before its first answer what a model is that must not be taken for more."""
        notice = label_of(model).notice
        if notice and model not in self._introduced:
            self._introduced.add(model)
            emit(Notice(level="info", text=notice))

    def _counting(self, emit: Emit) -> Emit:
        def count(event: AnyEvent) -> None:
            if isinstance(event, UsageReported):
                self.usage.add(event.usage)
            emit(event)

        return count

    # What commands change

    def switch_role(self, role: str) -> None:
        """Work in another user-facing role from the next turn on; AgentFailure of kind policy if it is not one."""
        spec = ROLES.get(role)
        if spec is None or not spec.user_facing:
            names = ", ".join(item.name for item in ROLES.values() if item.user_facing)
            raise failure("policy", "unknown_role", f"there is no role {role!r} to talk to; choose one of: {names}")
        self.active_role = role

    def resume_role(self, role: str) -> None:
        """Work in the role of a conversation that is gone on with, unless this start or a setting names one."""
        config = self.services.config
        # A ready configuration that was handed over has no layers.
        is_default = config.effective.active_role == Config().active_role
        is_set = not is_default or config.loaded.source_of("active_role") != "defaults"
        if role in ROLES and ROLES[role].user_facing and not (self.has_own_role or is_set):
            self.active_role = role

    def active_role_from_config(self, changed_path: str) -> None:
        """Follow the setting `active_role` when it was the one that changed."""
        if changed_path == "active_role":
            self.active_role = self.services.config.effective.active_role

    async def move_files(self, turn_id: str, direction: Direction, emit: Emit, *, is_forced: bool = False) -> TurnFiles:
        """Take back what a turn of this conversation has done to files, or put it again; see `ChangedFiles.move`."""
        scope = await self.recompute_turn_scope()
        moved = await self.files.move(turn_id, direction, scope.project.root, is_forced=is_forced)
        emit(FilesChanged(turns=(moved,)))
        return moved

    def require_idle(self, what: str) -> None:
        """Raise AgentFailure of kind policy while a turn runs."""
        if self.current_turn is not None:
            raise failure("policy", "turn_active", f"{what} is not possible while a turn runs; Ctrl+C stops it")

    def wake_search(self) -> None:
        """Let the search index take in what was saved, in the background."""
        if self.search is not None:
            self.search.wake()

    def move_on(self) -> asyncio.Event:
        """End what goes on with the current conversation, and return what is set when the next one is left."""
        self._moved_on.set()
        self._moved_on = asyncio.Event()
        return self._moved_on

    def changed(self, *, cleared: bool = False) -> SessionChanged:
        """Return the event that tells the screen what the session is now."""
        tools = self.services.config.effective.tools
        return SessionChanged(
            role=self.active_role,
            model=self.model.model if self.model else "",
            conversation_id=self.services.conversation.conversation_id,
            title=self.services.conversation.title,
            cleared=cleared,
            permission=tools.permission,
            sandbox=self.sandboxes.state(tools),
        )
