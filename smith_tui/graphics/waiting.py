"""Which dispatched children wait for their model: what happens, taken one after the other."""

from smith_core.events import (
    AnyEvent,
    ChildEnded,
    ChildEvent,
    ConversationLoaded,
    MessageAdded,
    OutputDiscarded,
    ReasoningDelta,
    RequestStarted,
    RetryWaiting,
    SessionChanged,
    TextDelta,
    ToolCallProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from smith_tui.who import palette_of

_ANSWERS = (
    MessageAdded,
    OutputDiscarded,
    ReasoningDelta,
    RetryWaiting,
    TextDelta,
    ToolCallProgress,
    ToolStarted,
    TurnEnded,
)
"""What happens inside a child when a request is no longer without any answer."""


class Waiting:
    """The children whose request has no answer yet."""

    def __init__(self) -> None:
        self._roles: dict[str, str] = {}

    @property
    def palettes(self) -> tuple[str, ...]:
        """The palettes (`RoleSpec.palette`) of those that wait, each once, in a steady order."""
        return tuple(sorted({palette_of(role) for role in self._roles.values()}))

    def note(self, event: AnyEvent) -> None:
        """Take an event of the session; the requests of the turn itself do not count."""
        match event:
            case ChildEvent(job_id=job_id, event=RequestStarted(source_role=str(role))):
                self._roles[job_id] = role
            case ChildEvent(job_id=job_id, event=inner) if isinstance(inner, _ANSWERS):
                self._roles.pop(job_id, None)
            case ChildEnded(job_id=job_id):
                self._roles.pop(job_id, None)
            case TurnStarted() | TurnEnded() | ConversationLoaded() | SessionChanged(cleared=True):
                self._roles.clear()
            case _:
                pass
