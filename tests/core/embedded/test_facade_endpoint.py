"""The facade's address: who may use it, what it streams, and what happens when either side goes away."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from smith_core.embedded.facade.endpoint import Facade, serve
from smith_core.embedded.facade.upstream import Upstream
from smith_core.llm.listing import read_models
from tests.support.facade_requests import REPORT_TOOL, read_result, request
from tests.support.model_server import ModelServer
from tests.support.model_steps import Finish, Headers, Stall, Status, Text, Usage

TOKEN = "the-secret"


def reply(size: int = 3, **action: Any) -> list[Any]:
    """What llama.cpp would stream for an action."""
    return [Text(json.dumps(action, separators=(",", ":")), size=size), Finish(), Usage()]


@asynccontextmanager
async def facade(llama: ModelServer) -> AsyncIterator[httpx.AsyncClient]:
    upstream = Upstream(llama.url, "llama-key")
    app = Facade(upstream, token=TOKEN, model="smith-local-1.5b", context_size=8192).application()
    listener = socket.create_server(("127.0.0.1", 0))
    runner = await serve(app, listener)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    async with httpx.AsyncClient(base_url=address, headers={"authorization": f"Bearer {TOKEN}"}, timeout=10) as client:
        yield client
    await runner.cleanup()
    await upstream.aclose()


async def stream(client: httpx.AsyncClient, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the chunks of an answer."""
    response = await client.post("/chat/completions", json=body)
    assert response.status_code == 200, response.text
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def deltas(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Bearer the-secret2", TOKEN, "Bearer thé"])
async def test_nobody_without_the_token_is_served(header: str) -> None:
    async with ModelServer() as llama, facade(llama) as client:
        given = {b"authorization": header.encode()}
        assert (await client.get("/models", headers=given)).status_code == 401
        assert (await client.post("/chat/completions", json={"messages": []}, headers=given)).status_code == 401
        assert llama.all_requests == []


async def test_the_model_is_listed_with_its_context_size() -> None:
    async with ModelServer() as llama, facade(llama) as client:
        models = read_models((await client.get("/models")).json())
        assert models is not None
        assert [(model.id, model.context_window) for model in models] == [("smith-local-1.5b", 8192)]


async def test_an_answer_is_streamed_as_text_with_usage_last(tmp_path: Path) -> None:
    async with ModelServer([reply(tool="answer", text='Hi, "you".\nBye')]) as llama, facade(llama) as client:
        chunks = await stream(client, request(tmp_path, "hello"))
        texts = [delta.get("content") or "" for delta in deltas(chunks)]
        assert "".join(texts) == 'Hi, "you".\nBye'
        assert len([text for text in texts if text]) > 3
        assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
        assert chunks[-1]["usage"]["prompt_tokens"] == 100
        assert llama.requests[0].key == "llama-key"
        assert llama.requests[0].json["grammar"].startswith("%llguidance")


async def test_a_call_is_announced_and_then_carries_our_own_arguments(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    read = ("read", {"path": "a.py"}, read_result("a.py", "x = 1\n"))
    edit = reply(tool="replace", old="x = 1", new="x = 2")
    async with ModelServer([reply(tool="read", path="a.py"), edit]) as llama, facade(llama) as client:
        first = deltas(await stream(client, request(tmp_path, "change a.py")))
        calls = [delta["tool_calls"][0] for delta in first if "tool_calls" in delta]
        assert calls[0]["function"] == {"name": "read", "arguments": ""}
        assert json.loads(calls[1]["function"]["arguments"]) == {"path": "a.py"}
        second = deltas(await stream(client, request(tmp_path, "change a.py", read)))
        calls = [delta["tool_calls"][0] for delta in second if "tool_calls" in delta]
        assert calls[0]["function"]["name"] == "edit"
        assert json.loads(calls[1]["function"]["arguments"])["text"] == "x = 2\n"


async def test_without_streaming_the_same_comes_as_one_message(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    script = [reply(tool="read", path="a.py"), reply(tool="answer", text="Hi")]
    async with ModelServer(script) as llama, facade(llama) as client:
        called = (await client.post("/chat/completions", json=request(tmp_path, "read a.py", stream=False))).json()
        said = (await client.post("/chat/completions", json=request(tmp_path, "hello", stream=False))).json()
        call = called["choices"][0]["message"]["tool_calls"][0]["function"]
        assert (call["name"], json.loads(call["arguments"])) == ("read", {"path": "a.py"})
        assert called["choices"][0]["finish_reason"] == "tool_calls"
        assert said["choices"][0]["message"] == {"role": "assistant", "content": "Hi"}
        assert said["usage"]["total_tokens"] == 110


async def test_a_reply_that_would_break_the_file_is_asked_for_again(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    read = ("read", {"path": "a.py"}, read_result("a.py", "x = 1\n"))
    script = [reply(tool="replace", old="x = 1", new="x = ("), reply(tool="replace", old="x = 1", new="x = 2")]
    async with ModelServer(script) as llama, facade(llama) as client:
        chunks = deltas(await stream(client, request(tmp_path, "change a.py", read)))
        arguments = "".join(
            delta["tool_calls"][0]["function"]["arguments"] for delta in chunks if "tool_calls" in delta
        )
        assert json.loads(arguments)["text"] == "x = 2\n"
        assert "would not be valid" in llama.requests[1].json["messages"][-1]["content"]


async def test_a_model_that_only_repeats_itself_ends_honestly(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    failing = ("bash", {"command": "false"}, "boom\n[exit code 1]")
    async with ModelServer() as llama, facade(llama) as client:
        chunks = deltas(await stream(client, request(tmp_path, "run a.py", failing, failing)))
        assert "could not finish" in "".join(delta.get("content") or "" for delta in chunks)
        reported = deltas(await stream(client, request(tmp_path, "run a.py", failing, failing, tools=[REPORT_TOOL])))
        arguments = [delta["tool_calls"][0]["function"]["arguments"] for delta in reported if "tool_calls" in delta]
        assert json.loads("".join(arguments))["status"] == "blocked"
        assert llama.requests == []


async def test_a_client_that_goes_away_stops_the_generation(tmp_path: Path) -> None:
    begun = [Headers(), Text('{"tool":"answer","text":"one'), Stall()]
    async with ModelServer([begun, reply(tool="answer", text="two")]) as llama, facade(llama) as client:
        async with client.stream("POST", "/chat/completions", json=request(tmp_path, "hello")) as response:
            async for line in response.aiter_lines():
                if '"one"' in line:
                    break
        async with asyncio.timeout(3):
            await llama.requests[0].client_gone.wait()
        after = deltas(await stream(client, request(tmp_path, "hello")))
        assert "".join(delta.get("content") or "" for delta in after) == "two"


async def test_an_error_of_the_model_server_is_handed_on(tmp_path: Path) -> None:
    script = [[Status(400, {"error": {"message": "the request exceeds the available context size"}})]]
    async with ModelServer(script) as llama, facade(llama) as client:
        response = await client.post("/chat/completions", json=request(tmp_path, "hello"))
        assert response.status_code == 400
        assert "context size" in response.json()["error"]["message"]
    async with facade(llama) as client:
        response = await client.post("/chat/completions", json=request(tmp_path, "hello"))
        assert response.status_code == 503


@pytest.mark.parametrize("body", [b"", b"[]", b'{"messages": 3}', b"\xff"])
async def test_a_request_that_is_none_is_refused(body: bytes) -> None:
    async with ModelServer() as llama, facade(llama) as client:
        assert (await client.post("/chat/completions", content=body)).status_code == 400
