"""Fewer, larger parts: what comes within one interval is sent as one, the first at once."""

import asyncio
from collections.abc import Callable, Iterable

from smith_core.llm.protocol import AnyStreamPart, StreamReasoning, StreamText, StreamToolProgress

INTERVAL_S = 0.016
"""Longest wait before parts are sent on: one frame of a screen at 60 Hz."""

_SLACK_S = 0.002
"""What is due so soon is sent now: being woken for it would cost more."""

_MOST_HELD = 512


class Coalescer:
    """Holds parts back for up to an interval and merges them; used on one event loop.

    is_blocked: whether the receiver is behind; parts are then held, merged, for as long as it is.
    """

    def __init__(
        self,
        send: Callable[[tuple[AnyStreamPart, ...]], None],
        interval_s: float = INTERVAL_S,
        is_blocked: Callable[[], bool] = lambda: False,
    ) -> None:
        self._send = send
        self._is_blocked = is_blocked
        self._interval_s = interval_s
        self._loop = asyncio.get_running_loop()
        self._held: list[AnyStreamPart] = []
        self._sent_at = float("-inf")
        self._timer: asyncio.Handle | None = None

    def add(self, parts: Iterable[AnyStreamPart]) -> None:
        """Take parts and send what is due."""
        self._held += parts
        if not self._held:
            return
        if self._timer is not None:
            if len(self._held) > _MOST_HELD:
                self._held = list(merge(self._held))
            return
        wait = self._sent_at + self._interval_s - self._loop.time()
        if wait <= _SLACK_S:
            # Behind all that was read at once.
            self._timer = self._loop.call_soon(self._send_when_possible)
        else:
            self._timer = self._loop.call_later(wait, self._send_when_possible)

    def _send_when_possible(self) -> None:
        if self._is_blocked():
            self._timer = self._loop.call_later(self._interval_s, self._send_when_possible)
        else:
            self.flush()

    def flush(self) -> None:
        """Send everything that is held, now, blocked or not."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held:
            held, self._held = self._held, []
            self._sent_at = self._loop.time()
            self._send(merge(held))

    def drop(self) -> None:
        """Forget what is held."""
        self._held = []
        self.flush()


def merge(parts: Iterable[AnyStreamPart]) -> tuple[AnyStreamPart, ...]:
    """Join neighbours: text with text, reasoning with reasoning, of a call's progress only the latest."""
    runs: list[list[AnyStreamPart]] = []
    for part in parts:
        if runs and _belongs(runs[-1][-1], part):
            runs[-1].append(part)
        else:
            runs.append([part])
    return tuple(_joined(run) for run in runs)


def _belongs(last: AnyStreamPart, part: AnyStreamPart) -> bool:
    if isinstance(part, StreamToolProgress):
        return isinstance(last, StreamToolProgress) and last.index == part.index
    return type(last) is type(part) and isinstance(part, StreamText | StreamReasoning)


def _joined(run: list[AnyStreamPart]) -> AnyStreamPart:
    first = run[0]
    if isinstance(first, StreamText | StreamReasoning) and len(run) > 1:
        text = "".join(part.text for part in run if isinstance(part, StreamText | StreamReasoning))
        return type(first)(text=text)
    return run[-1]
