"""Makes the record of a turn that has ended: pure functions of what it began with and what came of it."""

import time
from collections.abc import Sequence

import msgspec

from smith_core.dispatch.service import LiveChild
from smith_core.messages import ChildTranscript, TurnRecord, TurnResult
from smith_core.session.values import Turn, TurnScope
from smith_core.turn import TurnOutput

_ADVICE = {"not_found": "Tab after /model lists the models"}
"""What a person at the input line can do about a failure of the endpoint, by its code."""


def advised(output: TurnOutput) -> TurnOutput:
    """Return the output of a turn that somebody typed, with what that person can type next on its error."""
    error = output.error
    if error is None or error.origin != "llm" or error.code not in _ADVICE:
        return output
    advised_error = msgspec.structs.replace(error, message=f"{error.message}; {_ADVICE[error.code]}")
    return msgspec.structs.replace(output, error=advised_error)


def record_of(
    turn: Turn, output: TurnOutput, scope: TurnScope, model: str, children: Sequence[LiveChild]
) -> TurnRecord:
    """Return the record of a turn that ends now; `model` is "" when none was found."""
    result = TurnResult(
        turn_id=turn.turn_id,
        conversation_id=turn.context.conversation_id,
        role=turn.context.active_role,
        stop_reason=output.stop_reason,
        text=output.text,
        error=output.error,
        model=model,
        usage=output.usage,
        tool_calls=output.tool_calls,
        duration_s=round(time.time() - turn.started_at, 3),
    )
    return TurnRecord(
        turn_id=turn.turn_id,
        conversation_id=turn.context.conversation_id,
        project_id=scope.project.project_id,
        cwd=scope.cwd,
        started_at=turn.started_at,
        messages=output.messages,
        result=result,
        child_usage=tuple((child.job_id, child.usage) for child in children),
        children=tuple(ChildTranscript(job_id=child.job_id, messages=tuple(child.messages)) for child in children),
    )
