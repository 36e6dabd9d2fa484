"""One session: the only state that changes while the program runs, and the life of its turns."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

import msgspec

from smith_core.cancel import CancelToken, new_root
from smith_core.config.schema import Config
from smith_core.conversation import UsageTracker
from smith_core.embedded.label import label_of
from smith_core.errors import AgentError, AgentFailure, failure, normalize
from smith_core.events import AnyEvent, Notice, SessionChanged, ToolOutput, TurnEnded, TurnStarted, UsageReported
from smith_core.ids import new_id
from smith_core.log import LOGGER
from smith_core.messages import Message, StopReason, TurnRecord, TurnResult
from smith_core.model import ModelChoice, SelectedModel
from smith_core.project import Project, find_project
from smith_core.roles import ROLES, RoleSpec
from smith_core.secrets import child_environment
from smith_core.services import Services
from smith_core.text import clean_text
from smith_core.tools.base import ToolContext
from smith_core.turn import TurnOutput, TurnSetup, run_turn

Status = Literal["created", "running", "stopped", "failed"]
Emit = Callable[[AnyEvent], None]


class SessionState(msgspec.Struct, frozen=True, kw_only=True):
    """Where the session stands; times in seconds since the epoch."""

    status: Status = "created"
    started_at: float | None = None
    stopped_at: float | None = None
    stop_reason: str | None = None
    error: AgentError | None = None


class ExecutionContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn sees of the session, fixed when the turn begins."""

    session_id: str
    active_role: str
    conversation_id: str
    config_snapshot: Config
    service_handles: Services


class TurnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the person asked for; `choice` may name a model for this turn."""

    text: str
    choice: ModelChoice = ModelChoice()


class TurnScope(msgspec.Struct, frozen=True, kw_only=True):
    """The place where a turn works."""

    cwd: str
    project: Project


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that has begun."""

    turn_id: str
    token: CancelToken
    request: TurnRequest
    context: ExecutionContext
    started_at: float


class Session:
    """Holds the state; everything else is handed to it."""

    def __init__(self, services: Services, cwd: Path, spill_dir: Path, choice: ModelChoice | None = None) -> None:
        self.session_id = f"session-{new_id()}"
        self.services = services
        self.cwd = cwd
        self.spill_dir = spill_dir
        self.choice = choice or ModelChoice()
        self.active_role = services.config.effective.active_role
        self.state = SessionState()
        self.current_turn: Turn | None = None
        self.next_turn_id = 1
        self.usage = UsageTracker()
        self.scope = TurnScope(cwd=str(cwd), project=Project(root=str(cwd)))
        self.model: SelectedModel | None = None
        self._introduced: set[str] = set()
        self.last_prompt = ""

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

    # Life of a turn

    def begin_turn(self, request: TurnRequest) -> Turn:
        """Open a turn; AgentFailure of kind policy while another one is open or the session is over."""
        if self.state.status != "running":
            raise failure("policy", "session_over", f"the session is {self.state.status}; start smith-tui again")
        if self.current_turn is not None:
            raise failure("policy", "turn_active", "a turn is running; wait for its end, or cancel it with Ctrl+C")
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
        prompt = Message(role="user", content=clean_text(turn.request.text), created_at=turn.started_at)
        stop_reason: StopReason = "cancelled" if error.kind == "cancelled" else "error"
        return TurnOutput(messages=(prompt,), stop_reason=stop_reason, error=error)

    async def finish_turn(self, turn: Turn, output: TurnOutput, emit: Emit) -> TurnResult:
        """Close the turn, put it on record, and report its end."""
        result = TurnResult(
            turn_id=turn.turn_id,
            conversation_id=turn.context.conversation_id,
            role=turn.context.active_role,
            stop_reason=output.stop_reason,
            text=output.text,
            error=output.error,
            model=self.model.model if self.model else "",
            usage=output.usage,
            tool_calls=output.tool_calls,
            duration_s=round(time.time() - turn.started_at, 3),
        )
        record = TurnRecord(
            turn_id=turn.turn_id,
            conversation_id=turn.context.conversation_id,
            project_id=self.scope.project.project_id,
            cwd=self.scope.cwd,
            started_at=turn.started_at,
            messages=output.messages,
            result=result,
        )
        if record.conversation_id == self.services.conversation.conversation_id:
            self.services.conversation.append(record)
        try:
            await self.services.persistence.persist_turn(record)
        except AgentFailure as caught:
            emit(Notice(level="error", text=f"not saved: {caught.error.message}"))
        finally:
            self.current_turn = None
        LOGGER.info(
            "%s %s after %.1f s, %d calls: %s",
            turn.turn_id,
            result.stop_reason,
            result.duration_s,
            result.tool_calls,
            result.error.message if result.error else "no error",
        )
        emit(TurnEnded(result=result))
        return result

    async def run_turn(self, request: TurnRequest, emit: Emit) -> TurnResult:
        """Run one whole turn, from begin to finish."""
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

    async def _body(self, turn: Turn, role: RoleSpec, emit: Emit) -> TurnOutput:
        config = turn.context.config_snapshot
        prompt = Message(role="user", content=clean_text(turn.request.text), created_at=turn.started_at)
        try:
            await self.services.persistence.save_prompt(turn.context.conversation_id, turn.turn_id, prompt)
        except AgentFailure as caught:
            emit(Notice(level="error", text=f"not saved: {caught.error.message}"))
        await self.recompute_turn_scope(emit)
        model = await self.select_model(turn.request.choice, role)
        self._introduce(model.model, emit)
        setup = TurnSetup(
            turn_id=turn.turn_id,
            role=role,
            text=turn.request.text,
            history=self.services.conversation.messages,
            system_prompt=self.services.prompt.build_system_prompt(role, self.scope.cwd, self.scope.project),
            model=model,
            endpoint=self.services.model.endpoint(config, model.model),
            config=config,
            client=self.services.model.client,
            registry=self.services.tool,
            token=turn.token,
            emit=self._counting(emit),
            make_tool_context=lambda call_id: self._tool_context(call_id, turn, emit),
        )
        return await run_turn(setup)

    async def recompute_turn_scope(self, emit: Emit | None = None) -> TurnScope:
        """Find out anew where the next turn works: folder, git project, index file."""
        index_file = self.services.config.effective.index_file
        project = await asyncio.to_thread(find_project, self.cwd, index_file)
        if emit is not None and project.index_notice and project.index_notice != self.scope.project.index_notice:
            emit(Notice(level="warning", text=project.index_notice))
        self.scope = TurnScope(cwd=str(self.cwd), project=project)
        return self.scope

    async def select_model(self, choice: ModelChoice, role: RoleSpec) -> SelectedModel:
        """Resolve the model for a role; AgentFailure of kind policy when none is configured."""
        wanted = choice if choice.model or choice.model_key else self.choice
        self.model = await self.services.model.select(wanted, role, self.services.config.effective)
        return self.model

    def _introduce(self, model: str, emit: Emit) -> None:
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

    def _tool_context(self, call_id: str, turn: Turn, emit: Emit) -> ToolContext:
        config = turn.context.config_snapshot
        return ToolContext(
            call_id=call_id,
            role=turn.context.active_role,
            turn_id=turn.turn_id,
            cancel_token=turn.token,
            cwd=self.cwd,
            project=self.scope.project,
            emit_output=lambda chunk: emit(ToolOutput(call_id=call_id, chunk=chunk)),
            child_env=child_environment(config),
            spill_dir=self.spill_dir,
            bash_timeout_s=config.tools.bash_timeout_s,
            services=self.services,
        )

    # What commands change

    def switch_role(self, role: str) -> None:
        """Work in another user-facing role from the next turn on; AgentFailure of kind policy if it is not one."""
        spec = ROLES.get(role)
        if spec is None or not spec.user_facing:
            names = ", ".join(item.name for item in ROLES.values() if item.user_facing)
            raise failure("policy", "unknown_role", f"there is no role {role!r} to talk to; choose one of: {names}")
        self.active_role = role

    def active_role_from_config(self, changed_path: str) -> None:
        """Follow the setting `active_role` when it was the one that changed."""
        if changed_path == "active_role":
            self.active_role = self.services.config.effective.active_role

    def require_idle(self, what: str) -> None:
        """Raise AgentFailure of kind policy while a turn runs."""
        if self.current_turn is not None:
            raise failure("policy", "turn_active", f"{what} has to wait: a turn is running; cancel it with Ctrl+C")

    def changed(self, *, cleared: bool = False) -> SessionChanged:
        """Return the event that tells the screen what the session is now."""
        return SessionChanged(
            role=self.active_role,
            model=self.model.model if self.model else "",
            conversation_id=self.services.conversation.conversation_id,
            cleared=cleared,
        )
