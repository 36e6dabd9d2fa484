"""The window policy: what is elided, what is dropped, and what always stays."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.messages import Message, ToolCall
from smith_core.window import WindowLimits, elide, estimate_tokens, fit, message_chars

SYSTEM = Message(role="system", content="s" * 400)


def user(size: int = 50, mark: str = "u") -> Message:
    return Message(role="user", content=mark * size)


def tool_round(number: int, results: int = 2, size: int = 1500, recall_key: str = "") -> list[Message]:
    calls = tuple(ToolCall(f"r{number}c{index}", "read", "{}") for index in range(results))
    answers = [
        Message(role="tool", content=str(number % 10) * size, tool_call_id=call.id, recall_key=recall_key)
        for call in calls
    ]
    return [Message(role="assistant", tool_calls=calls), *answers]


def assert_valid(messages: tuple[Message, ...]) -> None:
    open_calls: set[str] = set()
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id in open_calls, "a result without its call"
            open_calls.discard(message.tool_call_id)
        else:
            assert not open_calls, "a call without its result"
            open_calls = {call.id for call in message.tool_calls}
    assert not open_calls


def test_old_large_results_are_elided_and_newer_ones_kept() -> None:
    history = [SYSTEM, user(), *(message for number in range(9) for message in tool_round(number))]
    elided, count = elide(history, WindowLimits(context_window=100_000))
    assert count == 4
    assert elided[3].content == "[elided 1500 chars of tool output]"
    assert elided[9].content == "2" * 1500
    assert history[3].content == "0" * 1500


def test_a_placeholder_names_the_way_back() -> None:
    history = [SYSTEM, user(), *tool_round(0, recall_key="dispatch/j1"), *tool_round(1)]
    elided, _ = elide(history, WindowLimits(context_window=100_000, keep_rounds=1))
    assert 'retrieve with recall(key="dispatch/j1")' in elided[3].content


def test_small_results_are_never_elided() -> None:
    history = [SYSTEM, user(), *tool_round(0, size=1024), *tool_round(1)]
    assert elide(history, WindowLimits(context_window=100_000, keep_rounds=0))[1] == 2
    assert elide(history, WindowLimits(context_window=100_000, keep_rounds=1))[1] == 0


def test_disabled_means_untouched() -> None:
    history = [SYSTEM, *(message for number in range(20) for message in (user(), *tool_round(number)))]
    fitted = fit(history, WindowLimits(context_window=10, enabled=False))
    assert fitted.messages == tuple(history)
    assert fitted.fits


def test_b17_whole_rounds_are_dropped_oldest_first() -> None:
    history = [SYSTEM]
    for number in range(6):
        history += [user(mark=str(number)), *tool_round(number)]
    history.append(user(mark="q"))
    fitted = fit(history, WindowLimits(context_window=2000, elide_over_chars=10_000))
    assert_valid(fitted.messages)
    assert fitted.tokens <= 1600
    assert fitted.messages[0] == SYSTEM
    assert fitted.messages[-1] == user(mark="q")
    assert [message.content[0] for message in fitted.messages[1:-1] if message.role == "user"] == ["5"]


def test_b17_a_long_turn_without_a_new_prompt_keeps_its_prompt_and_newest_rounds() -> None:
    history = [SYSTEM, user(mark="q")]
    for number in range(12):
        history += tool_round(number)
        fitted = fit(history, WindowLimits(context_window=2000, elide_over_chars=10_000))
        assert_valid(fitted.messages)
        assert fitted.fits
        assert fitted.messages[1] == user(mark="q")
        assert fitted.messages[-1] == history[-1]


def test_the_newest_round_is_shortened_rather_than_dropped() -> None:
    history = [SYSTEM, user(), *tool_round(0, results=1, size=50_000)]
    fitted = fit(history, WindowLimits(context_window=2000))
    assert fitted.fits
    assert "50000 chars" in fitted.messages[-1].content


def test_b18_a_prompt_that_can_never_fit_is_said_to_be_so() -> None:
    fitted = fit([SYSTEM, user(600_000)], WindowLimits(context_window=128_000))
    assert not fitted.fits


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    history = [SYSTEM]
    number = 0
    for _ in range(draw(st.integers(1, 8))):
        history.append(user(draw(st.integers(1, 300))))
        for _ in range(draw(st.integers(0, 5))):
            number += 1
            history += tool_round(number, draw(st.integers(1, 3)), draw(st.integers(1, 4000)))
        if draw(st.booleans()):
            history.append(Message(role="assistant", content="a" * draw(st.integers(1, 500))))
    return history


@settings(max_examples=300)
@given(histories(), st.integers(200, 20_000), st.integers(0, 8))
def test_the_invariants_hold_on_any_history(history: list[Message], window: int, keep: int) -> None:
    before = json.dumps([message.content for message in history])
    fitted = fit(history, WindowLimits(context_window=window, keep_rounds=keep))
    assert_valid(fitted.messages)
    assert fitted.messages[0] == history[0]
    last_user = [message for message in history if message.role == "user"][-1]
    assert last_user in fitted.messages
    must_stay = message_chars(SYSTEM) + message_chars(last_user)
    if must_stay <= WindowLimits(context_window=window).token_limit * 4:
        assert fitted.fits
    assert fitted.tokens == estimate_tokens(fitted.messages)
    assert before == json.dumps([message.content for message in history])
