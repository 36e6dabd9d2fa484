"""Whether a tool that changes things may run: by itself, after the person was asked, or not at all."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from smith_core.cancel import CancelToken
from smith_core.errors import AgentError
from smith_core.events import Emit, PermissionAnswer, PermissionAnswered, PermissionRequested
from smith_core.messages import ToolCall

PASSES_ON = frozenset({"dispatch"})
"""Tools that change things only through the calls of others, each of which is asked for by itself."""

_SAME: Mapping[str, tuple[str, str]] = {
    "bash": ("command", "this command"),
    "edit": ("path", "this file"),
    "write": ("path", "this file"),
}
"""Which argument makes two calls of a tool the same to a person, and the words for it; else all arguments do."""

_DENIED = (
    "the person did not allow this call, and nothing was run; do not try the same thing in another way: "
    "go on without it, or say what you need and why"
)
_READ_ONLY = (
    "nothing may be changed in this session (tools.permission is read-only), so {name} was not run; say what you "
    "would change. The person can allow it with /config set tools.permission ask"
)
_UNATTENDED = (
    "{name} was not run: tools.permission is ask, and here is nobody who could answer; start with "
    "--set tools.permission=auto to allow it, or open the screen"
)

Permit = Callable[[ToolCall, Any], Awaitable[AgentError | None]]
"""Takes a call and its decoded arguments; returns why it may not run, None when it may or was cancelled meanwhile."""


class Asker(msgspec.Struct, frozen=True, kw_only=True):
    """Who wants to run a call; job_id: of a dispatched child, "" for the turn itself."""

    role: str
    token: CancelToken
    emit: Emit
    job_id: str = ""


class Permissions:
    """Asks one question at a time, and remembers the answers that are for the whole session.

    mode: the value of `tools.permission`, looked up for each call. is_attended: whether somebody can answer.
    """

    def __init__(self, mode: Callable[[], str]) -> None:
        self.is_attended = False
        self._mode = mode
        self._tools: set[str] = set()
        self._same: set[tuple[str, str]] = set()
        self._one_at_a_time = asyncio.Lock()
        self._question: tuple[str, str] | None = None
        self._answer: asyncio.Future[PermissionAnswer] | None = None

    def permit_for(self, asker: Asker) -> Permit:
        """Return what decides on the calls of one turn."""

        async def permit(call: ToolCall, arguments: Any) -> AgentError | None:
            return await self._decide(call, arguments, asker)

        return permit

    def answer(self, call_id: str, answer: PermissionAnswer, job_id: str = "") -> bool:
        """Answer the question that is open; say whether it was this one."""
        if self._answer is None or self._answer.done() or self._question != (job_id, call_id):
            return False
        self._answer.set_result(answer)
        return True

    def mode_changed(self) -> None:
        """Forget what was allowed for the session; a question that is open is answered by a mode that asks nothing."""
        self._tools.clear()
        self._same.clear()
        mode = self._mode()
        if mode != "ask" and self._answer is not None and not self._answer.done():
            self._answer.set_result("once" if mode == "auto" else "deny")

    async def _decide(self, call: ToolCall, arguments: Any, asker: Asker) -> AgentError | None:
        subject, words = _subject(call, arguments)
        if self._is_free(call.name, subject):
            return None
        if self._mode() == "read-only":
            return _refusal("read_only", _READ_ONLY.format(name=call.name))
        if not self.is_attended:
            return _refusal("nobody_to_ask", _UNATTENDED.format(name=call.name))
        answer = await _unless_cancelled(asker.token, self._ask(call, subject, words, asker))
        if answer is not None and self._mode() == "read-only":
            return _refusal("read_only", _READ_ONLY.format(name=call.name))
        return _refusal("permission_denied", _DENIED) if answer == "deny" else None

    def _is_free(self, name: str, subject: str) -> bool:
        mode = self._mode()
        is_allowed = name in self._tools or (name, subject) in self._same
        return mode == "auto" or name in PASSES_ON or (mode == "ask" and is_allowed)

    async def _ask(self, call: ToolCall, subject: str, words: str, asker: Asker) -> PermissionAnswer:
        async with self._one_at_a_time:
            # An answer to the question before may have covered this call, or the mode may be another one by now.
            if self._is_free(call.name, subject):
                return "once"
            if self._mode() == "read-only":
                return "deny"
            answer: PermissionAnswer | None = None
            self._question = (asker.job_id, call.id)
            self._answer = asyncio.get_running_loop().create_future()
            asker.emit(
                PermissionRequested(
                    call_id=call.id,
                    name=call.name,
                    arguments=call.arguments,
                    covers=words,
                    role=asker.role,
                    job_id=asker.job_id,
                )
            )
            try:
                answer = await self._answer
            finally:
                self._question = self._answer = None
                asker.emit(PermissionAnswered(call_id=call.id, answer=answer, job_id=asker.job_id))
            if answer == "tool":
                self._tools.add(call.name)
            elif answer == "same":
                self._same.add((call.name, subject))
            return answer


def _subject(call: ToolCall, arguments: Any) -> tuple[str, str]:
    """Return what makes another call the same as this one, and the words for it."""
    field, words = _SAME.get(call.name, ("", "this call"))
    value = getattr(arguments, field, None) if field else None
    return (value, words) if isinstance(value, str) else (call.arguments, "this call")


def _refusal(code: str, message: str) -> AgentError:
    return AgentError(kind="policy", code=code, message=message, origin="permission")


async def _unless_cancelled(token: CancelToken, asking: Awaitable[PermissionAnswer]) -> PermissionAnswer | None:
    """Return the answer, None as soon as the token is cancelled."""
    task = asyncio.ensure_future(asking)

    def give_up() -> None:
        task.cancel()

    unsubscribe = token.on_cancel(give_up)
    try:
        return await task
    except asyncio.CancelledError:
        if not token.is_cancelled:
            raise
        return None
    finally:
        unsubscribe()
