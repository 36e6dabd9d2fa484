"""Errors: nine kinds, and the rule that brings anything into their one shape."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.errors import ERROR_KINDS, AgentError, AgentFailure, failure, normalize
from smith_core.frozen import encode_hook, freeze, thaw


def test_there_are_nine_kinds() -> None:
    assert set(ERROR_KINDS) == {
        "transport", "protocol", "schema", "tool", "cancelled", "budget_exhausted", "policy", "persistence", "internal",
    }  # fmt: skip


def test_normalize_gives_a_string_the_default_fields() -> None:
    error = normalize("disk on fire", origin="turn")
    assert error == AgentError(kind="internal", code="internal", message="disk on fire", origin="turn")


def test_normalize_knows_the_word_cancelled() -> None:
    assert normalize("cancelled").kind == "cancelled"
    assert normalize("cancelled by a typhoon").kind == "internal"


def test_normalize_fills_a_partial_table() -> None:
    error = normalize({"kind": "tool", "message": "no such file", "data": {"path": ["a"]}, "retryable": True})
    assert (error.kind, error.code, error.message, error.retryable) == ("tool", "tool", "no such file", True)
    with pytest.raises(TypeError):
        error.data["path"] = "b"  # type: ignore[index]


def test_normalize_does_not_believe_an_unknown_kind() -> None:
    assert normalize({"kind": "weather", "code": "rain"}).kind == "internal"


def test_normalize_keeps_an_error_that_is_one_already() -> None:
    original = failure("policy", "denied", "not allowed", origin="registry")
    assert normalize(original, origin="turn") is original.error
    assert normalize(AgentError(kind="tool", code="x", message="y"), origin="turn").origin == "turn"


def test_normalize_names_a_foreign_exception() -> None:
    error = normalize(ValueError("bad value"))
    assert (error.kind, error.code) == ("internal", "ValueError")
    assert "bad value" in error.message


@given(st.recursive(st.none() | st.booleans() | st.text() | st.integers(), lambda s: st.dictionaries(st.text(), s)))
def test_normalize_takes_anything(value: object) -> None:
    error = normalize(value)
    assert error.kind in ERROR_KINDS
    assert error.message
    assert msgspec.json.decode(msgspec.json.encode(error, enc_hook=encode_hook), type=AgentError) == error


def test_a_failure_carries_its_error() -> None:
    with pytest.raises(AgentFailure, match="say what to do") as caught:
        raise failure("transport", "cut", "say what to do", retryable=True)
    assert caught.value.error.retryable


def test_frozen_values_raise_on_write_at_every_depth() -> None:
    frozen = freeze({"a": {"b": [1, {"c": 2}]}})
    for write in (
        lambda: frozen.update(x=1),
        lambda: frozen["a"].__setitem__("b", 1),
        lambda: frozen["a"]["b"].append(3),
        lambda: frozen["a"]["b"][1].__setitem__("c", 3),
    ):
        with pytest.raises((TypeError, AttributeError)):
            write()
    assert thaw(frozen) == {"a": {"b": [1, {"c": 2}]}}
