"""The scripted model server itself: what it records, and what its strict mode refuses."""

import asyncio
import json
import sys
from typing import Any

import httpx
import pytest

from tests.support.model_server import ModelServer
from tests.support.model_steps import Cut, Stall, Text, Wait, call_tools, say
from tests.support.strict_requests import message_violations, request_violations

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
USER = {"role": "user", "content": "hi"}
ASKS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
ANSWERS = {"role": "tool", "tool_call_id": "c1", "content": "x"}
GOOD: dict[str, Any] = {
    "model": "m",
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [{"role": "system", "content": "s"}, USER, ASKS, ANSWERS],
    "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}],
}
HEADERS = {"content-type": "application/json"}


def tool(**function: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}, **function}}


def test_strict_mode_accepts_a_good_request() -> None:
    assert request_violations(json.dumps(GOOD).encode(), HEADERS) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"stream": False}, "`stream`"),
        ({"stream_options": None}, "usage"),
        ({"model": " "}, "`model`"),
        ({"messages": []}, "`messages`"),
        ({"tools": []}, "`tools`"),
        ({"tools": [tool(), tool()]}, "doubled"),
        ({"tools": [tool(name="a b")]}, "invalid"),
        ({"tools": [tool(parameters={"type": "array"})]}, "not object"),
        ({"tools": [tool(parameters={"type": "object", "required": ["x"]})]}, "`required`"),
        ({"tools": [tool(parameters={"type": "object", "properties": {"x": {"$ref": "#/x"}}})]}, "reference"),
    ],
)
def test_strict_mode_names_what_is_wrong_with_a_request(change: dict[str, Any], problem: str) -> None:
    violations = request_violations(json.dumps({**GOOD, **change}).encode(), HEADERS)
    assert len(violations) == 1 and problem in violations[0]


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([USER, ASKS], "right behind"),
        ([USER, ASKS, USER, ANSWERS], "right behind"),
        ([USER, ANSWERS], "no call before it"),
        ([USER, ASKS, ANSWERS, ANSWERS], "no call before it"),
        ([USER, ASKS, ANSWERS, ASKS, ANSWERS], "doubled"),
        ([USER, {**ASKS, "tool_calls": [{**CALL, "id": ""}]}, USER], "without an id"),
        ([USER, {"role": "assistant", "content": " "}, USER], "empty assistant"),
        ([USER, {"role": "assistant", "content": None}, USER], "empty assistant"),
        ([USER, {**ASKS, "tool_calls": []}, USER], "empty"),
        ([USER, {**ASKS, "tool_calls": [{**CALL, "function": {"name": "read", "arguments": "{"}}]}, ANSWERS], "JSON"),
        ([USER, {**ASKS, "tool_calls": [{**CALL, "function": {"name": "", "arguments": "{}"}}]}, ANSWERS], "name"),
        ([USER, ASKS, {**ANSWERS, "content": None}], "not a string"),
        ([{"role": "user", "content": ["x"]}], "not a string"),
        ([USER, {"role": "system", "content": "s"}, USER], "behind others"),
        ([{"role": "robot", "content": "x"}], "unknown role"),
        ([USER, {"role": "assistant", "content": "x"}], "last message"),
        (None, "`messages`"),
    ],
)
def test_strict_mode_names_what_is_wrong_with_messages(messages: Any, problem: str) -> None:
    assert any(problem in violation for violation in message_violations(messages))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"\xff", "UTF-8"),
        (b"{", "JSON"),
        (b"[]", "not an object"),
        (json.dumps({**GOOD, "messages": [{"role": "user", "content": "\ud83d"}]}).encode(), "lone surrogate"),
        (json.dumps({**GOOD, "messages": [{"role": "user", "content": "\0"}]}).encode(), "U+0000"),
    ],
)
def test_strict_mode_refuses_bytes_and_text_that_poison(body: bytes, problem: str) -> None:
    assert any(problem in violation for violation in request_violations(body, HEADERS))


async def test_requests_are_recorded_and_refused_with_400() -> None:
    async with ModelServer(["never"], strict=True) as server, httpx.AsyncClient() as client:
        response = await client.post(server.url + "/chat/completions", json={"model": "m", "messages": [USER]})
        assert response.status_code == 400 and "`stream`" in response.json()["error"]["message"]
        assert server.violations and server.requests[0].json["model"] == "m"


async def test_a_script_may_be_a_function_of_the_request() -> None:
    async def react(request: dict[str, Any]) -> Any:
        last = request["messages"][-1]
        return f"got {last['content']}" if last["role"] == "tool" else call_tools(("read", {"path": "a"}))

    async with ModelServer(react) as server, httpx.AsyncClient() as client:
        first = await client.post(server.url + "/chat/completions", json=GOOD)
        assert "got x" in first.text and first.text.endswith("data: [DONE]\n\n")
        second = await client.post(server.url + "/chat/completions", json={**GOOD, "messages": [USER]})
        assert '"name":"read"' in second.text and '"finish_reason":"tool_calls"' in second.text


async def test_a_script_that_fails_is_heard_of() -> None:
    def fail(_: dict[str, Any]) -> str:
        raise KeyError("oops")

    with pytest.raises(KeyError, match="oops"):
        async with ModelServer(fail) as server, httpx.AsyncClient() as client:
            assert (await client.post(server.url + "/chat/completions", json=GOOD)).status_code == 400


async def test_a_client_that_goes_away_is_noticed() -> None:
    async with ModelServer([[Text("a"), Stall()], [Wait(60)]]) as server, httpx.AsyncClient() as client:
        async with client.stream("POST", server.url + "/chat/completions", json=GOOD) as response:
            assert "a" in await anext(response.aiter_text())
            assert not server.requests[0].client_gone.is_set()
        await asyncio.wait_for(server.requests[0].client_gone.wait(), 1)
        with pytest.raises(httpx.ReadTimeout):
            await client.post(server.url + "/chat/completions", json=GOOD, timeout=0.1)
        await asyncio.wait_for(server.requests[1].client_gone.wait(), 1)


@pytest.mark.parametrize("how", ["fin", "rst", "half"])
async def test_cuts_reach_the_client_after_what_was_sent(how: Any) -> None:
    async with ModelServer([[Text("so far"), Cut(how)]]) as server, httpx.AsyncClient() as client:
        seen = ""
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            async with client.stream("POST", server.url + "/chat/completions", json=GOOD) as response:
                async for text in response.aiter_text():
                    seen += text
        assert "so far" in seen


async def test_it_runs_as_a_process_of_its_own(tmp_path: Any) -> None:
    script = tmp_path / "script.json"
    steps = [{"step": "text", "text": "hi"}, {"step": "finish"}]
    script.write_text(json.dumps({"answers": [steps, "plain"], "models": ["a"]}))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.model_server", "--script", str(script), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    address = (await process.stdout.readline()).decode().strip()
    async with httpx.AsyncClient() as client:
        assert (await client.get(address + "/models")).json()["data"][0]["id"] == "a"
        assert '"content":"hi"' in (await client.post(address + "/chat/completions", json=GOOD)).text
        assert '"content":"plain"' in (await client.post(address + "/chat/completions", json=GOOD)).text
        assert (await client.post(address + "/chat/completions", json=GOOD)).status_code == 400
    process.kill()
    await process.wait()


def test_a_string_is_a_whole_answer() -> None:
    assert [type(step).__name__ for step in say("x")] == ["Text", "Finish", "Usage"]
