"""What follows a request that was too long: smaller by a quarter, or nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.errors import AgentError
from smith_core.llm.context_sizes import ContextSizes
from smith_core.llm.retry import CompletionOutcome
from smith_core.llm.wire import message_json
from smith_core.messages import Message
from smith_core.overflow import MOST_LEFT, ask_within_window, smaller_fit
from smith_core.window import WindowLimits, fit
from tests.core.test_window import LIMITS, SYSTEM, assert_valid, histories, tool_round, user

TOO_LONG = AgentError(kind="protocol", code="context_too_long", message="too long")
SIZES = st.builds(ContextSizes, limit=st.none() | st.integers(0, 10**8), counted=st.none() | st.integers(0, 10**8))


def wire_chars(messages: tuple[Message, ...]) -> int:
    return sum(len(str(message_json(message))) for message in messages)


@settings(max_examples=150)
@given(histories(), LIMITS, SIZES)
def test_what_follows_is_valid_and_a_quarter_smaller(
    history: list[Message], limits: WindowLimits, told: ContextSizes
) -> None:
    refused = fit(history, limits)
    if not refused.fits or not refused.messages:
        return
    smaller = smaller_fit(history, refused, limits, told)
    if smaller is None:
        return
    fitted, tighter = smaller
    assert fitted.tokens <= refused.tokens * MOST_LEFT
    assert_valid(fitted.messages)
    assert refused.messages[-1].role == fitted.messages[-1].role
    assert [message for message in fitted.messages if message.role == "user"][-1:] == [
        message for message in history if message.role == "user"
    ][-1:]
    assert not fitted.fits or fit(history, tighter) == fitted


async def test_many_small_messages_are_a_quarter_smaller_on_the_wire_too() -> None:
    sent: list[tuple[Message, ...]] = []

    async def refuse(messages: tuple[Message, ...]) -> CompletionOutcome:
        sent.append(messages)
        return CompletionOutcome(error=TOO_LONG)

    history = [SYSTEM, user(20_000), Message(role="assistant", content="ok")]
    for number in range(300):
        history += [user(3), *tool_round(number, results=1, size=3)]
    history.append(user())
    limits = WindowLimits(context_window=128_000)
    outcome, kept = await ask_within_window(history, limits, refuse, lambda text: None)
    assert kept == limits, "what did not help is not remembered"
    sizes = [wire_chars(messages) for messages in sent]
    assert len(sizes) == 3
    assert sizes[1] <= sizes[0] * MOST_LEFT and sizes[2] <= sizes[1] * MOST_LEFT
    assert outcome.error is not None and outcome.error.code == "context_too_long"


async def test_text_that_was_shown_is_not_asked_for_again() -> None:
    async def break_off(messages: tuple[Message, ...]) -> CompletionOutcome:
        return CompletionOutcome(error=TOO_LONG, partial_text="half an ans")

    history = [SYSTEM, *(user() for _ in range(50))]
    outcome, limits = await ask_within_window(
        history, WindowLimits(context_window=128_000), break_off, lambda text: None
    )
    assert outcome == CompletionOutcome(error=TOO_LONG, partial_text="half an ans")
    assert limits.most_tokens is None


async def test_a_refusal_that_leaves_no_room_for_a_prompt_is_not_the_last_word() -> None:
    sent: list[tuple[Message, ...]] = []

    async def refuse_once(messages: tuple[Message, ...]) -> CompletionOutcome:
        sent.append(messages)
        return CompletionOutcome(error=TOO_LONG if len(sent) == 1 else None)

    history = [SYSTEM, user(200), Message(role="assistant", content="ok"), user()]
    limits = WindowLimits(context_window=128_000)
    for _ in range(3):
        outcome, limits = await ask_within_window(history, limits, refuse_once, lambda text: None)
        assert outcome.error is None
        history += [Message(role="assistant", content="ok"), user()]
    assert len(sent) == 4
