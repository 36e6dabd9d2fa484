"""The model host as a real process: many streams, cancel, death and new life, and nothing that leaks."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from smith_core.cancel import new_root
from smith_core.errors import AgentFailure
from smith_core.events import AnyEvent, OutputDiscarded, TextDelta
from smith_core.llm.client import HostClient, start_host_process
from smith_core.llm.protocol import (
    AnyStreamPart,
    Completion,
    Endpoint,
    ModelRequest,
    StreamDone,
    StreamText,
    Timeouts,
)
from smith_core.llm.retry import CompletionOutcome, RetryPolicy, request_completion
from smith_core.messages import Message, ToolCall
from tests.support.model_server import ModelServer
from tests.support.model_steps import Call, Cut, Finish, Reasoning, Stall, Text, Usage, call_tools, http_error, say

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY = "sk-test-SECRET123"


class Hosted:
    """A client, a strict model server, and what the host must leave alone: a folder, and the network beyond."""

    def __init__(
        self, client: HostClient, server: ModelServer, log_path: Path, folder: Path, contacts: list[bytes]
    ) -> None:
        self.client = client
        self.server = server
        self.log_path = log_path
        self.folder = folder
        self.contacts = contacts
        self.once: list[Any] = []

    def request(self, text: str = "hello", **fields: Any) -> ModelRequest:
        endpoint = Endpoint(api_url=self.server.url, api_key=KEY)
        messages = (Message(role="user", content=text),)
        return ModelRequest(**{"model": "m", "messages": messages, "endpoint": endpoint, **fields})

    async def ask(self, text: str = "hello", **fields: Any) -> tuple[list[AnyStreamPart], Completion]:
        parts = [part async for part in self.client.stream(self.request(text, **fields))]
        assert isinstance(parts[-1], StreamDone)
        return parts, parts[-1].completion

    @property
    def process(self) -> psutil.Process:
        """The host's process, from the outside."""
        (child,) = [
            child for child in psutil.Process().children() if "smith_core.llm.host" in " ".join(child.cmdline())
        ]
        return child


def answer_by_text(text: str) -> Any:
    """Answer as the request's text asks; `slow N` streams N words at 100 a second."""
    words = text.split()
    if words[0] == "slow":
        return say(f"{words[1]} " * int(words[1]), size=len(words[1]) + 1, rate=100)
    return {
        "hello": say("hello there"),
        "stall": [Text("so far"), Stall()],
        "silent": [Stall()],
        "cut": [Text("The answer "), Text("is "), Cut("rst")],
        "half a call": [
            *call_tools(Call(name="write", arguments='{"path": "a'))[:1],
            Cut("rst"),
        ],
        "calls": call_tools(("read", {"path": "a"}), ("read", {"path": "b"}), order="interleaved"),
        "burst": [Text("x" * 5000, size=1), Finish(), Usage()],
        "refuse": http_error(401, "Incorrect API key", echo_key=True),
        "empty": [Finish(), Usage()],
        "blanks": [Text("  \n"), Finish(), Usage()],
        "reasoning only": [Reasoning("hm"), Finish(), Usage()],
        "done only": [],
        "wait": http_error(429, "slow down", headers={"Retry-After": "3"}),
    }[text]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def hosted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hosted]:
    """One host for all: started with keys and proxies in the environment, in a folder that sets traps."""
    folder = tmp_path_factory.mktemp("repository")
    log_path = tmp_path_factory.mktemp("host") / "host.log"
    for name in ("httpx", "openai", "litellm", "msgspec", "socket"):
        (folder / f"{name}.py").write_text(f"open({str(folder / 'imported')!r}, 'w')\nraise SystemExit\n")
    (folder / ".env").write_text("LITELLM_LOG=DEBUG\n")
    contacts: list[bytes] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        contacts.append(await reader.read(200))
        writer.close()

    proxy = await asyncio.start_server(note, "127.0.0.1", 0)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            patch.setenv(name, f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        for name in ("LLM_API_KEY", "OTHER_KEY"):
            patch.setenv(name, KEY)
        patch.setenv("MY_VAR", "1")
        patch.chdir(folder)
        process = start_host_process(("LLM_API_KEY", "OTHER_KEY"), log_path)
    client = HostClient(process)

    def script(request: dict[str, Any]) -> Any:
        text = request["messages"][-1]["content"]
        return hosted.once.pop(0) if text == "once" else answer_by_text(text)

    async with proxy, ModelServer(script, strict=True) as server:
        hosted = Hosted(client, server, log_path, folder, contacts)
        yield hosted
    await client.aclose()


async def test_a_request_may_come_before_litellm_is_imported(hosted: Hosted) -> None:
    _, completion = await hosted.ask()
    assert completion.text == "hello there" and completion.usage.input_tokens == 100
    assert hosted.server.requests[0].key == KEY
    await hosted.client.wait_until_ready()


async def test_several_streams_at_once(hosted: Hosted) -> None:
    started = time.perf_counter()
    answers = await asyncio.gather(*(hosted.ask(f"slow {number}") for number in range(20, 28)))
    took = time.perf_counter() - started
    for number, (_, completion) in zip(range(20, 28), answers, strict=True):
        assert completion.text == f"{number} " * number
    assert took < 1.5


async def test_parts_are_joined_to_one_screen_frame_each(hosted: Hosted) -> None:
    await hosted.client.wait_until_ready()
    arrived: list[float] = []
    async for part in hosted.client.stream(hosted.request("slow 50")):
        if isinstance(part, StreamText):
            arrived.append(time.perf_counter())
    took = arrived[-1] - arrived[0]
    assert 10 < len(arrived) <= took / 0.016 + 2


async def test_the_first_part_does_not_wait_for_a_second_one(hosted: Hosted) -> None:
    async with aclosing(hosted.client.stream(hosted.request("stall"))) as parts:
        assert await asyncio.wait_for(anext(parts), 10) == StreamText(text="so far")


async def test_calls_come_through_whole(hosted: Hosted) -> None:
    _, completion = await hosted.ask("calls")
    assert completion.tool_calls == (
        ToolCall("call_0", "read", '{"path": "a"}'),
        ToolCall("call_1", "read", '{"path": "b"}'),
    )


@pytest.mark.parametrize("text", ["stall", "silent", "slow 500", "burst"])
async def test_closing_the_iterator_closes_the_servers_socket(text: str, hosted: Hosted) -> None:
    count = len(hosted.server.requests)

    async def read() -> None:
        async with aclosing(hosted.client.stream(hosted.request(text))) as parts:
            async for _ in parts:
                pass

    task = asyncio.ensure_future(read())
    request = await hosted.server.wait_for_requests(count + 1)
    await asyncio.sleep(0.03)
    cancelled_at = time.perf_counter()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await asyncio.wait_for(request.ended.wait(), 1)
    if text != "burst":
        assert request.client_gone.is_set()
        assert request.gone_at - cancelled_at < 0.1
    assert (await hosted.ask())[1].text == "hello there"


async def test_b06_what_came_before_a_cut_arrives_and_a_half_call_does_not(hosted: Hosted) -> None:
    texts: list[str] = []
    with pytest.raises(AgentFailure) as caught:
        async for part in hosted.client.stream(hosted.request("cut")):
            assert isinstance(part, StreamText)
            texts.append(part.text)
    assert "".join(texts) == "The answer is "
    assert (caught.value.error.kind, caught.value.error.code) == ("transport", "stream_cut")
    with pytest.raises(AgentFailure):
        async for part in hosted.client.stream(hosted.request("half a call")):
            assert not isinstance(part, StreamDone)


class Turn:
    """One round of the model as the turn makes it, with quick waits."""

    def __init__(self, hosted: Hosted, *, retry_after_output: bool = False) -> None:
        self.hosted = hosted
        self.events: list[AnyEvent] = []
        self.policy = RetryPolicy(
            transport_waits_ms=(1.0,), empty_waits_ms=(1.0,), retry_after_output=retry_after_output
        )

    async def run(self, text: str) -> CompletionOutcome:
        request = self.hosted.request(text)
        token = new_root()
        return await request_completion(
            self.hosted.client, request, self.policy, token, self.events.append, "turn-1", jitter=lambda: 0.0
        )


@pytest.mark.parametrize("text", ["empty", "blanks", "reasoning only", "done only"])
async def test_b05_empty_answers_cost_three_calls_and_end_in_an_error(text: str, hosted: Hosted) -> None:
    before = len(hosted.server.requests)
    outcome = await Turn(hosted).run(text)
    assert outcome.error is not None and outcome.error.code == "empty_response"
    assert len(hosted.server.requests) - before == 3


@pytest.mark.parametrize(("retry_after_output", "calls"), [(False, 1), (True, 2)])
async def test_b06_a_reset_in_mid_answer(retry_after_output: bool, calls: int, hosted: Hosted) -> None:
    before = len(hosted.server.requests)
    hosted.once = [[Text("The answer "), Text("is "), Cut("rst")], say("The answer is 42.", size=3)]
    turn = Turn(hosted, retry_after_output=retry_after_output)
    outcome = await turn.run("once")
    assert len(hosted.server.requests) - before == calls
    if retry_after_output:
        assert outcome.completion is not None and outcome.completion.text == "The answer is 42."
        shown = turn.events[turn.events.index(OutputDiscarded()) :]
        assert "".join(event.text for event in shown if isinstance(event, TextDelta)) == "The answer is 42."
    else:
        assert outcome.error is not None and outcome.error.kind == "transport"
        assert outcome.partial_text == "The answer is "


async def test_errors_cross_the_socket_whole(hosted: Hosted) -> None:
    with pytest.raises(AgentFailure) as caught:
        await hosted.ask("wait")
    error = caught.value.error
    assert (error.code, error.retryable, dict(error.data)) == (
        "rate_limited",
        True,
        {"status": 429, "retry_after_s": 3.0},
    )
    with pytest.raises(TypeError):
        error.data["status"] = 1  # type: ignore[index]


async def test_models_are_listed_by_the_host(hosted: Hosted) -> None:
    models = await hosted.client.list_models(Endpoint(api_url=hosted.server.url, api_key=KEY), Timeouts())
    assert [model.id for model in models] == ["scripted"] and models[0].context_window == 32768
    with pytest.raises(AgentFailure) as caught:
        await hosted.client.list_models(Endpoint(api_url="http://127.0.0.1:9/v1"), Timeouts())
    assert caught.value.error.code == "connect_failed"


async def test_b27_the_key_is_in_no_argument_environment_log_or_error(hosted: Hosted) -> None:
    with pytest.raises(AgentFailure) as caught:
        await hosted.ask("refuse")
    assert caught.value.error.code == "unauthorized" and "SECRET" not in repr(caught.value.error)
    process = hosted.process
    assert "SECRET" not in " ".join(process.cmdline())
    environment = Path(f"/proc/{process.pid}/environ").read_text()
    assert "SECRET" not in environment and "MY_VAR=1" in environment
    assert "SECRET" not in hosted.log_path.read_text()
    assert hosted.log_path.stat().st_mode & 0o777 == 0o600


async def test_the_host_stands_apart_from_the_terminal(hosted: Hosted) -> None:
    process = hosted.process
    assert os.getsid(process.pid) == process.pid and process.terminal() is None
    assert process.cwd() == "/"
    os.kill(process.pid, signal.SIGINT)
    assert (await hosted.ask())[1].text == "hello there"


# These names make litellm look for tokenizers on the model hub.
@pytest.mark.parametrize("model", ["replicate/x", "meta-llama/Llama-3-8b", "command-r", "claude-x"])
async def test_nothing_is_fetched_from_the_network(model: str, hosted: Hosted) -> None:
    assert (await hosted.ask(model=model))[1].text == "hello there"
    assert hosted.contacts == []


async def test_nothing_of_the_current_folder_is_imported(hosted: Hosted) -> None:
    await hosted.client.wait_until_ready()
    assert not (hosted.folder / "imported").exists()


async def test_a_killed_host_is_a_retryable_failure_and_the_next_request_works(hosted: Hosted) -> None:
    first = hosted.process.pid
    streams = [asyncio.ensure_future(hosted.ask("stall")) for _ in range(2)]
    await hosted.server.wait_for_requests(len(hosted.server.requests) + 2)
    os.kill(first, signal.SIGKILL)
    for stream in streams:
        with pytest.raises(AgentFailure) as caught:
            await stream
        error = caught.value.error
        assert (error.kind, error.code, error.retryable) == ("transport", "host_died", True)
        assert "SIGKILL" in error.message
    assert not psutil.pid_exists(first), "it is reaped"
    assert (await hosted.ask())[1].text == "hello there"
    assert hosted.process.pid != first
