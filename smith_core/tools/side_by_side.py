"""Which calls of one answer run at the same time, and running them so that none is left behind."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby

from smith_core.cancel import CancelToken
from smith_core.messages import ToolCall, ToolResult
from smith_core.tools.registry import ToolRegistry


def grouped(calls: Sequence[ToolCall], registry: ToolRegistry) -> Iterator[tuple[ToolCall, ...]]:
    """Yield the calls in order: neighbours whose tools run side by side together, every other call alone."""

    def runs_beside(call: ToolCall) -> bool:
        spec = registry.get(call.name)
        return spec is not None and spec.side_by_side

    for is_together, group in groupby(calls, runs_beside):
        if is_together:
            yield tuple(group)
        else:
            yield from ((call,) for call in group)


async def run_together(
    calls: Sequence[ToolCall], run: Callable[[ToolCall], Awaitable[ToolResult]], token: CancelToken
) -> list[ToolResult]:
    """Run all calls at once and return their results in order.

    When the caller itself is cancelled, the token says so to the calls and to whoever looks at it afterwards; what
    they came to is a result all the same, or calls that had ended would count as never run.
    """
    tasks = [asyncio.ensure_future(run(call)) for call in calls]
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            token.request()
    return [task.result() for task in tasks]
