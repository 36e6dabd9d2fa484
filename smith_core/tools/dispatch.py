"""The tool dispatch: hands a task to a child agent and returns what it reports."""

from typing import Annotated, Any

import msgspec

from smith_core.errors import AgentFailure
from smith_core.frozen import encode_hook
from smith_core.messages import ToolMetadata
from smith_core.report import DispatchResult
from smith_core.tools.base import MODEL_TEXT_LIMIT, ToolContext, ToolOutcome, ToolSpec, failed
from smith_core.tools.report_room import within

_CHILD_ROLES = {"type": "string", "enum": ["worker", "explorer"]}
_CONTEXT_SCHEMA = {
    "type": "object",
    "properties": {
        "user_request_summary": {
            "type": "string",
            "description": "What the user wants as a whole, in a few sentences of your own.",
        },
        "role_instructions": {
            "type": "string",
            "description": "What this child has to keep to: limits, conventions, how to check, what to report.",
        },
    },
}


class DispatchArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of dispatch."""

    role: Annotated[
        str,
        msgspec.Meta(
            description="explorer: finds something out and brings evidence, changes nothing. worker: makes one bounded "
            "change and verifies it.",
            extra_json_schema=_CHILD_ROLES,
        ),
    ]
    task: Annotated[
        str,
        msgspec.Meta(
            description="The whole task, written for someone who sees nothing of this conversation: the goal, what is "
            "known already, the limits, and how to check the result."
        ),
    ]
    context: Annotated[Any, msgspec.Meta(extra_json_schema=_CONTEXT_SCHEMA)] = None
    files: Annotated[
        Any,
        msgspec.Meta(
            description="Paths that the child should look at first.",
            extra_json_schema={"type": "array", "items": {"type": "string"}},
        ),
    ] = None
    model: Annotated[
        str | None, msgspec.Meta(description="A model id for this child alone. Leave it out unless the user named one.")
    ] = None


async def dispatch(arguments: DispatchArguments, ctx: ToolContext) -> ToolOutcome:
    """Run a child to its end; however it ends, the outcome says what came of it."""
    if ctx.dispatch is None:
        return failed("there is nobody to dispatch to here; do the task yourself", code="no_dispatch", kind="policy")
    try:
        result = await ctx.dispatch(arguments, ctx.call_id)
    except AgentFailure as caught:
        error = caught.error
        return failed(error.message, code=error.code, kind=error.kind)
    return outcome_of(result)


def outcome_of(result: DispatchResult) -> ToolOutcome:
    """Return the outcome of a call whose child ended like this; it is good when the child has reported."""
    content = _json(result)
    shown = _json(within(result, MODEL_TEXT_LIMIT, len(content)))
    return ToolOutcome(
        ok=result.error is None and not result.cancelled,
        content=shown,
        error=result.error,
        cancelled=result.cancelled,
        mutation_state=result.mutation_state,
        metadata=ToolMetadata(
            job_id=result.job_id, recall_key=result.recall_key, omitted_chars=max(0, len(content) - len(shown))
        ),
    )


def _json(result: DispatchResult) -> str:
    return msgspec.json.encode(result, enc_hook=encode_hook).decode()


DISPATCH = ToolSpec(
    name="dispatch",
    description=(
        "Hand a task to a child agent that works on its own and returns a report. It sees nothing of this "
        "conversation, so the task must hold all it needs. Several dispatch calls in one answer run at the same time. "
        "The result is kept in the scratchpad under its recall_key."
    ),
    arguments=DispatchArguments,
    handler=dispatch,
    mutates=True,
    side_by_side=True,
)
