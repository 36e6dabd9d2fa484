"""What a parent gets of a child that has ended: its report, or an honest account of why there is none."""

from collections.abc import Sequence

import msgspec

from smith_core.dispatch.service import LiveChild
from smith_core.errors import AgentError
from smith_core.events import ToolEnded, ToolStarted
from smith_core.messages import Message, MutationState, StopReason
from smith_core.report import DispatchResult, Report, ReportStatus, coerce_report
from smith_core.text import shorten

LAST_WORDS = 2_000
"""Most characters that are kept of what a child said last when it did not report."""

_CHANGING = frozenset({"edit", "write"})
_MUTATING = _CHANGING | {"bash"}
_BAD_TO_WORSE: tuple[MutationState, ...] = ("none", "attempted", "unknown")
_REPORT_FIELDS: tuple[str, ...] = Report.__struct_fields__


def report_in(messages: Sequence[Message]) -> Report | None:
    """Return the report that a child has made, None when it has made none that was accepted."""
    accepted = {message.tool_call_id for message in messages if message.name == "report" and message.ok}
    for message in reversed(messages):
        for call in message.tool_calls:
            if call.id in accepted:
                return msgspec.convert(coerce_report(msgspec.json.decode(call.arguments)), Report, strict=False)
    return None


def reported(role: str, child: LiveChild, report: Report) -> DispatchResult:
    """Return the result of a child that has reported."""
    fields = {name: getattr(report, name) for name in _REPORT_FIELDS}
    state = mutation_state_of(child)
    if report.changes and state == "none":
        state = "attempted"
    return DispatchResult(job_id=child.job_id, role=role, usage=child.usage, mutation_state=state, **fields)


def unreported(role: str, child: LiveChild, stop_reason: StopReason, error: AgentError | None) -> DispatchResult:
    """Return the result of a child that ended in any other way: partial if it had done something, else blocked."""
    words = last_words(child.messages)
    tried = sum(message.role == "tool" and message.ok for message in child.messages)
    status: ReportStatus = "partial" if tried or words else "blocked"
    if stop_reason == "cancelled" and not child.messages:
        summary = f"The {role} was cancelled before it began."
    else:
        summary = f"The {role} ended without a report: {_why(stop_reason, error)}."
    if words:
        summary += f" Its last words: {words}"
    limitations = [f"nothing here was reported by the {role} itself; check what it did before you build on it"]
    if tried:
        limitations.append(f"{tried} tool {'call' if tried == 1 else 'calls'} of it had succeeded by then")
    return DispatchResult(
        job_id=child.job_id,
        role=role,
        status=status,
        summary=summary,
        changes=changes_in(child.messages),
        limitations=tuple(limitations),
        cancelled=stop_reason == "cancelled",
        error=error or _no_report(role),
        usage=child.usage,
        mutation_state=mutation_state_of(child),
    )


def mutation_state_of(child: LiveChild) -> MutationState:
    """Say whether the calls of a child may have changed something: as the worst of them said, unknown in mid-call."""
    return "unknown" if child.changing else child.mutation_state


def note_call(child: LiveChild, event: ToolStarted | ToolEnded) -> None:
    """Keep what a call of a child tells of itself."""
    if isinstance(event, ToolStarted):
        if event.name in _MUTATING:
            child.changing.add(event.call_id)
        return
    child.changing.discard(event.result.call_id)
    child.mutation_state = max(child.mutation_state, event.result.mutation_state, key=_BAD_TO_WORSE.index)


def last_words(messages: Sequence[Message]) -> str:
    """Return how the last text of a child ends, "" when it said nothing."""
    spoken = (message.content.strip() for message in reversed(messages) if message.role == "assistant")
    return shorten(next(filter(None, spoken), ""), LAST_WORDS)


def changes_in(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return a line for each file that the tools of a child say they changed, in the order of the first change."""
    counts: dict[str, int] = {}
    for message in messages:
        if message.name in _CHANGING and message.ok and message.metadata and message.metadata.path:
            counts[message.metadata.path] = counts.get(message.metadata.path, 0) + 1
    return tuple(f"{path}: changed {count} time{'s' * (count > 1)}" for path, count in counts.items())


def _why(stop_reason: StopReason, error: AgentError | None) -> str:
    if stop_reason == "cancelled":
        return "it was cancelled"
    if error is not None:
        return error.message.rstrip(".")
    return "it stopped, also after it had been asked to report"


def _no_report(role: str) -> AgentError:
    return AgentError(
        kind="protocol",
        code="no_report",
        message=f"the {role} did not report; dispatch a smaller task, or do it yourself",
        origin="dispatch",
    )
