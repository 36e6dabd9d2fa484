"""Reading the HTTP response of a streamed answer: events into parts, silence and every odd ending into errors."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import httpx

from smith_core.errors import AgentError, AgentFailure
from smith_core.llm.deltas import DeltaAssembler
from smith_core.llm.faults import Target, fault, timeout_fault
from smith_core.llm.pacing import paced
from smith_core.llm.protocol import AnyStreamPart, Timeouts
from smith_core.llm.refusals import error_inside
from smith_core.llm.sse import DONE, BodyReader, SseEvent, TooLongError, decode_json
from smith_core.llm.translation import translate

AFTER_FINISH_S = 5.0
"""Longest wait for usage behind the finish marker; the answer itself is complete by then."""

_DRAIN_S = 1.0
_REARM_SHARE = 0.02
_drains: set[asyncio.Task[None]] = set()


class StreamBody:
    """Reads one response into an assembler and hands the parts over; one object per call."""

    def __init__(
        self,
        target: Target,
        timeouts: Timeouts,
        assembler: DeltaAssembler,
        on_parts: Callable[[list[AnyStreamPart]], None],
    ) -> None:
        self._target = target
        self._timeouts = timeouts
        self._assembler = assembler
        self._on_parts = on_parts
        self._reader = BodyReader()
        self._events = 0
        self._is_done = False
        self._is_alive = False

    async def read(self, response: httpx.Response) -> None:
        """Read to the end of the answer; AgentFailure when it has none, after all that came was handed over."""
        # The limits below take over: comments keep a socket's read timeout from ever running out.
        response.request.extensions.get("timeout", {})["read"] = None
        try:
            await self._read_guarded(response)
        finally:
            self._on_parts(self._assembler.finish())
            if not self._is_done:
                await response.aclose()
        self._check_end(response)

    async def _read_guarded(self, response: httpx.Response) -> None:
        pieces = response.aiter_bytes()
        try:
            async with asyncio.timeout(self._timeouts.recv_timeout) as silence:
                with paced(response):
                    await self._read_pieces(pieces, silence)
            if self._is_done:
                _drain_later(response, pieces)
        except TimeoutError:
            if not silence.expired():
                raise
            if not self._assembler.finish_reason:
                code = "stream_stalled" if self._is_alive else "timeout_first_byte"
                raise AgentFailure(timeout_fault(code, self._target, self._timeouts)) from None
        except TooLongError:
            raise AgentFailure(self._bad_answer("more than 16 MB in one piece")) from None
        except httpx.HTTPError as error:
            if not self._assembler.finish_reason:
                raise AgentFailure(translate(error, self._target, self._timeouts, in_stream=True)) from error

    async def _read_pieces(self, pieces: AsyncIterator[bytes], silence: asyncio.Timeout) -> None:
        clock = asyncio.get_running_loop().time
        armed_at = float("-inf")
        async for data in pieces:
            events = self._reader.feed(data)
            if self._reader.kind == "document" and self._reader.document.lstrip().startswith(b"<"):
                raise AgentFailure(self._bad_answer("a web page"))
            if self._take(events):
                limit = self._silence_limit()
                slack = limit * _REARM_SHARE
                # Arming a timer for every token would cost more than reading it.
                if clock() - armed_at > slack or self._assembler.finish_reason:
                    armed_at = clock()
                    silence.reschedule(armed_at + limit + slack)
            if self._is_done:
                return
        self._take([event for event in self._reader.finish() if _is_whole(event)])

    def _silence_limit(self) -> float:
        stall = self._timeouts.stream_stall_timeout
        return min(stall, AFTER_FINISH_S) if self._assembler.finish_reason else stall

    def _take(self, events: list[SseEvent]) -> bool:
        """Feed events to the assembler and say whether any of them was a sign of life; comments never get here."""
        parts: list[AnyStreamPart] = []
        alive, assembler = False, self._assembler
        try:
            for event in events:
                if event.data.strip() == DONE:
                    self._is_done = True
                    break
                chunk = self._decode(event)
                parts += assembler.feed(chunk)
                # Gateways keep connections alive with chunks that have no choices, too.
                if chunk.get("choices"):
                    alive = True
                elif assembler.finish_reason and chunk.get("usage"):
                    self._is_done = True
        finally:
            if parts:
                self._on_parts(parts)
        self._is_alive = self._is_alive or alive
        return alive

    def _decode(self, event: SseEvent) -> dict[str, Any]:
        self._events += 1
        try:
            value = decode_json(event.data)
        except (ValueError, RecursionError):
            if event.name == "error":
                said = {"message": event.data.decode("utf-8", "replace")}
                raise AgentFailure(error_inside(said, self._target)) from None
            raise AgentFailure(self._bad_answer(f"“{_shown(event.data)}”")) from None
        if not isinstance(value, dict):
            raise AgentFailure(self._bad_answer(f"“{_shown(event.data)}”"))
        if value.get("error") or event.name == "error":
            raise AgentFailure(error_inside(value, self._target))
        return value

    def _check_end(self, response: httpx.Response) -> None:
        """Decide whether what has come is a whole answer."""
        assembler = self._assembler
        if self._reader.kind != "events" and not self._is_done:
            self._read_document(response)
        if assembler.finish_reason == "error":
            raise AgentFailure(fault("server_error", self._target, detail="it broke off with an error"))
        if assembler.finish_reason:
            return
        if self._events and not assembler.chunks:
            raise AgentFailure(self._bad_answer("events of another kind"))
        if self._is_done and not assembler.has_output:
            assembler.finish_reason = "stop"
        else:
            raise AgentFailure(fault("stream_cut", self._target, detail="there was no finish marker"))

    def _read_document(self, response: httpx.Response) -> None:
        """Take a plain JSON completion for an answer; anything else is none."""
        document = self._reader.document
        if not document.strip():
            raise AgentFailure(fault("stream_cut", self._target, detail="the answer was empty"))
        try:
            value = decode_json(document)
        except (ValueError, RecursionError):
            kind = response.headers.get("content-type", "unknown type").partition(";")[0]
            raise AgentFailure(self._bad_answer(f"“{_shown(document)}” ({kind})")) from None
        if isinstance(value, dict) and value.get("error"):
            raise AgentFailure(error_inside(value, self._target))
        if isinstance(value, dict):
            self._on_parts(self._assembler.feed(value) + self._assembler.finish())
        if not self._assembler.finish_reason:
            raise AgentFailure(self._bad_answer(f"“{_shown(document)}”"))

    def _bad_answer(self, detail: str) -> AgentError:
        return fault("bad_answer", self._target, detail=detail)


def _shown(data: bytes) -> str:
    return data[:200].decode("utf-8", "replace").strip()


def _is_whole(event: SseEvent) -> bool:
    """Say whether the last event of a body is all there; half of one is the sign of a cut, not garbage."""
    try:
        return event.data.strip() == DONE or decode_json(event.data) is not None
    except (ValueError, RecursionError):
        return False


def _drain_later(response: httpx.Response, pieces: AsyncIterator[bytes]) -> None:
    """Read the end of the body in the background, so that the connection can be used again."""
    task = asyncio.ensure_future(_drain(response, pieces))
    _drains.add(task)
    task.add_done_callback(_drains.discard)


async def _drain(response: httpx.Response, pieces: AsyncIterator[bytes]) -> None:
    try:
        with suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(_DRAIN_S):
                async for _ in pieces:
                    pass
    finally:
        await response.aclose()
