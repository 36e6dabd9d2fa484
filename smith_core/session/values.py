"""The frozen values that a session hands out: where it stands, and what a turn works with."""

from typing import Literal

import msgspec

from smith_core.cancel import CancelToken
from smith_core.config.schema import Config
from smith_core.errors import AgentError
from smith_core.messages import Message, prompt_message
from smith_core.model import ModelChoice
from smith_core.project import Project
from smith_core.services import Services
from smith_core.text import clean_text

Status = Literal["created", "running", "stopped", "failed"]


class SessionState(msgspec.Struct, frozen=True, kw_only=True):
    """Where the session stands; times in seconds since the epoch."""

    status: Status = "created"
    started_at: float | None = None
    stopped_at: float | None = None
    stop_reason: str | None = None
    error: AgentError | None = None


class ExecutionContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn sees of the session, fixed when the turn begins."""

    session_id: str
    active_role: str
    conversation_id: str
    config_snapshot: Config
    service_handles: Services


class TurnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the person asked for; `choice` may name a model for this turn. attached: files that go along, as text."""

    text: str
    choice: ModelChoice = ModelChoice()
    attached: str = ""


class TurnScope(msgspec.Struct, frozen=True, kw_only=True):
    """The place where a turn works."""

    cwd: str
    project: Project


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that has begun."""

    turn_id: str
    token: CancelToken
    request: TurnRequest
    context: ExecutionContext
    started_at: float

    @property
    def prompt(self) -> Message:
        """The message that the turn begins with."""
        return prompt_message(clean_text(self.request.text), clean_text(self.request.attached), self.started_at)


class Listed(msgspec.Struct, frozen=True):
    """What a number of the list shown last means: a conversation, and the message in it, 0 for the end.

    job_id: of the dispatched child that is meant; then the place is where the conversation dispatched it.
    """

    conversation_id: str
    sequence: int = 0
    job_id: str = ""
