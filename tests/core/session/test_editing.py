"""The rules of editing: whatever is taken out or changed, what is left can be sent."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.errors import AgentFailure
from smith_core.llm.wire import message_json
from smith_core.messages import Message, ToolCall, ToolMetadata
from smith_core.session.editing import TEXT, Part, deletion, inverse, part_text, parts_of, replacement, with_part
from smith_core.store.interface import MessageChange, StoredMessage
from smith_core.store.repair import repair
from tests.support.strict_requests import message_violations


def user(text: str = "go") -> Message:
    return Message(role="user", content=text)


def answer(text: str = "", *ids: str) -> Message:
    return Message(role="assistant", content=text, tool_calls=tuple(ToolCall(name, "bash") for name in ids))


def result(call_id: str, content: str = "done") -> Message:
    return Message(role="tool", tool_call_id=call_id, name="bash", content=content)


def numbered(*messages: Message) -> tuple[StoredMessage, ...]:
    return tuple(StoredMessage(number, message) for number, message in enumerate(messages, 1))


def applied(stored: tuple[StoredMessage, ...], changes: tuple[MessageChange, ...]) -> tuple[StoredMessage, ...]:
    messages: dict[int, Message | None] = {item.sequence: item.message for item in stored}
    for change in changes:
        assert messages.get(change.sequence) == change.before
        messages[change.sequence] = change.after
    return tuple(StoredMessage(number, message) for number, message in sorted(messages.items()) if message is not None)


B16 = numbered(user(), answer("", "c1", "c2"), result("c1"), result("c2"), answer("fine"))


def test_b16_a_deleted_answer_takes_its_results_along() -> None:
    left = applied(B16, deletion(B16, {2}))
    assert [item.sequence for item in left] == [1, 5]


def test_b16_a_deleted_result_takes_its_call_along() -> None:
    left = applied(B16, deletion(B16, {3}))
    assert [item.sequence for item in left] == [1, 2, 4, 5]
    assert [call.id for call in left[1].message.tool_calls] == ["c2"]


def test_an_answer_without_text_goes_with_its_last_result() -> None:
    assert [item.sequence for item in applied(B16, deletion(B16, {3, 4}))] == [1, 5]
    with_text = numbered(user(), answer("let me look", "c1"), result("c1"))
    left = applied(with_text, deletion(with_text, {3}))
    assert [item.message for item in left] == [user(), answer("let me look")]


def test_a_call_that_never_had_a_result_stays() -> None:
    stored = numbered(user(), answer("", "c1", "c2"), result("c1"))
    left = applied(stored, deletion(stored, {3}))
    assert [call.id for call in left[1].message.tool_calls] == ["c2"]


def test_a_message_that_is_not_there_is_named() -> None:
    with pytest.raises(AgentFailure, match="message 9 is not there"):
        deletion(B16, {2, 9})
    with pytest.raises(AgentFailure, match="message 9 is not there"):
        replacement(B16, 9, TEXT, "x")


pieces = st.one_of(
    st.just([user()]),
    st.just([answer("text")]),
    st.integers(1, 3).map(lambda count: [answer("", *map(str, range(count))), *map(result, map(str, range(count)))]),
    st.just([answer("and", "0"), result("0")]),
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[StoredMessage, ...]:
    messages = [user()]
    for turn, piece in enumerate(draw(st.lists(pieces, max_size=6))):
        for message in piece:
            calls = tuple(ToolCall(f"{turn}-{call.id}", call.name) for call in message.tool_calls)
            answers = f"{turn}-{message.tool_call_id}" if message.tool_call_id else ""
            messages.append(Message(role=message.role, content=message.content, tool_calls=calls, tool_call_id=answers))
    return numbered(*messages)


@given(conversations(), st.sets(st.integers(1, 20), min_size=1, max_size=6))
def test_whatever_is_deleted_the_rest_can_be_sent(stored: tuple[StoredMessage, ...], chosen: set[int]) -> None:
    doomed = chosen & {item.sequence for item in stored}
    changes = deletion(stored, doomed)
    left = applied(stored, changes)
    assert not doomed & {item.sequence for item in left}
    # Nothing had to be made up for a call: each pair that is left is whole by itself.
    tools = [item.message.tool_call_id for item in left if item.message.role == "tool"]
    assert tools == [call.id for item in left for call in item.message.tool_calls]
    request = [message_json(message) for message in (*repair([item.message for item in left]), user("next"))]
    assert message_violations(request) == []
    assert applied(left, inverse(changes)) == stored


def test_texts_are_kept_to_the_letter() -> None:
    changes = replacement(B16, 4, TEXT, "new\ntext [/x]\r\n ")
    assert changes[0].after == result("c2", "new\ntext [/x]\r\n ")
    assert replacement(B16, 4, TEXT, "done") == ()
    assert with_part(user(), TEXT, "a\ud800b\0").content == "a�b�"


def test_an_edited_result_does_not_show_its_old_diff() -> None:
    message = Message(role="tool", content="ok", metadata=ToolMetadata(diff="-secret", path="a.py"))
    assert with_part(message, TEXT, "gone").metadata == ToolMetadata(path="a.py")


def test_every_part_can_be_edited() -> None:
    message = Message(
        role="assistant", reasoning="hm", tool_calls=(ToolCall("c1", "read", '{"path":"a"}'), ToolCall("c2", "bash"))
    )
    assert parts_of(message) == (TEXT, Part("reasoning"), Part("arguments", "c1"), Part("arguments", "c2"))
    changed = with_part(message, Part("arguments", "c1"), ' {"path": "b\\u0000"}\n')
    assert json.loads(changed.tool_calls[0].arguments) == {"path": "b�"}
    assert changed.tool_calls[1] == message.tool_calls[1]
    assert with_part(message, Part("reasoning"), "").reasoning == ""
    assert part_text(message, Part("arguments", "c2")) == "{}"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": NaN}', '{"a": 1} x', "[" * 5000])
def test_arguments_that_no_endpoint_takes_are_refused(text: str) -> None:
    message = answer("", "c1")
    with pytest.raises(AgentFailure, match="arguments"):
        with_part(message, Part("arguments", "c1"), text)


def test_empty_messages_are_refused() -> None:
    for message in (user(), answer("text")):
        with pytest.raises(AgentFailure, match="delete the message instead"):
            with_part(message, TEXT, " \n")
    assert with_part(answer("text", "c1"), TEXT, "").content == ""
    assert with_part(result("c1"), TEXT, "").content == ""
