"""What a session has spent: tokens by role, child and model, and the time in model, tools and waiting."""

import time
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from smith_core.events import (
    AnyEvent,
    ChildEvent,
    MessageAdded,
    RequestStarted,
    RetryWaiting,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from smith_core.messages import Message, Usage
from smith_core.store.interface import TurnUsage

Phase = Literal["idle", "model", "tools", "waiting", "other"]


class Spender(msgspec.Struct, frozen=True):
    """Who used tokens; job_id: of a dispatched child, "" for a turn of the person's own."""

    role: str
    model: str
    job_id: str = ""


class TimeSpent(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of the session's own turns; what children do counts as tools."""

    model: float = 0.0
    tools: float = 0.0
    waiting: float = 0.0

    @property
    def total(self) -> float:
        """All of them together."""
        return self.model + self.tools + self.waiting


class Asked(msgspec.Struct, frozen=True):
    """What a dispatch call asks for, as far as it says whose tokens the child's are."""

    role: str = ""


def child_roles(messages: Iterable[Message]) -> dict[str, str]:
    """Return the roles of the children whose results are among these messages, by their job ids."""
    asked: dict[str, str] = {}
    roles: dict[str, str] = {}
    for message in messages:
        asked.update((call.id, call.arguments) for call in message.tool_calls)
        if message.metadata is not None and message.metadata.job_id:
            roles[message.metadata.job_id] = _role_in(asked.get(message.tool_call_id, ""))
    return roles


def saved_tokens(
    saved: Iterable[TurnUsage], roles: Mapping[str, str], models: Mapping[str, str]
) -> dict[Spender, Usage]:
    """Return who used what of the saved turns of a conversation; roles, models: of children by their job ids."""
    tokens: dict[Spender, Usage] = {}
    for one in saved:
        role, model = (roles.get(one.job_id), models.get(one.job_id, "")) if one.job_id else (one.role, one.model)
        spender = Spender(role or ("a child" if one.job_id else "an earlier turn"), model, one.job_id)
        tokens[spender] = tokens.get(spender, Usage()) + one.usage
    return tokens


def _role_in(arguments: str) -> str:
    try:
        return msgspec.json.decode(arguments, type=Asked).role
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""


class Spending:
    """Adds up what events tell; one for each session."""

    def __init__(self) -> None:
        self.tokens: dict[Spender, Usage] = {}
        self._seconds: dict[Phase, float] = {}
        self._phase: Phase = "idle"
        self._since = 0.0
        self._role = ""
        self._model = ""
        self._child_models: dict[str, str] = {}
        self._running_tools: set[str] = set()

    @property
    def time(self) -> TimeSpent:
        """The seconds so far."""
        seconds = self._seconds
        return TimeSpent(
            model=seconds.get("model", 0.0), tools=seconds.get("tools", 0.0), waiting=seconds.get("waiting", 0.0)
        )

    def note(self, event: AnyEvent, now: float | None = None) -> None:
        """Take one event in; `now` in seconds of any steady clock."""
        if isinstance(event, ChildEvent):
            self._note_child(event)
            return
        match event:
            case TurnStarted(role=role):
                self._role = role
                self._enter("other", now)
            case RequestStarted(model=model):
                self._model = model
                self._enter("model", now)
            case RetryWaiting():
                self._enter("waiting", now)
            case ToolStarted(call_id=call_id):
                self._running_tools.add(call_id)
                self._enter("tools", now)
            case ToolEnded(result=result):
                self._running_tools.discard(result.call_id)
                if not self._running_tools:
                    self._enter("other", now)
            case MessageAdded(message=message) if message.role == "assistant":
                self._enter("other", now)
            case UsageReported(usage=usage):
                self._add(Spender(self._role, self._model), usage)
            case TurnEnded():
                self._running_tools.clear()
                self._enter("idle", now)

    def _note_child(self, child: ChildEvent) -> None:
        match child.event:
            case RequestStarted(model=model):
                self._child_models[child.job_id] = model
            case UsageReported(usage=usage):
                self._add(Spender(child.role, self._child_models.get(child.job_id, ""), child.job_id), usage)

    def _add(self, spender: Spender, usage: Usage) -> None:
        self.tokens[spender] = self.tokens.get(spender, Usage()) + usage

    def _enter(self, phase: Phase, now: float | None) -> None:
        now = time.monotonic() if now is None else now
        if self._phase != "idle":
            self._seconds[self._phase] = self._seconds.get(self._phase, 0.0) + max(0.0, now - self._since)
        self._phase, self._since = phase, now
