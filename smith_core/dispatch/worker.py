"""Runs the children of one turn: side by side up to a limit, each isolated, each ending in a result."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from smith_core.cancel import CANCELLED, CancelToken
from smith_core.dispatch.job import DispatchJob, build_job, job_prompt, target_role_of
from smith_core.dispatch.result import note_call, report_in, reported, unreported
from smith_core.dispatch.service import DispatchService, LiveChild
from smith_core.errors import AgentError, AgentFailure, normalize
from smith_core.events import (
    AnyEvent,
    ChildEnded,
    ChildEvent,
    ChildStarted,
    Emit,
    MessageAdded,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from smith_core.frozen import encode_hook
from smith_core.ids import new_id
from smith_core.log import LOGGER
from smith_core.messages import Message, StopReason, Usage
from smith_core.report import DispatchResult
from smith_core.tools.dispatch import DispatchArguments

NUDGE = (
    "You have ended your turn without calling `report`, and nothing else of your work reaches the agent that waits for "
    "it. If something of the task is left, do it now; then call `report`, alone and last."
)
"""What a child is told, once, that stops without a report."""

SCRATCHPAD_FOLDER = "dispatch/"
"""What the scratchpad keys of results begin with."""


class ChildOutput(Protocol):
    """How a turn of a child ended; `turn.TurnOutput` is one."""

    @property
    def stop_reason(self) -> StopReason:
        """Why it stopped."""

    @property
    def error(self) -> AgentError | None:
        """What went wrong."""

    @property
    def tool_calls(self) -> int:
        """How many calls it made."""


class ChildTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a child as it is to be run, isolated from its parent.

    history: what the child itself has said before. calls_before: tool calls that its budget has paid for already.
    """

    job: DispatchJob
    session_id: str
    conversation_id: str
    turn_id: str
    text: str
    history: tuple[Message, ...]
    calls_before: int
    emit: Emit


class ParentTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What children need of the turn that dispatches them.

    run_child: runs one turn of a child to its end. keep_note: keeps a text in the parent's scratchpad; both may raise
    AgentFailure. count: takes the usage of one model call, and the role that made it.
    """

    turn_id: str
    role: str
    conversation_id: str
    token: CancelToken
    max_parallel: int
    emit: Emit
    run_child: Callable[[ChildTurn], Awaitable[ChildOutput]]
    keep_note: Callable[[str, str], Awaitable[object]]
    count: Callable[[Usage, str], None]


class Children:
    """The children of one turn; used on one event loop."""

    def __init__(self, parent: ParentTurn, service: DispatchService) -> None:
        self._parent = parent
        self._service = service
        self._room = asyncio.Semaphore(parent.max_parallel)
        self.job_ids: list[str] = []

    async def dispatch(self, arguments: DispatchArguments, call_id: str) -> DispatchResult:
        """Run the child that a call asks for; AgentFailure for a job that cannot be given, nothing else is raised."""
        refusal = self._service.refuse(self._parent.role, target_role_of(arguments))
        if refusal is not None:
            raise AgentFailure(refusal)
        job = build_job(arguments, new_id(), self._parent.turn_id, self._parent.token)
        child = self._service.begin(job.job_id, job.cancel_token)
        self.job_ids.append(job.job_id)
        try:
            if not await self._has_room(job):
                return unreported(job.target_role, child, "cancelled", CANCELLED)
            try:
                return await self._run(job, child, call_id)
            finally:
                self._room.release()
        finally:
            child.is_over = True
            job.cancel_token.release()

    async def _has_room(self, job: DispatchJob) -> bool:
        """Wait for room; say whether there was some before the job was cancelled."""
        waiting = asyncio.ensure_future(self._room.acquire())

        def give_up() -> None:
            waiting.cancel()

        unsubscribe = job.cancel_token.on_cancel(give_up)
        try:
            return await waiting
        except asyncio.CancelledError:
            job.cancel_token.request()
            return False
        finally:
            unsubscribe()

    async def _run(self, job: DispatchJob, child: LiveChild, call_id: str) -> DispatchResult:
        started = time.monotonic()
        emit = self._parent.emit
        emit(
            ChildStarted(job_id=job.job_id, call_id=call_id, role=job.target_role, task=job.task, model=job.model or "")
        )
        try:
            result = await self._work(job, child)
        except asyncio.CancelledError:
            job.cancel_token.request()
            result = unreported(job.target_role, child, "cancelled", CANCELLED)
        except Exception as caught:  # noqa: BLE001 - whatever it is, the parent is told and goes on
            error = normalize(caught, origin="dispatch")
            if not isinstance(caught, AgentFailure):
                LOGGER.exception("child %s broke", job.job_id)
            result = unreported(job.target_role, child, "cancelled" if error.kind == "cancelled" else "error", error)
        child.is_over = True
        result = await self._kept(result)
        duration = round(time.monotonic() - started, 3)
        LOGGER.info("child %s (%s) %s after %.1f s", job.job_id, result.role, result.status, duration)
        emit(
            ChildEnded(
                job_id=job.job_id, call_id=call_id, result=result, duration_s=duration, tool_calls=child.tool_calls
            )
        )
        return result

    async def _work(self, job: DispatchJob, child: LiveChild) -> DispatchResult:
        """Run the child's turn, and one more if it stops without a report."""
        for text in (job_prompt(job), NUDGE):
            output = await self._parent.run_child(self._turn_of(job, child, text))
            child.tool_calls += output.tool_calls
            report = report_in(child.messages)
            if report is not None:
                return reported(job.target_role, child, report)
            if output.stop_reason != "completed":
                break
        return unreported(job.target_role, child, output.stop_reason, output.error)

    def _turn_of(self, job: DispatchJob, child: LiveChild, text: str) -> ChildTurn:
        def emit(event: AnyEvent) -> None:
            if isinstance(event, MessageAdded):
                child.messages.append(event.message)
            elif isinstance(event, ToolStarted | ToolEnded):
                note_call(child, event)
            elif isinstance(event, UsageReported):
                child.usage += event.usage
                self._parent.count(event.usage, job.target_role)
            self._parent.emit(ChildEvent(job_id=job.job_id, role=job.target_role, event=event))

        return ChildTurn(
            job=job,
            session_id=f"session-child-{job.job_id}",
            conversation_id=f"{self._parent.conversation_id}:child:{job.job_id}",
            turn_id=f"turn-child-{job.job_id}",
            text=text,
            history=tuple(child.messages),
            calls_before=child.tool_calls,
            emit=emit,
        )

    async def _kept(self, result: DispatchResult) -> DispatchResult:
        """Keep a result in the parent's scratchpad, and name the key in it if that succeeded."""
        key = SCRATCHPAD_FOLDER + result.job_id
        try:
            text = msgspec.json.format(msgspec.json.encode(result, enc_hook=encode_hook), indent=1).decode()
            await self._parent.keep_note(key, text)
        except Exception as caught:  # noqa: BLE001 - a result that cannot be kept is a result all the same
            LOGGER.warning("the result of child %s could not be kept: %s", result.job_id, caught)
            return result
        return msgspec.structs.replace(result, recall_key=key)
