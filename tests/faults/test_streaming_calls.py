"""Streaming, putting calls together: parallel calls stay apart, and a call without arguments is a call (B01, B02)."""

import json
from typing import Any

import pytest

from smith_core.messages import ToolCall
from tests.support.gated_calls import NoArguments, run, spec
from tests.support.seat import Seat, raw_calls


@pytest.mark.parametrize("arguments", ["", "null", "   ", "{}"])
async def test_b02_a_call_without_arguments_runs_with_none(arguments: str) -> None:
    result = await run(ToolCall("c", "code_map", arguments), spec("code_map", NoArguments))
    assert result.ok


async def test_b02_a_missing_argument_is_named() -> None:
    result = await run(ToolCall("c", "read", ""), spec())
    assert result.error.kind == "schema"
    assert "`path`" in result.content
    assert "start_line?" in result.content


def piece(arguments: Any, index: object = None, call_id: str = "", name: str = "") -> dict[str, Any]:
    """Return a piece of a call with the fields that are given."""
    function = {"arguments": arguments, **({"name": name} if name else {})}
    return {
        "function": function,
        **({"index": index} if index is not None else {}),
        **({"id": call_id} if call_id else {}),
    }


A, B = '{"path":"a.txt"}', '{"path":"b.txt"}'
SPLITS: dict[str, list[dict[str, Any]]] = {
    "one index": [piece(A[:10], 0, "c1", "read"), piece(A[10:], 0), piece(B, 0, "c2", "read")],
    "interleaved": [
        piece(A[:4], 0, "c1", "read"), piece(B[:8], 1, "c2", "read"), piece(A[4:], 0), piece(B[8:], 1),
    ],
    "no index": [piece(A, None, "c1", "read"), piece(B[:10], None, "c2", "read"), piece(B[10:], None, "c2")],
    "ids come late": [
        piece("", 0, "", "read"), piece(A, 0, "c1"), piece("", 1, "", "read"), piece(B, 1, "c2"),
    ],
    "indexes fall and have gaps": [piece(A, 7, "c1", "read"), piece(B, 3, "c2", "read")],
    "indexes are text": [piece(A, "0", "c1", "read"), piece(B, "1", "c2", "read")],
    "one id for both": [piece(A, 0, "c1", "read"), piece(B, 1, "c1", "read")],
    "the name comes with each piece": [
        piece(A[:10], 0, "c1", "read"), piece(A[10:], 0, "c1", "read"), piece(B, 1, "c2", "read"),
    ],
    "no ids at all": [piece(A, 0, "", "read"), piece(B, 1, "", "read")],
    "arguments are objects": [piece(json.loads(A), 0, "c1", "read"), piece(json.loads(B), 1, "c2", "read")],
    "character by character": [
        piece(text[at], index, f"c{index}" if at == 0 else "", "read" if at == 0 else "")
        for at in range(len(A)) for index, text in enumerate((A, B))
    ],
}  # fmt: skip


@pytest.mark.parametrize("way", SPLITS)
def test_b01_parallel_calls_stay_apart_however_they_are_cut(seat: Seat, way: str) -> None:
    (seat.project / "a.txt").write_text("A")
    (seat.project / "b.txt").write_text("B")
    seat.ask(way, raw_calls(*SPLITS[way]))
    (asked,) = [message for message in seat.sent() if message.get("tool_calls")]
    assert [json.loads(call["function"]["arguments"]) for call in asked["tool_calls"]] == [json.loads(A), json.loads(B)]
    assert [call["function"]["name"] for call in asked["tool_calls"]] == ["read", "read"]
    answers = [message for message in seat.sent() if message["role"] == "tool"]
    assert [answer["tool_call_id"] for answer in answers] == [call["id"] for call in asked["tool_calls"]]
    assert [answer["content"][-1] for answer in answers] == ["A", "B"]


ABSENT = "absent"


@pytest.mark.parametrize("arguments", ["", None, "   ", ABSENT, "null", "{}", "\u00a0", "{}\n", {}])
def test_b02_a_call_that_needs_nothing_may_say_nothing_in_any_way(seat: Seat, arguments: Any) -> None:
    function = {"name": "code_map"} | ({} if arguments == ABSENT else {"arguments": arguments})
    seat.ask("map it", raw_calls({"index": 0, "id": "c", "function": function}))
    (asked,) = [message for message in seat.sent() if message.get("tool_calls")]
    assert asked["tool_calls"][0]["function"]["arguments"] == "{}"
    assert "prices.py" in seat.results()[0]


def test_b02_null_first_and_then_pieces(seat: Seat) -> None:
    seat.ask("map it", raw_calls(piece(None, 0, "c", "code_map"), piece("{", 0), piece("}", 0)))
    assert "prices.py" in seat.results()[0]
    screen = seat.ask("read nothing", raw_calls(piece("", 0, "c", "read")))
    assert "`path`" in seat.results()[0]
    assert "✗ read" in screen
