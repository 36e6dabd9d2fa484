"""The window policy: what is elided, what is dropped, and what always stays."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.messages import Message, ToolCall
from smith_core.store.repair import repair
from smith_core.weighing import Weights, message_quarters
from smith_core.window import FittedWindow, WindowLimits, estimate_tokens, fit, without_stranded
from smith_core.window_cut import cut_to_size
from tests.bench.counting import calls_in

SYSTEM = Message(role="system", content="s" * 400)
ROOMY = 1_000_000


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
    fitted = fit(history, WindowLimits(context_window=ROOMY))
    assert fitted.elided == 4
    assert fitted.messages[3].content == "[elided 1500 chars of tool output]"
    assert fitted.messages[9].content == "2" * 1500
    assert history[3].content == "0" * 1500


def test_a_placeholder_names_the_way_back() -> None:
    history = [SYSTEM, user(), *tool_round(0, recall_key="dispatch/j1"), *tool_round(1)]
    fitted = fit(history, WindowLimits(context_window=ROOMY, keep_rounds=1))
    assert fitted.messages[3].content == ('[elided 1500 chars of tool output; retrieve with recall(key="dispatch/j1")]')


def test_small_results_are_never_elided() -> None:
    history = [SYSTEM, user(), *tool_round(0, size=1024), *tool_round(1)]
    assert fit(history, WindowLimits(context_window=ROOMY, keep_rounds=0)).elided == 2
    assert fit(history, WindowLimits(context_window=ROOMY, keep_rounds=1)).elided == 0


@pytest.mark.parametrize("over", [0, 10, 40])
def test_a_placeholder_is_not_elided_again(over: int) -> None:
    limits = WindowLimits(context_window=ROOMY, keep_rounds=0, elide_over_chars=over)
    once = fit([SYSTEM, user(), *tool_round(0, recall_key="dispatch/j1")], limits)
    assert once.elided == 2
    assert fit(once.messages, limits).messages == once.messages


def test_disabled_means_untouched() -> None:
    history = [SYSTEM, *(message for number in range(20) for message in (user(), *tool_round(number)))]
    fitted = fit(history, WindowLimits(context_window=10, enabled=False))
    assert fitted.messages == tuple(history)
    assert fitted.fits


def test_the_newest_round_is_shortened_rather_than_dropped() -> None:
    history = [SYSTEM, user(), *tool_round(0, results=1, size=50_000)]
    fitted = fit(history, WindowLimits(context_window=2000))
    assert fitted.fits
    assert "50000 chars" in fitted.messages[-1].content
    assert 2000 < len(fitted.messages[-1].content) < 6400


def test_a_call_with_giant_arguments_is_remembered_by_its_size() -> None:
    call = ToolCall("c1", "write", msgspec.json.encode({"path": "a", "content": "x" * 50_000}).decode())
    history = [SYSTEM, user(), Message(role="assistant", tool_calls=(call,))]
    history.append(Message(role="tool", tool_call_id="c1", content="written"))
    fitted = fit(history, WindowLimits(context_window=2000))
    assert fitted.fits
    assert_valid(fitted.messages)
    assert msgspec.json.decode(fitted.messages[-2].tool_calls[0].arguments) == {"elided": "50025 chars of arguments"}
    assert fitted.messages[-1].content == "written"


def test_after_a_giant_turn_its_prompt_and_end_are_still_there() -> None:
    history = [SYSTEM, user(mark="old")]
    for number in range(9):
        history += tool_round(number)
    answer = Message(role="assistant", content="all done")
    history += [answer, user(mark="q")]
    fitted = fit(history, WindowLimits(context_window=1900, elide_over_chars=10_000))
    assert fitted.messages == (SYSTEM, history[1], *history[-5:-2], answer, user(mark="q"))


def test_what_was_just_done_stays_when_the_person_speaks_in_the_middle_of_a_turn() -> None:
    history = [SYSTEM, user(mark="first"), *tool_round(0), *tool_round(1, results=1, size=50_000), user(mark="wait")]
    fitted = fit(history, WindowLimits(context_window=2000))
    assert fitted.fits
    assert [message.role for message in fitted.messages] == ["system", "user", "assistant", "tool", "user"]
    assert fitted.messages[1] == history[1]
    assert "50000 chars" in fitted.messages[3].content


def test_a_round_without_any_room_is_said_not_to_fit() -> None:
    history = [SYSTEM, user(1180), *tool_round(0, results=4)]
    assert not fit(history, WindowLimits(context_window=500)).fits


def test_b18_a_prompt_that_can_never_fit_is_said_to_be_so() -> None:
    fitted = fit([SYSTEM, user(600_000)], WindowLimits(context_window=128_000))
    assert not fitted.fits


def test_prompts_without_an_answer_do_not_crowd_out_the_next() -> None:
    limits = WindowLimits(context_window=2000)
    giant, a, b, now = user(600_000), user(1500, "a"), user(1800, "b"), user(100, "c")
    answered = [a, Message(role="assistant", content="hi")]
    assert without_stranded([SYSTEM, giant, *answered, giant, now], limits) == (SYSTEM, *answered, now)
    assert without_stranded([a, b, now], limits) == (b, now), "half of 6,400 characters"
    assert without_stranded([giant], limits) == (giant,)
    disabled = WindowLimits(context_window=2000, enabled=False)
    assert without_stranded([giant, now], disabled) == (giant, now)


def test_tool_definitions_share_the_rest_with_the_answer() -> None:
    assert WindowLimits(context_window=10_000, tool_tokens=2000).token_limit == 8000
    assert WindowLimits(context_window=10_000, tool_tokens=3000).token_limit == 7000
    assert WindowLimits(context_window=10_000, tool_tokens=7900).token_limit == 4000
    assert WindowLimits(context_window=10_000, tool_tokens=8000).token_limit == 8000
    assert WindowLimits(context_window=10_000, tool_tokens=3000, most_tokens=500).token_limit == 500


def test_reasoning_counts_where_it_is_sent() -> None:
    thought = msgspec.structs.replace(tool_round(0, size=0)[0], reasoning="r" * 4000)
    plain, echoed = (WindowLimits(context_window=ROOMY, counts_reasoning=echo) for echo in (False, True))
    assert estimate_tokens([thought], echoed) == estimate_tokens([thought], plain) + 1000


def test_the_system_message_comes_first_wherever_it_was() -> None:
    later = Message(role="system", content="second")
    history = [user(mark="a"), SYSTEM, *tool_round(0), later, user(mark="b"), *tool_round(1)]
    fitted = fit(history, WindowLimits(context_window=ROOMY))
    assert fitted.messages == (SYSTEM, history[0], *history[2:])
    small = fit(history, WindowLimits(context_window=1085))
    assert small.messages == (SYSTEM, user(mark="b"), *history[-3:])


TEXTS = st.sampled_from(["", " ", "x", "word ", "上下文", "😀", "aB3$", "0123456789", "é"])


@st.composite
def texts(draw: st.DrawFn, most: int = 3000) -> str:
    return draw(TEXTS) * draw(st.integers(0, most))


@st.composite
def rounds(draw: st.DrawFn, number: int) -> list[Message]:
    ids = [f"r{number}c{index}" for index in range(draw(st.integers(0, 4)))]
    if not ids:
        return [Message(role="assistant", content=draw(texts()))]
    calls = tuple(ToolCall(call_id, "read", f'{{"path":"{draw(texts(300))}"}}') for call_id in ids)
    keys = st.sampled_from(["", "dispatch/j1"])
    results = [
        Message(role="tool", content=draw(texts()), tool_call_id=call_id, recall_key=draw(keys)) for call_id in ids
    ]
    return [Message(role="assistant", content=draw(texts(200)), tool_calls=calls), *results]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    history = draw(st.sampled_from([[], [SYSTEM], [SYSTEM, Message(role="system", content="second")]]))
    history = list(history)
    for turn in range(draw(st.integers(0, 6))):
        history.append(user(draw(st.integers(0, 400)), draw(st.sampled_from(["u", "文"]))))
        for number in range(draw(st.integers(0, 5))):
            history += draw(rounds(turn * 10 + number))
    return history


LIMITS = st.builds(
    WindowLimits,
    context_window=st.integers(150, 20_000),
    keep_rounds=st.integers(0, 8),
    elide_over_chars=st.sampled_from([0, 100, 1024]),
    tool_tokens=st.sampled_from([0, 50, 5000]),
    most_tokens=st.none() | st.integers(0, 5000),
)


@settings(max_examples=250)
@given(histories(), LIMITS)
def test_the_invariants_hold_on_any_history(history: list[Message], limits: WindowLimits) -> None:
    before = msgspec.json.encode(history)
    fitted = fit(history, limits)
    assert msgspec.json.encode(history) == before
    _assert_invariants(history, fitted, limits)
    assert not fitted.fits or fit(fitted.messages, limits).messages == fitted.messages


def _assert_invariants(history: list[Message], fitted: FittedWindow, limits: WindowLimits) -> None:
    assert_valid(fitted.messages)
    assert fitted.tokens == estimate_tokens(fitted.messages)
    assert fitted.dropped == len(history) - len(fitted.messages)
    if fitted.fits:
        assert fitted.tokens <= limits.token_limit
        assert sum(len(message.content) for message in fitted.messages) <= limits.token_limit * 4
    system = [message for message in history if message.role == "system"][:1]
    assert list(fitted.messages[: len(system)]) == system
    prompts = [index for index, message in enumerate(history) if message.role == "user"]
    if prompts:
        assert history[prompts[-1]] in fitted.messages
    kept = _origins(history, fitted.messages)
    first_system = next((index for index, message in enumerate(history) if message.role == "system"), -1)
    turn = [index for index in kept if index > (prompts or [first_system])[-1]]
    assert turn == list(range(len(history) - len(turn), len(history))), "the newest rounds, without a gap"
    assert kept == sorted(kept)


def _origins(history: list[Message], kept: tuple[Message, ...]) -> list[int]:
    """Return where the kept messages stood, by what neither eliding nor cutting changes; twins count from the end."""

    def mark(message: Message) -> tuple[str, str, tuple[str, ...], str]:
        content = "" if message.role in ("tool", "assistant") else message.content
        return message.role, message.tool_call_id, tuple(call.id for call in message.tool_calls), content

    places, found = len(history), []
    for message in reversed(kept):
        places = next(index for index in range(places - 1, -1, -1) if mark(history[index]) == mark(message))
        found.append(places)
    return found[::-1]


@settings(max_examples=50)
@given(histories(), LIMITS, st.data())
def test_what_was_weighed_for_earlier_requests_changes_nothing(
    history: list[Message], limits: WindowLimits, data: st.DataObject
) -> None:
    weights = Weights()
    for count in (*sorted(data.draw(st.lists(st.integers(0, len(history)), max_size=4))), len(history)):
        assert fit(history[:count], limits, weights) == fit(history[:count], limits)


def test_a_step_of_a_long_turn_costs_as_much_as_one_of_a_short_turn() -> None:
    def cost_of_a_step(rounds: int, limits: WindowLimits) -> int:
        history = (SYSTEM, user(), *(message for number in range(rounds) for message in tool_round(number)))
        weights = Weights()
        fit(history[:-3], limits, weights)
        return calls_in(lambda: fit(history, limits, weights))

    for limits in (WindowLimits(context_window=ROOMY), WindowLimits(context_window=8_000, elide_over_chars=9_999)):
        assert cost_of_a_step(1_000, limits) < 1.2 * cost_of_a_step(30, limits) < 300


@settings(max_examples=80)
@given(histories(), LIMITS, st.data())
def test_a_history_with_holes_is_valid_after_repair(
    history: list[Message], limits: WindowLimits, data: st.DataObject
) -> None:
    holes = data.draw(st.sets(st.integers(0, max(0, len(history) - 1)), max_size=5))
    broken = [message for index, message in enumerate(history) if index not in holes]
    repaired = list(repair(broken))
    _assert_invariants(repaired, fit(repaired, limits), limits)
    kept_roles = [message.role for message in fit(broken, limits).messages]
    assert len(kept_roles) <= len(broken)


def test_a_result_that_its_tool_has_cut_already_keeps_the_size_of_all_of_it() -> None:
    text = "x" * 9_000 + "\n[... 500000 of 600000 characters are left out here ...]\n" + "y" * 9_000
    (cut,) = cut_to_size([Message(role="tool", content=text, tool_call_id="c")], 8_000, message_quarters) or ()
    assert "of 600000 characters" in cut.content and "the whole has 180" in cut.content
