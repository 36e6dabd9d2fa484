"""The local model's process: started on demand, started again when it dies, gone with the app, quiet throughout."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil
import pytest

from smith_core.embedded.runtime.supervisor import LocalModelServer
from smith_core.errors import AgentFailure
from smith_core.llm.protocol import Endpoint

FAKE = "tests.support.fake_local_model"
ASK = {"messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[LocalModelServer]:
    server = LocalModelServer(module=FAKE, log_path=tmp_path / "log")
    yield server
    await server.aclose()


def weights(folder: Path, what: str = "") -> Path:
    path = folder / f"model{what}.gguf"
    path.write_text(f"GGUF{what}")
    return path


async def ask(endpoint: Endpoint) -> str:
    headers = {"authorization": f"Bearer {endpoint.api_key}"}
    async with httpx.AsyncClient(headers=headers, timeout=20) as client:
        response = await client.post(f"{endpoint.api_url}/chat/completions", json=ASK)
        return str(response.json()["choices"][0]["message"]["content"])


async def test_it_answers_once_started_under_one_address_and_one_token(
    server: LocalModelServer, tmp_path: Path
) -> None:
    path = weights(tmp_path)
    endpoint = await server.start(path, "smith-local")
    pid = server.pid
    assert await ask(endpoint) == "ready"
    assert await server.start(path, "smith-local") == endpoint
    assert server.pid == pid
    assert endpoint.api_url.startswith("http://127.0.0.1:")
    assert len(endpoint.api_key) >= 32


async def test_its_token_is_in_no_command_line_and_no_environment(server: LocalModelServer, tmp_path: Path) -> None:
    endpoint = await server.start(weights(tmp_path), "smith-local")
    process = psutil.Process(server.pid)
    assert not any(endpoint.api_key in text for text in (*process.cmdline(), *process.environ().values()))


async def test_its_output_goes_to_the_log_alone(
    server: LocalModelServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    await server.start(weights(tmp_path), "smith-local")
    await server.aclose()
    assert capfd.readouterr() == ("", "")
    assert "chatter" in (tmp_path / "log").read_text()
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0


async def test_a_process_that_was_killed_is_started_again_at_the_same_address(
    server: LocalModelServer, tmp_path: Path
) -> None:
    endpoint = await server.start(weights(tmp_path), "smith-local")
    first = server.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await asyncio.to_thread(psutil.wait_procs, [psutil.Process(first)] if psutil.pid_exists(first) else [], 5)
    assert await ask(endpoint) == "ready"
    assert server.endpoint == endpoint


async def test_a_process_that_keeps_dying_is_given_up_and_its_address_refuses(
    server: LocalModelServer, tmp_path: Path
) -> None:
    endpoint = await server.start(weights(tmp_path), "smith-local")
    async with asyncio.timeout(30):
        killed: set[int] = set()
        while server.endpoint == endpoint:
            pid = server.pid
            if pid is not None and pid not in killed:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.05)
    with pytest.raises(httpx.ConnectError):
        await ask(endpoint)
    again = await server.start(weights(tmp_path), "smith-local")
    assert await ask(again) == "ready"


async def test_closing_ends_the_process(server: LocalModelServer, tmp_path: Path) -> None:
    endpoint = await server.start(weights(tmp_path), "smith-local")
    pid = server.pid
    assert pid is not None
    await server.aclose()
    assert not psutil.pid_exists(pid)
    with pytest.raises(httpx.ConnectError):
        await ask(endpoint)


@pytest.mark.parametrize(
    ("content", "code"), [("GGUFrefuse", "wrong_weights"), ("GGUFdie", "local_model"), ("junk", "wrong_weights")]
)
async def test_what_cannot_be_loaded_is_one_sentence(
    server: LocalModelServer, tmp_path: Path, content: str, code: str
) -> None:
    path = tmp_path / "model.gguf"
    path.write_text(content)
    with pytest.raises(AgentFailure) as caught:
        await server.start(path, "smith-local")
    assert caught.value.error.code == code
    assert "\n" not in caught.value.error.message
    assert server.pid is None
    assert await ask(await server.start(weights(tmp_path), "smith-local")) == "ready"


async def launched() -> psutil.Process:
    """Wait for a process of the server, and return it."""
    async with asyncio.timeout(20):
        while True:
            for child in psutil.Process().children():
                if FAKE in " ".join(child.cmdline()):
                    return child
            await asyncio.sleep(0.02)


async def chatter_in(log: Path) -> None:
    """Wait until the process has begun to load."""
    async with asyncio.timeout(20):
        while not log.exists() or "chatter" not in log.read_text():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("what", ["hang", "deaf"])
@pytest.mark.parametrize("is_given_up", [False, True])
async def test_closing_waits_for_no_launch_and_leaves_no_process(
    server: LocalModelServer, tmp_path: Path, what: str, is_given_up: bool
) -> None:
    starting = asyncio.ensure_future(server.start(weights(tmp_path, what), "smith-local"))
    child = await launched()
    await chatter_in(tmp_path / "log")
    if is_given_up:
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        assert child.is_running()
    async with asyncio.timeout(2):
        await server.aclose()
    assert not child.is_running()
    if not is_given_up:
        with pytest.raises(AgentFailure, match="ended meanwhile"):
            await starting


async def test_a_closed_one_starts_nothing_any_more(server: LocalModelServer, tmp_path: Path) -> None:
    await server.aclose()
    with pytest.raises(AgentFailure, match="ended meanwhile"):
        await server.start(weights(tmp_path), "smith-local")
    assert server.pid is None


async def test_a_start_that_is_given_up_goes_on_for_the_next_one(server: LocalModelServer, tmp_path: Path) -> None:
    path = weights(tmp_path, "slow")
    starting = asyncio.ensure_future(server.start(path, "smith-local"))
    child = await launched()
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    (tmp_path / "go").touch()
    assert await ask(await server.start(path, "smith-local")) == "ready"
    assert server.pid == child.pid


async def test_a_start_that_is_given_up_makes_room_for_another_model(server: LocalModelServer, tmp_path: Path) -> None:
    starting = asyncio.ensure_future(server.start(weights(tmp_path, "hang"), "smith-local"))
    child = await launched()
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    assert await ask(await server.start(weights(tmp_path), "smith-local")) == "ready"
    assert not child.is_running()


APP = """
import asyncio, pathlib, sys
from smith_core.embedded.runtime.supervisor import LocalModelServer

async def main():
    server = LocalModelServer(module=sys.argv[1])
    await server.start(pathlib.Path(sys.argv[2]), "smith-local")
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_it_is_gone_when_the_app_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", APP, FAKE, str(weights(tmp_path))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout is not None
        model = psutil.Process(int(app.stdout.readline()))
        app.kill()
        _, alive = psutil.wait_procs([model], timeout=5)
    assert not alive
