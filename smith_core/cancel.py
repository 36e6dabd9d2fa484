"""Cancel tokens that form a tree: cancelling a parent cancels every child at once."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from smith_core.errors import AgentError, AgentFailure, normalize

CANCELLED: AgentError = normalize("cancelled")
Result = TypeVar("Result")


class CancelToken:
    """One node of the tree; cancelled once, for good. Used on one event loop; the flag may be read from any thread."""

    def __init__(self, parent: "CancelToken | None" = None) -> None:
        self._cancelled = False
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._parent = parent

    @property
    def is_cancelled(self) -> bool:
        """Whether this token or one above it was cancelled."""
        return self._cancelled

    def request(self) -> None:
        """Cancel this token and everything below it; a second call does nothing."""
        if self._cancelled:
            return
        self._cancelled = True
        callbacks, self._callbacks = list(self._callbacks.values()), {}
        for callback in callbacks:
            callback()

    def new_child(self) -> "CancelToken":
        """Return a token that is cancelled with this one, or on its own."""
        child = CancelToken(self)
        if self._cancelled:
            child.request()
        else:
            self._callbacks[child] = child.request
        return child

    def release(self) -> None:
        """Let the parent forget this token; call it when the work under it is over."""
        if self._parent is not None:
            self._parent._callbacks.pop(self, None)

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` once when cancelled (now, if it already is) and return a function that unsubscribes it."""
        if self._cancelled:
            callback()
            return lambda: None
        key = object()
        self._callbacks[key] = callback
        return lambda: self._callbacks.pop(key, None) and None

    def check(self) -> None:
        """Raise AgentFailure of kind cancelled if cancelled."""
        if self._cancelled:
            raise AgentFailure(CANCELLED)

    async def wait(self) -> None:
        """Return as soon as the token is cancelled."""
        event = asyncio.Event()
        unsubscribe = self.on_cancel(event.set)
        try:
            await event.wait()
        finally:
            unsubscribe()

    async def sleep(self, seconds: float) -> None:
        """Sleep, but raise AgentFailure of kind cancelled as soon as the token is cancelled."""
        try:
            await asyncio.wait_for(self.wait(), seconds)
        except TimeoutError:
            return
        self.check()

    async def guard(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return what `work` returns, but give it up and raise AgentFailure of kind cancelled when cancelled."""
        task = asyncio.ensure_future(work)

        def give_up() -> None:
            task.cancel()

        unsubscribe = self.on_cancel(give_up)
        try:
            return await task
        except asyncio.CancelledError:
            around = asyncio.current_task()
            if around is not None and around.cancelling():
                raise
            raise AgentFailure(CANCELLED) from None
        finally:
            unsubscribe()


def new_root() -> CancelToken:
    """Return the token at the top of a new tree."""
    return CancelToken()
