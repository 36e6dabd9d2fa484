"""A shared model host as a real process: found again, apart from every terminal, without keys, started once."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from smith_core.errors import AgentFailure
from smith_core.llm.client import HostClient, HostProcess, SharedHost, find_host
from smith_core.llm.frames import Status
from smith_core.llm.host_control import running_hosts, stop_hosts
from smith_core.llm.protocol import Endpoint, ModelRequest, StreamDone, Timeouts
from smith_core.messages import Message
from tests.support.model_server import ModelServer
from tests.support.model_steps import Stall, Text, say
from tests.support.processes import is_alive

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY = "sk-test-SECRET123"

START_AND_LEAVE = """
import os
from smith_core.llm.client import find_host
host = find_host(("LLM_API_KEY",), 60.0)
print(os.getsid(0), flush=True)
"""


class Home:
    """An environment with keys, and a folder for sockets of its own."""

    def __init__(self, root: Path) -> None:
        run = root / "run"
        run.mkdir(mode=0o700)
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            "HOME": str(root),
            "XDG_RUNTIME_DIR": str(run),
            "LLM_API_KEY": KEY,
            "OPENAI_API_KEY": KEY,
            "HTTPS_PROXY": "http://person:SECRET@127.0.0.1:9",
        }

    def find(self, linger_s: float = 60.0, **changes: str) -> SharedHost:
        found = find_host(("LLM_API_KEY",), linger_s, environ={**self.environ, **changes})
        assert isinstance(found, SharedHost)
        return found

    async def status(self) -> Status:
        (report,) = await asyncio.to_thread(running_hosts, self.environ)
        assert report.status is not None
        return report.status


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = Home(tmp_path_factory.mktemp("home"))
    yield made
    stop_hosts(made.environ)
    assert running_hosts(made.environ) == ()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def process(home: Home) -> psutil.Process:
    """A warm host; the program in a terminal that started it has ended, and the terminal was closed."""
    command = [sys.executable, "-c", START_AND_LEAVE]
    starter = await asyncio.to_thread(
        subprocess.run, command, env=home.environ, stdout=subprocess.PIPE, start_new_session=True, check=True
    )
    session = int(starter.stdout)
    client = HostClient(home.find())
    await client.wait_until_ready()
    with suppress(ProcessLookupError):
        os.killpg(session, signal.SIGHUP)
    await client.aclose()
    host = psutil.Process((await home.status()).pid)
    host.send_signal(signal.SIGHUP)
    return host


@pytest_asyncio.fixture(loop_scope="module")
async def client(home: Home, process: psutil.Process) -> AsyncIterator[HostClient]:
    made = HostClient(home.find())
    yield made
    await made.aclose()


async def ask(client: HostClient, url: str, text: str = "hello") -> str:
    request = ModelRequest(
        model="m",
        messages=(Message(role="user", content=text),),
        endpoint=Endpoint(api_url=url, api_key=KEY),
    )
    parts: list[Any] = [part async for part in client.stream(request)]
    assert isinstance(parts[-1], StreamDone)
    return parts[-1].completion.text


async def test_the_next_program_is_served_by_the_same_process(home: Home, process: psutil.Process) -> None:
    async with ModelServer([say("one"), say("two")], strict=True) as server:
        for text in ("one", "two"):
            client = HostClient(home.find())
            assert await ask(client, server.url) == text
            await client.aclose()
        assert [request.key for request in server.requests] == [KEY, KEY]
        assert server.connections_opened == 1, "its connections wait, too"
    status = await home.status()
    assert (status.pid, status.apps, status.is_ready, status.linger_s) == (process.pid, 0, True, 60.0)


async def test_it_stands_apart_from_terminal_folder_and_files(process: psutil.Process) -> None:
    assert process.terminal() is None and os.getsid(process.pid) == process.pid
    assert process.cwd() == "/" and process.ppid() != os.getpid()
    targets = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)]  # noqa: PTH115
    assert targets == ["/dev/null"] * 3
    assert {Path(file.path).name for file in process.open_files()} <= {"lock"}


async def test_b27_it_has_no_key_in_environment_and_arguments(process: psutil.Process) -> None:
    environment = Path(f"/proc/{process.pid}/environ").read_bytes()
    assert b"SECRET" not in environment and b"HTTPS_PROXY=" in environment
    assert "SECRET" not in " ".join(process.cmdline())


async def test_it_costs_nothing_while_it_waits(process: psutil.Process) -> None:
    await asyncio.sleep(0.2)
    before, switches = process.cpu_times(), process.num_ctx_switches().voluntary
    await asyncio.sleep(0.5)
    after = process.cpu_times()
    assert after.user + after.system == before.user + before.system
    assert process.num_ctx_switches().voluntary - switches <= 5


@pytest.mark.parametrize("changes", [{"HTTPS_PROXY": ""}, {"SSL_CERT_FILE": "/x"}, {"OPENAI_API_BASE": "http://x"}])
async def test_another_environment_gets_another_host(
    changes: dict[str, str], home: Home, process: psutil.Process
) -> None:
    other = home.find(**changes)
    try:
        assert other.started is not None and other.started.pid != process.pid
    finally:
        assert other.started is not None
        other.started.kill()
        other.started.wait(5)
        other.close()


@pytest.mark.parametrize(
    ("linger_s", "names_address", "changes"),
    [
        (0.0, True, {}),
        (60.0, False, {"AWS_SECRET_ACCESS_KEY": "x"}),
        (60.0, True, {"XDG_RUNTIME_DIR": "", "HOME": "/proc"}),
    ],
    ids=["switched off", "credentials of a cloud", "no private folder"],
)
async def test_when_a_program_has_a_host_of_its_own(
    linger_s: float, names_address: bool, changes: dict[str, str], home: Home
) -> None:
    environ = {**home.environ, **changes}
    own = find_host(("LLM_API_KEY",), linger_s, names_address=names_address, environ=environ)
    assert isinstance(own, HostProcess)
    own.process.kill()
    own.close()


async def test_requests_that_live_on_credentials_of_the_environment_do_not_go_there(
    home: Home, process: psutil.Process
) -> None:
    addressed, keyed = Endpoint(api_url="http://x"), Endpoint(api_key="k")
    for changes, served in (({}, [True, True, False]), ({"AWS_SECRET_ACCESS_KEY": "x"}, [True, False, False])):
        shared = home.find(**changes)
        assert [shared.serves(endpoint) for endpoint in (addressed, keyed, Endpoint())] == served
        assert shared.started is None, "a credential alone makes no other host"
        shared.close()


async def test_programs_that_start_at_once_start_one_host(tmp_path: Path) -> None:
    place = Home(tmp_path)
    found: list[SharedHost] = []
    threads = [threading.Thread(target=lambda: found.append(place.find())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    started = [host.started for host in found if host.started is not None]
    assert len(found) == 6 and len(started) == 1
    for host in found:
        host.close()
    await place.status()
    started[0].terminate()
    assert started[0].wait(10) == 0, "it ends in order"
    assert os.listdir(tmp_path / "run" / "smith") == ["lock"]  # noqa: PTH208


async def test_a_killed_host_is_a_retryable_failure_and_another_takes_its_place(
    home: Home, client: HostClient, process: psutil.Process
) -> None:
    async with ModelServer([[Text("so far"), Stall()]]) as server:
        asking = asyncio.ensure_future(ask(client, server.url))
        await server.wait_for_requests(1)
        process.kill()
        with pytest.raises(AgentFailure) as caught:
            await asking
        error = caught.value.error
        assert (error.kind, error.code, error.retryable) == ("transport", "host_died", True)
        assert len(await client.list_models(Endpoint(api_url=server.url), Timeouts())) == 1
    assert not is_alive(process.pid)
    assert (await home.status()).pid != process.pid
