"""The dual gate and the six steps of a tool call."""

import asyncio
from typing import Any

import msgspec
import pytest

from smith_core.cancel import new_root
from smith_core.errors import AgentError
from smith_core.messages import ToolCall
from smith_core.tools.base import MODEL_TEXT_LIMIT, ToolContext, ToolOutcome, json_schema, succeeded
from smith_core.tools.executor import not_run
from smith_core.tools.registry import ToolRegistry
from tests.support.gated_calls import NoArguments, run, spec


async def test_a_good_call_runs() -> None:
    result = await run(ToolCall("c1", "read", '{"path": "a.txt"}'), spec())
    assert (result.call_id, result.ok, result.content, result.mutation_state) == ("c1", True, "path=a.txt", "none")


@pytest.mark.parametrize("arguments", ['{"path": "a', "[1, 2]", '"text"', "\x00", '{"path": 5}', "[" * 100_000])
async def test_malformed_arguments_are_a_schema_error(arguments: str) -> None:
    result = await run(ToolCall("c", "read", arguments), spec())
    assert (result.ok, result.error.kind) == (False, "schema")
    assert len(result.content) < 1000


async def test_an_unknown_argument_is_named_and_nothing_runs() -> None:
    result = await run(ToolCall("c", "read", '{"path": "a", "limit": 3}'), spec())
    assert "`limit`" in result.content


async def test_numbers_as_text_are_taken() -> None:
    result = await run(ToolCall("c", "read", '{"path": "a", "start_line": "3"}'), spec())
    assert result.ok


@pytest.mark.parametrize(
    "fields", [{"role_denylist": frozenset({"direct"})}, {"role_allowlist": frozenset({"worker"})}]
)
async def test_a_tools_own_lists_close_the_second_gate(fields: dict[str, Any]) -> None:
    result = await run(ToolCall("c", "read", '{"path": "a"}'), spec(**fields))
    assert result.error.kind == "policy"
    assert ToolRegistry((spec(**fields),)).llm_specs("direct") == ()


async def test_a_call_after_a_cancel_is_not_run() -> None:
    token = new_root()
    token.request()
    result = await run(ToolCall("c", "read", '{"path": "a"}'), spec(), token=token)
    assert (result.ok, result.cancelled, result.mutation_state) == (False, True, "none")


async def test_a_handler_that_ignores_the_cancel_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smith_core.tools.executor.CANCEL_GRACE_S", 0.01)
    token = new_root()

    async def stuck(arguments: Any, context: ToolContext) -> ToolOutcome:
        token.request()
        await asyncio.sleep(3600)
        return succeeded("never")

    result = await asyncio.wait_for(
        run(ToolCall("c", "write", "{}"), spec("write", NoArguments, handler=stuck, mutates=True), token=token), 2
    )
    assert (result.cancelled, result.mutation_state) == (True, "unknown")


async def test_a_bug_in_a_tool_is_a_result_and_not_a_crash() -> None:
    async def broken(arguments: Any, context: ToolContext) -> ToolOutcome:
        raise KeyError("surprise")

    result = await run(ToolCall("c", "read", '{"path": "a"}'), spec(handler=broken, mutates=True))
    assert (result.ok, result.error.kind, result.mutation_state) == (False, "internal", "unknown")
    assert "surprise" in result.content


async def test_b04_content_is_fit_for_any_request() -> None:
    async def dirty(arguments: Any, context: ToolContext) -> ToolOutcome:
        return succeeded("a\x00b\ud83d\ude00 \ud83d")

    result = await run(ToolCall("c", "read", '{"path": "a"}'), spec(handler=dirty))
    assert result.content == "a\ufffdb\U0001f600 \ufffd"


async def test_b18_content_is_bounded_and_says_so() -> None:
    async def long(arguments: Any, context: ToolContext) -> ToolOutcome:
        return succeeded("s" + "x" * 600_000 + "END")

    result = await run(ToolCall("c", "read", '{"path": "a"}'), spec(handler=long))
    assert len(result.content) <= MODEL_TEXT_LIMIT
    assert "600004" in result.content
    assert result.content.startswith("sx")
    assert result.content.endswith("END")


def test_a_result_that_was_not_run_says_why() -> None:
    result = not_run("c", "the turn was cancelled")
    assert isinstance(result.error, AgentError)
    assert (result.content, result.cancelled) == ("not run: the turn was cancelled", True)
    over = AgentError(kind="budget_exhausted", code="budget_exhausted", message="the budget is used up")
    result = not_run("c", "the budget is used up", over)
    assert (result.ok, result.error, result.cancelled) == (False, over, False)


def test_schemas_are_self_contained() -> None:
    class Inner(msgspec.Struct):
        title: str

    class Outer(msgspec.Struct):
        items: list[Inner]

    assert json_schema(Outer) == {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
            }
        },
        "required": ["items"],
    }
