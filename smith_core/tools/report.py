"""The tool report, by which a dispatched child ends: its result in the form that its parent reads."""

from smith_core.report import Report, coerce_report, problem_of_report
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, failed, succeeded


async def report(arguments: Report, ctx: ToolContext) -> ToolOutcome:
    """Accept a report that is whole; the child's turn ends with it."""
    problem = problem_of_report(arguments, ctx.role)
    if problem is not None:
        return failed(problem.message, code=problem.code, kind=problem.kind)
    return succeeded(f"reported {arguments.status}: {arguments.summary}")


REPORT = ToolSpec(
    name="report",
    description=(
        "End your task and hand its result to the agent that gave it to you, which sees nothing else of your work. "
        "Call it once, alone and last. The lists take short texts."
    ),
    arguments=Report,
    handler=report,
    coerce=coerce_report,
    is_terminal=True,
)
