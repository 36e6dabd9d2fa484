"""Both retry layers around one round of the model: what is worth another try, how long to wait, and the runner.

The rules are those of decisions, section 6. The layer for transport failures is nested inside the one for empty
answers, so the worst case of the defaults is (1 + 2) x (1 + 2) calls.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, Literal

import msgspec

from smith_core.cancel import CANCELLED, CancelToken
from smith_core.config.schema import Config
from smith_core.errors import AgentError, AgentFailure, normalize
from smith_core.events import (
    Emit,
    OutputDiscarded,
    ReasoningDelta,
    RequestStarted,
    RetryWaiting,
    TextDelta,
    ToolCallProgress,
)
from smith_core.llm.deltas import estimate_usage
from smith_core.llm.faults import Target, fault
from smith_core.llm.protocol import (
    AnyStreamPart,
    Completion,
    ModelClient,
    ModelRequest,
    StreamDone,
    StreamReasoning,
    StreamText,
    StreamToolProgress,
)
from smith_core.llm.wire import request_chars
from smith_core.messages import Usage

LONGEST_RETRY_AFTER_S = 60.0
JITTER_SHARE = 0.1
Layer = Literal["transport", "empty_response"]


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often each layer tries again, and how long it waits before, in milliseconds; the last wait repeats."""

    transport_retries: int = 2
    transport_waits_ms: tuple[float, ...] = (2000.0, 8000.0)
    retry_after_output: bool = False
    empty_retries: int = 2
    empty_waits_ms: tuple[float, ...] = (500.0, 1000.0)

    @classmethod
    def from_config(cls, config: Config) -> "RetryPolicy":
        """Return the policy of a configuration."""
        return cls(
            transport_retries=config.llm_config.retry_max_retries,
            transport_waits_ms=config.llm_config.retry_backoff_ms,
            retry_after_output=config.llm_config.stream_retry_after_output,
            empty_retries=config.empty_response_retry_max_retries,
            empty_waits_ms=config.empty_response_retry_backoff_ms,
        )

    def allows(self, error: AgentError, retry: int, *, had_output: bool) -> bool:
        """Say whether the transport layer makes try number `retry` (from 1) after `error`."""
        if not error.retryable or retry > self.transport_retries:
            return False
        return self.retry_after_output or not had_output

    def transport_wait_s(self, retry: int, error: AgentError, jitter: float) -> float:
        """Return the seconds before retry number `retry` (from 1); `jitter` is between 0 and 1."""
        stated = _step(self.transport_waits_ms, retry) / 1000
        wait = stated * (1 + JITTER_SHARE * jitter)
        asked = error.data.get("retry_after_s")
        if isinstance(asked, int | float) and asked > stated:
            asked = min(float(asked), LONGEST_RETRY_AFTER_S)
            wait = max(wait, min(asked * (1 + JITTER_SHARE * jitter), LONGEST_RETRY_AFTER_S))
        return wait

    def empty_wait_s(self, retry: int, jitter: float) -> float:
        """Return the seconds before retry number `retry` (from 1) after an empty answer."""
        return _step(self.empty_waits_ms, retry) / 1000 * (1 + JITTER_SHARE * jitter)


def _step(waits: tuple[float, ...], retry: int) -> float:
    return waits[min(retry, len(waits)) - 1] if waits else 0.0


class CompletionOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a round ended: `completion`, or `error` and what had come of the last try before it.

    usage: of all tries together; estimated for those that broke off.
    """

    completion: Completion | None = None
    error: AgentError | None = None
    partial_text: str = ""
    partial_reasoning: str = ""
    usage: Usage = Usage()


def is_empty(completion: Completion) -> bool:
    """Say whether an answer holds neither text nor a call; reasoning alone is no answer."""
    return not completion.text.strip() and not completion.tool_calls


async def request_completion(  # noqa: PLR0917
    client: ModelClient,
    request: ModelRequest,
    policy: RetryPolicy,
    token: CancelToken,
    emit: Emit,
    turn_id: str,
    source_role: str | None = None,
    *,
    jitter: Callable[[], float] | None = None,
) -> CompletionOutcome:
    """Ask the model until it answers, the policy is exhausted, or the token is cancelled; never raises AgentFailure.

    Emits RequestStarted, the deltas, RetryWaiting, and OutputDiscarded before output that was shown is asked for again.
    """
    return await _Round(
        client=client,
        request=request,
        policy=policy,
        token=token,
        emit=emit,
        turn_id=turn_id,
        source_role=source_role,
        jitter=jitter or _any_share,
        attempt=_Attempt(emit),
    ).run()


def _any_share() -> float:
    import random  # most rounds need no second try

    return random.random()


class _Round(msgspec.Struct, kw_only=True):
    """The working state of one round."""

    client: ModelClient
    request: ModelRequest
    policy: RetryPolicy
    token: CancelToken
    emit: Emit
    turn_id: str
    source_role: str | None
    jitter: Callable[[], float]
    calls: int = 0
    usage: Usage = Usage()
    attempt: "_Attempt"

    async def run(self) -> CompletionOutcome:
        try:
            completion = await self._until_not_empty()
        except AgentFailure as caught:
            return CompletionOutcome(
                error=caught.error,
                partial_text=self.attempt.text,
                partial_reasoning=self.attempt.reasoning,
                usage=self.usage,
            )
        return CompletionOutcome(completion=completion, usage=self.usage)

    async def _until_not_empty(self) -> Completion:
        retry = 0
        while True:
            completion = await self._until_complete()
            if not is_empty(completion):
                return completion
            error = _empty_error(self.request.model, retry + 1, completion.finish_reason)
            self._discard()
            retry += 1
            if retry > self.policy.empty_retries:
                raise AgentFailure(error)
            wait = self.policy.empty_wait_s(retry, self.jitter())
            await self._wait("empty_response", retry, self.policy.empty_retries, wait, error)

    async def _until_complete(self) -> Completion:
        retry = 0
        while True:
            try:
                return await self._ask()
            except AgentFailure as caught:
                retry += 1
                error = caught.error
                if error.kind == "cancelled" or self.token.is_cancelled:
                    raise AgentFailure(CANCELLED) from None
                if not self.policy.allows(error, retry, had_output=self.attempt.was_shown):
                    raise
            self._discard()
            wait = self.policy.transport_wait_s(retry, error, self.jitter())
            await self._wait("transport", retry, self.policy.transport_retries, wait, error)

    async def _ask(self) -> Completion:
        """Make one call; AgentFailure when it does not end with a whole answer."""
        self.token.check()
        self.calls += 1
        self.attempt = _Attempt(self.emit)
        self.emit(
            RequestStarted(
                turn_id=self.turn_id, model=self.request.model, attempt=self.calls, source_role=self.source_role
            )
        )
        completion: Completion | None = None
        try:
            completion = await _cancellable(self._read(), self.token)
            return completion
        finally:
            self.usage += completion.usage if completion else self._broken_usage()

    async def _read(self) -> Completion:
        parts = self.client.stream(self.request)
        try:
            async for part in parts:
                if isinstance(part, StreamDone):
                    return part.completion
                self.attempt.show(part)
        except AgentFailure:
            raise
        except Exception as error:
            raise AgentFailure(normalize(error, origin="llm")) from error
        finally:
            if isinstance(parts, AsyncGenerator):
                await parts.aclose()
        raise AgentFailure(fault("stream_cut", Target(model=self.request.model), detail="it ended without an end"))

    def _broken_usage(self) -> Usage:
        written = len(self.attempt.text) + len(self.attempt.reasoning) + self.attempt.argument_chars
        return estimate_usage(request_chars(self.request), written) if written else Usage(requests=1)

    def _discard(self) -> None:
        if self.attempt.was_shown:
            self.emit(OutputDiscarded())
        self.attempt = _Attempt(self.emit)

    async def _wait(self, layer: Layer, retry: int, retries: int, wait_s: float, error: AgentError) -> None:
        self.emit(RetryWaiting(layer=layer, attempt=retry + 1, max_attempts=retries + 1, wait_s=wait_s, error=error))
        await self.token.sleep(wait_s)


class _Attempt:
    """What one call has sent so far; text is shown from the first character on that is no blank."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._pieces: list[str] = []
        self._reasoning: list[str] = []
        self._argument_chars: dict[int, int] = {}
        self._shows_text = False
        self.was_shown = False

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return "".join(self._reasoning)

    @property
    def argument_chars(self) -> int:
        """Characters of arguments so far, of all calls."""
        return sum(self._argument_chars.values())

    def show(self, part: AnyStreamPart) -> None:
        """Report one part."""
        match part:
            case StreamText():
                self._show_text(part.text)
            case StreamReasoning():
                self._reasoning.append(part.text)
                self._report(ReasoningDelta(text=part.text))
            case StreamToolProgress():
                self._argument_chars[part.index] = part.argument_chars
                self._report(ToolCallProgress(index=part.index, name=part.name, argument_chars=part.argument_chars))

    def _show_text(self, text: str) -> None:
        self._pieces.append(text)
        if self._shows_text:
            self._report(TextDelta(text=text))
        elif text.strip():
            self._shows_text = True
            self._report(TextDelta(text=self.text))

    def _report(self, event: TextDelta | ReasoningDelta | ToolCallProgress) -> None:
        self.was_shown = True
        self._emit(event)


async def _cancellable(work: Coroutine[Any, Any, Completion], token: CancelToken) -> Completion:
    """Await `work`, but end it and raise AgentFailure of kind cancelled as soon as the token is cancelled."""
    task = asyncio.ensure_future(work)

    def stop() -> None:
        task.cancel()

    unsubscribe = token.on_cancel(stop)
    try:
        return await task
    except asyncio.CancelledError:
        waiting = asyncio.current_task()
        if token.is_cancelled and not (waiting and waiting.cancelling()):
            raise AgentFailure(CANCELLED) from None
        raise
    finally:
        unsubscribe()
        task.cancel()


def _empty_error(model: str, attempts: int, finish_reason: str) -> AgentError:
    times = "once" if attempts == 1 else f"{attempts} times"
    hint = "ask in other words, or choose another model with /model or --model"
    if finish_reason == "length":
        hint = (
            "its output limit was used up before the answer; ask for less, "
            "or choose another model with /model or --model"
        )
    return AgentError(
        kind="protocol",
        code="empty_response",
        message=f"{model} answered {times} without any text or tool call; {hint}",
        origin="llm",
        data={"attempts": attempts, "finish_reason": finish_reason},
    )
