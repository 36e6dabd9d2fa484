"""What a session has spent: tokens by role, child and model, and the time in model, tools and waiting."""

import time
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
from smith_core.messages import Usage

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
