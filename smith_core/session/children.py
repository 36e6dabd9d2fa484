"""Runs the turns of dispatched children: each with a context, a history and a budget of its own."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from smith_core.config.schema import Config
from smith_core.conversation import Conversation, UsageTracker
from smith_core.dispatch.worker import Children, ChildTurn, ParentTurn
from smith_core.events import Emit
from smith_core.model import ModelChoice, SelectedModel
from smith_core.roles import ROLES
from smith_core.services import Services
from smith_core.session.setup import TurnParts, TurnPlace, make_setup
from smith_core.session.values import ExecutionContext, Turn
from smith_core.turn import TurnOutput, run_turn


class ChildTurns:
    """Runs the children of one parent turn.

    model: the parent's. introduce: takes the id of a model before its first answer.
    """

    def __init__(
        self, context: ExecutionContext, place: TurnPlace, model: SelectedModel, introduce: Callable[[str], None]
    ) -> None:
        self._context = context
        self._place = place
        self._parent_model = model.model
        self._introduce = introduce

    async def run(self, turn: ChildTurn) -> TurnOutput:
        """Run one turn of a child; AgentFailure when no model can answer it."""
        context = self._context_of(turn)
        role = ROLES[context.active_role]
        choice = ModelChoice(model=turn.job.model, parent=self._parent_model)
        selecting = context.service_handles.model.select(choice, role, context.config_snapshot)
        model = await turn.job.cancel_token.guard(selecting)
        self._introduce(model.model)
        parts = TurnParts(
            turn_id=turn.turn_id,
            text=turn.text,
            history=turn.history,
            model=model,
            token=turn.job.cancel_token,
            emit=turn.emit,
            source_role=role.name,
            job_id=turn.job.job_id,
        )
        output = await run_turn(make_setup(context, self._place, parts))
        if output.most_tokens is not None:
            context.service_handles.model.note_limit(model.model, context.config_snapshot, output.most_tokens)
        return output

    def _context_of(self, turn: ChildTurn) -> ExecutionContext:
        """Return the parent's context made the child's own: settings and handles are inherited, the history is not."""
        parent = self._context
        return ExecutionContext(
            session_id=turn.session_id,
            active_role=turn.job.target_role,
            conversation_id=turn.conversation_id,
            config_snapshot=_with_budget_left(parent.config_snapshot, turn.calls_before),
            service_handles=msgspec.structs.replace(
                parent.service_handles, conversation=Conversation(turn.conversation_id, turn.history)
            ),
        )


def _with_budget_left(config: Config, calls_before: int) -> Config:
    if config.tool_step_budget is None or not calls_before:
        return config
    return msgspec.structs.replace(config, tool_step_budget=max(1, config.tool_step_budget - calls_before))


class ChildHost(Protocol):
    """What the children of a turn ask of the session that it belongs to."""

    services: Services
    usage: UsageTracker

    def introduce(self, model: str, emit: Emit) -> None:
        """Say before its first answer what a model is."""
        ...

    def wake_search(self) -> None:
        """Let the search index take in what was saved."""
        ...


def children_of(turn: Turn, place: TurnPlace, model: SelectedModel, host: ChildHost, emit: Emit) -> Children:
    """Return what runs the children that a turn dispatches."""

    async def keep_note(key: str, text: str) -> None:
        await host.services.persistence.put_note(turn.context.conversation_id, key, text)
        host.wake_search()

    runner = ChildTurns(turn.context, place, model, lambda model_id: host.introduce(model_id, emit))
    parent = ParentTurn(
        turn_id=turn.turn_id,
        role=turn.context.active_role,
        conversation_id=turn.context.conversation_id,
        token=turn.token,
        max_parallel=turn.context.config_snapshot.dispatch.max_parallel,
        emit=emit,
        run_child=runner.run,
        keep_note=keep_note,
        count=host.usage.add,
    )
    return Children(parent, host.services.dispatch)
