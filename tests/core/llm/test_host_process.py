"""The host's process from birth to death: cheap to start, gone with its parent, its failures in words."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from smith_core.errors import AgentFailure
from smith_core.llm.client import HostClient, start_host_process
from smith_core.llm.host_process import host_environment
from smith_core.llm.protocol import Endpoint, ModelRequest, Timeouts
from smith_core.messages import Message
from tests.support.model_server import ModelServer
from tests.support.model_steps import Stall

QUESTION = (Message(role="user", content="x"),)

START_AND_REPORT = """
import sys
from smith_core.llm.client import start_host_process
host = start_host_process()
print(host.process.pid, flush=True)
sys.stdin.read()
"""

START_AND_TIME = """
import sys, time
started = time.perf_counter()
from smith_core.llm.client import start_host_process
host = start_host_process()
print(time.perf_counter() - started)
host.close()
sys.exit(bool({"litellm", "openai", "httpx", "textual"} & set(sys.modules)))
"""


@pytest.mark.parametrize("how", ["killed", "ends"])
def test_the_host_goes_with_its_parent(how: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", START_AND_REPORT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin is not None and parent.stdout is not None
    host = psutil.Process(int(parent.stdout.readline()))
    if how == "killed":
        parent.kill()
    else:
        parent.stdin.close()
    parent.wait(10)
    deadline = time.monotonic() + 3
    while psutil.pid_exists(host.pid) and host.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_starting_is_cheap_and_imports_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", START_AND_TIME], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.5


def test_the_environment_has_no_secrets_and_keeps_loopback_away_from_proxies() -> None:
    environ = {"LLM_API_KEY": "k", "PATH": "/bin", "no_proxy": "intra.example,127.0.0.1", "PYTHONPATH": "x:/lib/x"}
    environment = host_environment(environ, ("LLM_API_KEY",))
    assert "LLM_API_KEY" not in environment and environment["PATH"] == "/bin"
    assert environment["no_proxy"].split(",") == ["intra.example", "127.0.0.1", "localhost", "::1"]
    assert environment["NO_PROXY"].split(",") == ["localhost", "127.0.0.1", "::1"]
    assert environment["PYTHONPATH"].split(os.pathsep)[1:] == ["/lib/x"], "no folder that depends on where we are"


async def test_a_host_killed_between_requests_is_not_even_noticed() -> None:
    process = start_host_process()
    client = HostClient(process)
    async with ModelServer() as server:
        endpoint = Endpoint(api_url=server.url)
        assert len(await client.list_models(endpoint, Timeouts())) == 1
        os.kill(process.process.pid, signal.SIGKILL)
        while psutil.pid_exists(process.process.pid):
            await asyncio.sleep(0.01)
        assert len(await client.list_models(endpoint, Timeouts())) == 1
        assert len(server.all_requests) == 2
    await client.aclose()


async def test_a_host_killed_while_it_starts_is_reported_to_all_who_wait() -> None:
    process = start_host_process()
    client = HostClient(process)
    request = ModelRequest(model="m", messages=QUESTION, endpoint=Endpoint(api_url="http://127.0.0.1:9/v1"))
    waiting = [
        asyncio.ensure_future(anext(client.stream(request))),
        asyncio.ensure_future(client.wait_until_ready()),
    ]
    await asyncio.sleep(0.05)
    process.process.kill()
    for outcome in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(outcome, AgentFailure)
        assert outcome.error.code == "host_died" and outcome.error.retryable
    await client.aclose()


async def test_closing_the_client_ends_the_host_and_what_runs() -> None:
    process = start_host_process()
    client = HostClient(process)
    async with ModelServer([[Stall()]]) as server:
        request = ModelRequest(model="m", messages=QUESTION, endpoint=Endpoint(api_url=server.url))
        stream = asyncio.ensure_future(anext(client.stream(request)))
        await asyncio.sleep(0.05)
        await asyncio.wait_for(client.aclose(), 2)
        with pytest.raises(AgentFailure) as caught:
            await stream
        assert caught.value.error.code == "host_died"
        assert process.process.poll() is not None
        with pytest.raises(AgentFailure) as caught:
            await client.list_models(Endpoint(api_url=server.url), Timeouts())
    assert caught.value.error.code == "client_closed"


async def test_a_host_that_cannot_work_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "litellm.py").write_text("raise ImportError('no litellm here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    client = HostClient(start_host_process())
    request = ModelRequest(model="m", messages=QUESTION, endpoint=Endpoint(api_url="http://127.0.0.1:9/v1"))
    with pytest.raises(AgentFailure) as caught:
        await anext(client.stream(request))
    error = caught.value.error
    assert (error.kind, error.code, error.retryable) == ("internal", "host_broken", False)
    assert "no litellm here" in error.message
    await client.aclose()
