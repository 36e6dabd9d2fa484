"""Streaming, putting calls together: parallel calls stay apart, and a call without arguments is a call (B01, B02)."""

import pytest

from smith_core.messages import ToolCall
from tests.support.gated_calls import NoArguments, run, spec


@pytest.mark.parametrize("arguments", ["", "null", "   ", "{}"])
async def test_b02_a_call_without_arguments_runs_with_none(arguments: str) -> None:
    result = await run(ToolCall("c", "code_map", arguments), spec("code_map", NoArguments))
    assert result.ok


async def test_b02_a_missing_argument_is_named() -> None:
    result = await run(ToolCall("c", "read", ""), spec())
    assert result.error.kind == "schema"
    assert "`path`" in result.content
    assert "start_line?" in result.content
