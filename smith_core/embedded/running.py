"""Work that obeys a cancel token: coroutines that wait for the network, and threads that move bytes."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from smith_core.cancel import CancelToken

Result = TypeVar("Result")


async def run_cancellable(work: Coroutine[Any, Any, None], token: CancelToken) -> None:
    """Await `work`, ending it at once when the token is cancelled; then AgentFailure of kind cancelled is raised."""
    task = asyncio.ensure_future(work)

    def cancel() -> None:
        task.cancel()

    unsubscribe = token.on_cancel(cancel)
    try:
        await task
    except asyncio.CancelledError:
        token.check()
        raise
    finally:
        unsubscribe()


async def run_in_thread(work: Callable[[CancelToken], Result], token: CancelToken) -> Result:
    """Run blocking `work` in a thread; it looks at the token it is given, and nothing returns before it has ended."""
    stop = token.new_child()
    thread = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        # The thread still writes; whoever cancelled us must find its files at rest.
        stop.request()
        with contextlib.suppress(Exception):
            await thread
        raise
    finally:
        stop.release()
