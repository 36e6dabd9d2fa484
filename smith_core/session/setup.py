"""Makes of a frozen execution context what a turn works with, for the turns of a session and of children alike."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from smith_core.cancel import CancelToken
from smith_core.events import Emit, ToolOutput
from smith_core.messages import Message
from smith_core.model import SelectedModel
from smith_core.project import Project
from smith_core.report import DispatchResult
from smith_core.roles import ROLES
from smith_core.secrets import child_environment
from smith_core.session.values import ExecutionContext
from smith_core.store.repair import repair
from smith_core.tools.base import ToolContext
from smith_core.tools.permission import Asker, Permissions
from smith_core.tools.sandbox.sandboxes import Sandboxes
from smith_core.turn import TurnSetup

if TYPE_CHECKING:
    from smith_core.store.search.service import SearchService
    from smith_core.tools.changes.recorder import TurnRecorder


class TurnPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a turn works, and what is there; spill_dir, search and changes as in `ToolContext`."""

    cwd: Path
    project: Project
    spill_dir: Path
    permissions: Permissions
    sandboxes: Sandboxes
    search: "SearchService | None" = None
    changes: "TurnRecorder | None" = None


class TurnParts(msgspec.Struct, frozen=True, kw_only=True):
    """What is different from turn to turn; dispatch as in `ToolContext`, what follows it as in `TurnSetup`.

    job_id: of the dispatched child whose turn it is.
    """

    turn_id: str
    text: str
    history: tuple[Message, ...]
    model: SelectedModel
    token: CancelToken
    emit: Emit
    dispatch: Callable[[Any, str], Awaitable[DispatchResult]] | None = None
    source_role: str | None = None
    take_steering: Callable[[], tuple[str, ...]] = tuple
    attached: str = ""
    job_id: str = ""


def make_setup(context: ExecutionContext, place: TurnPlace, parts: TurnParts) -> TurnSetup:
    """Return the setup of a turn; AgentFailure of kind policy when its model cannot be reached without a key."""
    role = ROLES[context.active_role]
    services, config = context.service_handles, context.config_snapshot
    return TurnSetup(
        turn_id=parts.turn_id,
        role=role,
        text=parts.text,
        history=repair(parts.history),
        system_prompt=services.prompt.build_system_prompt(role, str(place.cwd), place.project),
        model=parts.model,
        endpoint=services.model.endpoint(config, parts.model.model),
        config=config,
        client=services.model.client,
        registry=services.tool,
        token=parts.token,
        emit=parts.emit,
        make_tool_context=lambda call_id: _tool_context(call_id, context, place, parts),
        source_role=parts.source_role,
        take_steering=parts.take_steering,
        attached=parts.attached,
    )


def _tool_context(call_id: str, context: ExecutionContext, place: TurnPlace, parts: TurnParts) -> ToolContext:
    config = context.config_snapshot
    return ToolContext(
        call_id=call_id,
        role=context.active_role,
        turn_id=parts.turn_id,
        cancel_token=parts.token,
        cwd=place.cwd,
        project=place.project,
        emit_output=lambda chunk: parts.emit(ToolOutput(call_id=call_id, chunk=chunk)),
        child_env=child_environment(config),
        spill_dir=place.spill_dir,
        bash_timeout_s=config.tools.bash_timeout_s,
        services=context.service_handles,
        conversation_id=context.conversation_id,
        search=place.search,
        dispatch=parts.dispatch,
        permit=place.permissions.permit_for(
            Asker(role=context.active_role, token=parts.token, emit=parts.emit, job_id=parts.job_id)
        ),
        sandbox=lambda: place.sandboxes.sandbox(config.tools, place.project.root),
        changes=place.changes,
    )
