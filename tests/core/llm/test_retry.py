"""Both retry layers: what is asked for again, after which wait, and what is left when they give up."""

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.cancel import new_root
from smith_core.config.schema import Config, LlmConfig
from smith_core.errors import AgentError
from smith_core.events import (
    AnyEvent,
    OutputDiscarded,
    ReasoningDelta,
    RequestStarted,
    RetryWaiting,
    TextDelta,
    ToolCallProgress,
)
from smith_core.llm.faults import Target, fault
from smith_core.llm.protocol import (
    Completion,
    ModelRequest,
    StreamDone,
    StreamReasoning,
    StreamText,
    StreamToolProgress,
)
from smith_core.llm.retry import CompletionOutcome, RetryPolicy, is_empty, request_completion
from smith_core.messages import Message, ToolCall, Usage
from tests.support.scripted_client import ScriptedClient

REQUEST = ModelRequest(model="m", messages=(Message(role="user", content="hello there"),))
QUICK = RetryPolicy(transport_waits_ms=(1.0, 2.0), empty_waits_ms=(1.0, 2.0))
CUT = fault("stream_cut", Target(model="m"))
RATE_LIMITED = fault("rate_limited", Target(model="m"), status=429, retry_after_s=0.05)
REFUSED = fault("unauthorized", Target(model="m"), status=401)
EMPTY = Completion(finish_reason="stop")
CALL = Completion(tool_calls=(ToolCall("c1", "read"),), finish_reason="tool_calls")


class Round:
    """One round of the model, with what it reported."""

    def __init__(self, *answers: Any, policy: RetryPolicy = QUICK) -> None:
        self.client = ScriptedClient(*answers)
        self.policy = policy
        self.events: list[AnyEvent] = []
        self.token = new_root()

    async def run(self, jitter: float = 0.0) -> CompletionOutcome:
        return await request_completion(
            self.client, REQUEST, self.policy, self.token, self.events.append, "turn-1", "worker", jitter=lambda: jitter
        )

    @property
    def waits(self) -> list[RetryWaiting]:
        return [event for event in self.events if isinstance(event, RetryWaiting)]

    @property
    def shown(self) -> str:
        """What stands on a screen that keeps to the events."""
        text = ""
        for event in self.events:
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, OutputDiscarded):
                text = ""
        return text


def delays(round_: Round) -> list[float]:
    return [event.wait_s for event in round_.waits]


async def test_a_good_answer_needs_one_call() -> None:
    round_ = Round("hello")
    outcome = await round_.run()
    assert outcome.completion is not None and outcome.completion.text == "hello" and outcome.error is None
    started = RequestStarted(turn_id="turn-1", model="m", attempt=1, source_role="worker")
    assert round_.events == [started, TextDelta(text="hello")]


async def test_transport_failures_before_any_output_are_retried() -> None:
    round_ = Round(CUT, CUT, "hello")
    outcome = await round_.run()
    assert outcome.completion is not None and outcome.completion.text == "hello"
    assert [(event.layer, event.attempt, event.max_attempts) for event in round_.waits] == [
        ("transport", 2, 3),
        ("transport", 3, 3),
    ]
    assert [event.attempt for event in round_.events if isinstance(event, RequestStarted)] == [1, 2, 3]
    assert outcome.usage == Usage(requests=2), "the two that broke off; the client's own count comes with its answer"


async def test_transport_retries_end() -> None:
    round_ = Round(CUT)
    outcome = await round_.run()
    assert outcome.error == CUT and outcome.completion is None
    assert len(round_.client.requests) == 3 and len(round_.waits) == 2


async def test_what_is_not_retryable_is_not_retried() -> None:
    round_ = Round(REFUSED)
    outcome = await round_.run()
    assert outcome.error == REFUSED and len(round_.client.requests) == 1 and not round_.waits


@pytest.mark.parametrize(
    "part",
    [
        StreamText(text="The answer "),
        StreamReasoning(text="hm"),
        StreamToolProgress(index=0, name="write", argument_chars=9),
    ],
    ids=["text", "reasoning", "tool"],
)
async def test_b06_nothing_is_retried_after_visible_output(part: Any) -> None:
    round_ = Round([part, CUT], "The answer is 42.")
    outcome = await round_.run()
    assert outcome.error == CUT and len(round_.client.requests) == 1
    assert outcome.completion is None
    expected = (part.text, "") if isinstance(part, StreamText) else ("", getattr(part, "text", ""))
    assert (outcome.partial_text, outcome.partial_reasoning) == expected
    assert not any(isinstance(event, OutputDiscarded) for event in round_.events)


async def test_b06_with_retry_after_output_the_partial_text_is_replaced() -> None:
    policy = RetryPolicy(transport_waits_ms=(1.0,), retry_after_output=True)
    round_ = Round([StreamText(text="The answer "), StreamText(text="is "), CUT], "The answer is 42.", policy=policy)
    outcome = await round_.run()
    assert outcome.completion is not None and outcome.completion.text == "The answer is 42."
    assert len(round_.client.requests) == 2 and round_.shown == "The answer is 42."
    discarded = round_.events.index(OutputDiscarded())
    assert isinstance(round_.events[discarded + 1], RetryWaiting)


async def test_b06_the_last_partial_text_is_kept_when_all_tries_break_off() -> None:
    policy = RetryPolicy(transport_waits_ms=(1.0,), retry_after_output=True)
    round_ = Round([StreamText(text="The "), CUT], [StreamText(text="The ans"), CUT], policy=policy)
    outcome = await round_.run()
    assert outcome.error == CUT and outcome.partial_text == "The ans" and round_.shown == "The ans"
    assert len(round_.client.requests) == 3


async def test_blanks_are_no_visible_output() -> None:
    whole = Completion(text="\n hi ", finish_reason="stop")
    pieces = [StreamText(text="\n "), StreamText(text="hi"), StreamText(text=" "), StreamDone(completion=whole)]
    round_ = Round([StreamText(text="\n "), CUT], pieces)
    outcome = await round_.run()
    assert outcome.completion == whole and len(round_.client.requests) == 2
    assert [event.text for event in round_.events if isinstance(event, TextDelta)] == ["\n hi", " "]


EMPTY_ANSWERS = [
    EMPTY,
    Completion(text="  \n", finish_reason="stop"),
    Completion(reasoning="hm", finish_reason="stop"),
    Completion(text="\t", reasoning="hm", finish_reason="stop"),
]


async def test_b05_empty_answers_are_asked_for_three_times_then_reported() -> None:
    rounds = [Round(answer, policy=RetryPolicy.from_config(Config())) for answer in EMPTY_ANSWERS]
    started = time.perf_counter()
    outcomes = await asyncio.gather(*(round_.run() for round_ in rounds))
    assert time.perf_counter() - started >= 1.5
    for round_, outcome in zip(rounds, outcomes, strict=True):
        assert len(round_.client.requests) == 3
        assert [(event.layer, event.wait_s) for event in round_.waits] == [
            ("empty_response", 0.5),
            ("empty_response", 1.0),
        ]
        assert outcome.error is not None and (outcome.error.kind, outcome.error.code) == ("protocol", "empty_response")
        assert "3 times" in outcome.error.message
        assert outcome.completion is None and outcome.partial_text == "" and outcome.partial_reasoning == ""
        assert round_.shown == ""


async def test_b05_empty_twice_then_an_answer() -> None:
    round_ = Round(EMPTY, EMPTY, "hi")
    outcome = await round_.run()
    assert outcome.completion is not None and outcome.completion.text == "hi"
    assert len(round_.client.requests) == 3 and round_.shown == "hi"


async def test_b05_reasoning_of_an_empty_answer_is_discarded_before_the_next_try() -> None:
    round_ = Round(Completion(reasoning="hm", finish_reason="stop"), "hi")
    await round_.run()
    kinds = [type(event) for event in round_.events]
    assert (
        kinds.index(ReasoningDelta) < kinds.index(OutputDiscarded) < kinds.index(RetryWaiting) < kinds.index(TextDelta)
    )


async def test_a_call_without_text_is_no_empty_answer() -> None:
    round_ = Round(CALL)
    outcome = await round_.run()
    assert outcome.completion == CALL and len(round_.client.requests) == 1
    assert not is_empty(CALL) and is_empty(Completion(reasoning="x", text=" "))


async def test_the_layers_nest() -> None:
    round_ = Round(CUT, CUT, EMPTY, CUT, CUT, EMPTY, CUT, CUT, EMPTY)
    outcome = await round_.run()
    assert len(round_.client.requests) == 9
    assert outcome.error is not None and outcome.error.code == "empty_response"


async def test_an_empty_answer_at_the_output_limit_says_so() -> None:
    round_ = Round(Completion(finish_reason="length"), policy=RetryPolicy(empty_retries=0))
    outcome = await round_.run()
    assert outcome.error is not None and "output limit" in outcome.error.message


async def test_retry_after_wins_when_it_is_longer() -> None:
    round_ = Round(RATE_LIMITED, "hello")
    await round_.run()
    assert delays(round_) == [0.05]


async def test_cancel_ends_a_wait_at_once() -> None:
    round_ = Round(CUT, policy=RetryPolicy(transport_waits_ms=(60_000.0,)))
    task = asyncio.ensure_future(round_.run())
    while not round_.waits:
        await asyncio.sleep(0)
    started = time.perf_counter()
    round_.token.request()
    outcome = await task
    assert time.perf_counter() - started < 0.05
    assert outcome.error is not None and outcome.error.kind == "cancelled" and len(round_.client.requests) == 1


async def test_cancel_in_mid_stream_keeps_the_partial_text_and_closes_the_stream() -> None:
    never = asyncio.Event()
    round_ = Round([StreamReasoning(text="hm"), StreamText(text="The answer "), never])
    task = asyncio.ensure_future(round_.run())
    while round_.shown == "":
        await asyncio.sleep(0)
    round_.token.request()
    outcome = await task
    assert outcome.error is not None and outcome.error.kind == "cancelled"
    assert (outcome.partial_text, outcome.partial_reasoning) == ("The answer ", "hm")
    assert round_.client.closed_streams == 1 and outcome.usage.estimated and outcome.usage.requests == 1


async def test_a_token_cancelled_before_makes_no_call() -> None:
    round_ = Round("hello")
    round_.token.request()
    outcome = await round_.run()
    assert outcome.error is not None and outcome.error.kind == "cancelled" and round_.client.requests == []


async def test_a_cancelled_task_ends_as_a_task_does() -> None:
    round_ = Round([StreamText(text="x"), asyncio.Event()])
    task = asyncio.ensure_future(round_.run())
    while round_.shown == "":
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert round_.client.closed_streams == 1


async def test_a_stream_that_just_ends_is_a_cut() -> None:
    round_ = Round([StreamText(text="half")])
    outcome = await round_.run()
    assert outcome.error is not None and outcome.error.code == "stream_cut" and outcome.partial_text == "half"


async def test_a_bug_in_a_client_is_an_error_not_a_crash() -> None:
    def broken(_: ModelRequest) -> str:
        raise ZeroDivisionError("oops")

    outcome = await Round(broken).run()
    assert outcome.error is not None and outcome.error.kind == "internal"


async def test_progress_and_usage_are_reported() -> None:
    usage = Usage(input_tokens=7, output_tokens=3, requests=1)
    round_ = Round(CUT, Completion(text="hi", finish_reason="stop", usage=usage))
    outcome = await round_.run()
    assert outcome.usage == usage + Usage(requests=1)
    round_ = Round([StreamToolProgress(index=0, name="read", argument_chars=5), CUT])
    outcome = await round_.run()
    assert ToolCallProgress(index=0, name="read", argument_chars=5) in round_.events
    assert outcome.usage.estimated and outcome.usage.output_tokens == 2


def test_the_policy_of_a_configuration() -> None:
    llm = LlmConfig(retry_max_retries=5, retry_backoff_ms=(7.0,), stream_retry_after_output=True)
    config = Config(llm_config=llm, empty_response_retry_max_retries=1, empty_response_retry_backoff_ms=(9.0,))
    assert RetryPolicy.from_config(config) == RetryPolicy(
        transport_retries=5,
        transport_waits_ms=(7.0,),
        retry_after_output=True,
        empty_retries=1,
        empty_waits_ms=(9.0,),
    )


@given(
    waits=st.lists(st.floats(0, 90_000), min_size=1, max_size=4).map(tuple),
    retry=st.integers(1, 8),
    asked=st.none() | st.floats(0, 500),
    jitter=st.floats(0, 1),
)
def test_no_wait_is_shorter_than_stated_nor_a_tenth_longer(
    waits: tuple[float, ...], retry: int, asked: float | None, jitter: float
) -> None:
    policy = RetryPolicy(transport_waits_ms=waits, empty_waits_ms=waits)
    data = {} if asked is None else {"retry_after_s": asked}
    error = AgentError(kind="transport", code="rate_limited", message="x", retryable=True, data=data)
    backoff = waits[min(retry, len(waits)) - 1] / 1000
    stated = max(backoff, min(asked or 0.0, 60.0))
    wait = policy.transport_wait_s(retry, error, jitter)
    assert stated - 1e-9 <= wait <= stated * 1.1 + 1e-9
    assert wait <= max(60.0, backoff * 1.1) + 1e-9
    assert backoff <= policy.empty_wait_s(retry, jitter) <= backoff * 1.1 + 1e-9
