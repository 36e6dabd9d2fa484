"""Records as bytes: the same for equal records, whole on the way back, and always fit for UTF-8."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.errors import AgentError
from smith_core.messages import Message, ToolCall, ToolMetadata, TurnResult, Usage
from smith_core.store.codec import (
    InvalidRecordError,
    decode_document,
    decode_record,
    encode_document,
    encode_record,
)

clean = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
foul = st.text(st.characters(), max_size=20)
messages = st.builds(
    Message,
    role=st.sampled_from(("user", "assistant", "tool")),
    content=clean,
    tool_calls=st.lists(st.builds(ToolCall, id=clean, name=clean, arguments=clean), max_size=2).map(tuple),
    created_at=st.floats(0, 1e12),
    metadata=st.none() | st.builds(ToolMetadata, path=clean, exit_code=st.none() | st.integers(0, 255)),
)
documents = st.dictionaries(clean, st.recursive(st.none() | st.booleans() | clean, st.lists, max_leaves=5), max_size=4)


@given(messages)
def test_messages_come_back_equal(message: Message) -> None:
    data = encode_record(message)
    assert decode_record(data, Message) == message
    assert encode_record(decode_record(data, Message)) == data
    assert b"\n" not in data


@given(documents)
def test_documents_have_sorted_keys(document: dict[str, Any]) -> None:
    data = encode_document(document)
    assert decode_document(data) == document
    assert encode_document(dict(reversed(document.items()))) == data


@given(foul, st.floats())
def test_b04_whatever_a_message_holds_can_be_read_back(text: str, number: float) -> None:
    message = Message(role="tool", content=text, created_at=number, metadata=ToolMetadata(path=text, duration_s=number))
    restored = decode_record(encode_record(message), Message)
    restored.content.encode()
    assert "\0" not in restored.content
    assert encode_record(restored) == encode_record(message)


def test_foreign_values_in_an_error_do_not_stop_a_record() -> None:
    error = AgentError(kind="tool", code="x", message="m", data={"path": object, "many": {1, 2}, "deep": {"a": [1]}})
    result = TurnResult(turn_id="t", conversation_id="c", role="direct", stop_reason="error", error=error)
    restored = decode_record(encode_record(result), TurnResult)
    assert restored.error is not None
    assert restored.error.data["deep"]["a"] == (1,)


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'{"role":"robot"}', b'{"role":"user","content":1}', b"\xff"])
def test_what_is_no_record_of_the_type_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRecordError):
        decode_record(data, Message)


def test_fields_of_later_versions_are_passed_over() -> None:
    assert decode_record(b'{"input_tokens":3,"from_the_future":{}}', Usage) == Usage(input_tokens=3)
