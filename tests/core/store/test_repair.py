"""What a request is made of is always whole: every call with one result, every result with its call."""

import json

from hypothesis import given
from hypothesis import strategies as st

from smith_core.messages import Message, ToolCall
from smith_core.store.repair import NOT_RUN, repair
from tests.support.strict_requests import message_violations


def user(text: str = "go") -> Message:
    return Message(role="user", content=text)


def calls(*ids: str) -> Message:
    return Message(role="assistant", tool_calls=tuple(ToolCall(id=name, name="bash") for name in ids))


def result(call_id: str, content: str = "done") -> Message:
    return Message(role="tool", tool_call_id=call_id, name="bash", content=content)


def on_the_wire(message: Message) -> dict[str, object]:
    wire: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        wire["tool_call_id"] = message.tool_call_id
    return wire


def test_a_whole_conversation_stays_as_it_is() -> None:
    whole = (user(), calls("a", "b"), result("a"), result("b"), Message(role="assistant", content="fine"))
    assert repair(whole) == whole


def test_b15_calls_without_results_get_a_short_one() -> None:
    repaired = repair((user(), calls("a", "b", "c"), result("b"), user("hello")))
    assert [message.tool_call_id for message in repaired[2:5]] == ["a", "b", "c"]
    assert [message.content for message in repaired[2:5]] == [NOT_RUN, "done", NOT_RUN]
    assert repaired[2].cancelled and not repaired[2].ok
    assert repaired[-1] == user("hello")


def test_what_no_endpoint_takes_is_left_out() -> None:
    thinking_only = Message(role="assistant", reasoning="hm")
    assert repair((result("x"), user(), thinking_only, calls("a"), result("a"), result("a", "again"))) == (
        user(),
        calls("a"),
        result("a"),
    )


pieces = st.one_of(
    st.builds(user, st.just("go")),
    st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True).map(lambda ids: calls(*map(str, ids))),
    st.integers(0, 5).map(lambda number: result(str(number))),
    st.sampled_from((Message(role="assistant", content="text"), Message(role="assistant", reasoning="only"))),
)


@given(st.lists(pieces, max_size=12))
def test_any_order_of_messages_makes_an_acceptable_request(messages: list[Message]) -> None:
    numbered = [
        calls(*(f"{position}-{call.id}" for call in message.tool_calls)) if message.tool_calls else message
        for position, message in enumerate(messages)
    ]
    request = [on_the_wire(message) for message in (*repair(numbered), user("next"))]
    assert message_violations(json.loads(json.dumps(request))) == []
    assert repair(repair(numbered)) == repair(numbered)
