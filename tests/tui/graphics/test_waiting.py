"""Which children wait: from the request of one until its first output or its end."""

import pytest

from smith_core.errors import AgentError
from smith_core.events import (
    AnyEvent,
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
    UsageReported,
)
from smith_core.messages import Message, TurnResult, Usage
from smith_tui.graphics.waiting import Waiting
from tests.support import children

ERROR = AgentError(kind="transport", code="stall", message="silence")
OVER = TurnResult(turn_id="t", conversation_id="c", role="direct", stop_reason="completed")
ANSWERS: list[AnyEvent] = [
    TextDelta(text="x"),
    ReasoningDelta(text="x"),
    ToolCallProgress(index=0, name="read", argument_chars=1),
    ToolStarted(call_id="c", name="read", arguments="{}"),
    MessageAdded(message=Message(role="assistant", content="x")),
    OutputDiscarded(),
    RetryWaiting(layer="transport", attempt=2, max_attempts=3, wait_s=8.0, error=ERROR),
    TurnEnded(result=OVER),
]


def asks(number: int, role: str) -> AnyEvent:
    request = RequestStarted(turn_id="t", model="m", source_role=role)
    return ChildEvent(job_id=f"j{number}", role=role, event=request)


def after(*events: AnyEvent) -> tuple[str, ...]:
    waiting = Waiting()
    for event in events:
        waiting.note(event)
    return waiting.palettes


@pytest.mark.parametrize("event", ANSWERS, ids=lambda event: type(event).__name__)
def test_a_child_waits_until_anything_comes_back(event: AnyEvent) -> None:
    used = ChildEvent(job_id="j1", role="worker", event=UsageReported(usage=Usage()))
    assert after(asks(1, "worker"), used) == ("cyan",)
    answered = [asks(1, "worker"), ChildEvent(job_id="j1", role="worker", event=event)]
    assert after(*answered) == ()
    assert after(*answered, asks(1, "worker")) == ("cyan",), "the next round waits again"


def test_children_mix_their_colours_each_once() -> None:
    four = [asks(1, "worker"), asks(2, "explorer"), asks(3, "worker"), asks(4, "explorer")]
    assert after(*four) == ("cyan", "violet")
    assert after(*four, *children.end(1), *children.end(3)) == ("violet",)
    assert after(*four, *(event for number in range(1, 5) for event in children.end(number))) == ()


def test_the_turn_itself_never_makes_it_rain_and_its_end_ends_the_rain() -> None:
    assert after(*children.turn(2), RequestStarted(turn_id="t", model="m")) == ()
    for event in (
        TurnEnded(result=OVER),
        ConversationLoaded(conversation_id="c", title="", messages=()),
        SessionChanged(role="direct", model="m", conversation_id="c", cleared=True),
    ):
        assert after(asks(1, "worker"), event) == ()
    assert after(asks(1, "worker"), SessionChanged(role="direct", model="m", conversation_id="c")) == ("cyan",)
