"""Requests of which only what is new goes to the host: put together there, they are what would have gone whole."""

from random import Random
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.llm import growing
from smith_core.llm.growing import GrowingRequests, KnownRequests
from smith_core.llm.protocol import ModelRequest
from smith_core.llm.wire import MessageEncoder
from smith_core.messages import Message, Role, ToolCall

SYSTEM, OLD = Message(role="system", content="s"), Message(role="user", content="old")


def some_message(dice: Random) -> Message:
    calls = tuple(ToolCall(f"c{number}", "read", dice.choice(("{}", "", "{"))) for number in range(dice.randrange(3)))
    role: Role = dice.choice(("user", "assistant", "tool"))
    text = dice.choice(("", "x", "\ud83d", "文")) * dice.randrange(20)
    return Message(role=role, content=text, reasoning=dice.choice(("", "hm")), tool_calls=calls)


def what_may_follow(before: tuple[Message, ...], dice: Random) -> tuple[Message, ...]:
    """Return a request with more messages, and some older ones replaced, dropped or cut off."""
    after = list(before)
    for place in sorted(dice.sample(range(1, len(after) + 1), min(dice.randrange(4), len(after)))):
        after[place : place + dice.randrange(2)] = [some_message(dice)]
    if dice.random() < 0.2:
        del after[1 : dice.randrange(1, len(after) + 1)]
    kept = after if dice.random() < 0.8 else after[: dice.randrange(1, len(after) + 1)]
    return (*kept, *(some_message(dice) for _ in range(dice.choice((0, 1, 2, 90)))))


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.sampled_from([(1, 10**6), (2, 10**6), (8, 10**6), (8, 9_000)]))
def test_put_together_it_is_the_whole_request(seed: int, most: tuple[int, int]) -> None:
    dice = Random(seed)
    app, host, encoder = GrowingRequests(), KnownRequests(), MessageEncoder()
    conversations: dict[str, tuple[Message, ...]] = dict.fromkeys("abc", (SYSTEM,))
    with patch.multiple(growing, MOST_CONVERSATIONS=most[0], MOST_BYTES=most[1]):
        for _ in range(15):
            name = dice.choice("abc")
            conversations[name] = what_may_follow(conversations[name], dice)
            request = ModelRequest(model=dice.choice(("m", "m", "deepseek")), messages=conversations[name])
            sent, number, kept = app.encode(request, encoder)
            whole = MessageEncoder().encode(request)
            assert host.whole(number, kept, sent.messages) == whole.messages
            assert sent.message_chars == whole.message_chars


def test_a_step_of_a_long_turn_sends_only_what_is_new() -> None:
    app, encoder = GrowingRequests(), MessageEncoder()
    turns = {name: [SYSTEM, Message(role="user", content=name)] for name in ("parent", "child", "other child")}
    sizes = []
    for step in range(300):
        for turn in turns.values():
            turn += [Message(role="assistant", content=f"{step} " * 20), Message(role="user", content=f"{step}")]
            if step > 9:
                turn[-9] = OLD  # as results are elided when they have become old
            sent, _, _ = app.encode(ModelRequest(model="m", messages=tuple(turn)), encoder)
            sizes.append(len(sent.messages))
    assert max(sizes) < 5_000
