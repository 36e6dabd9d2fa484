"""`smith-tui host`: what a person sees of the hosts that wait, and that they can be ended."""

import argparse
import asyncio
from collections.abc import AsyncIterator

import pytest

from smith_core.llm import host_sharing
from smith_core.llm.client import HostClient
from smith_core.llm.frames import Status
from smith_core.llm.host_control import HostReport
from smith_tui.host_command import add_host_parser, describe, run_host
from tests.support.shared_hosts import STAMP, Place, hosting


@pytest.fixture
async def place(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    monkeypatch.setattr(host_sharing, "code_digest", lambda: STAMP.code)
    async with hosting() as made:
        for name in ("HOME", "XDG_RUNTIME_DIR"):
            monkeypatch.setenv(name, made.environ[name])
        yield made


async def run(action: str) -> int:
    parser = argparse.ArgumentParser()
    add_host_parser(parser.add_subparsers(dest="command"))
    return await asyncio.to_thread(run_host, parser.parse_args(["host", action]))


async def test_status_and_stop(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    client = HostClient(place.shared_host(120.0))
    await client.wait_until_ready()
    assert await run("status") == 0
    assert "used by 1 program, 0 requests" in capsys.readouterr().out
    await client.aclose()
    while place.listener.apps:
        await asyncio.sleep(0)
    assert await run("status") == 0
    assert "unused, ends 2 min after its last use" in capsys.readouterr().out
    assert await run("stop") == 0
    assert capsys.readouterr().out.startswith("ended: process ")
    await asyncio.wait_for(place.ended, 5)
    for action in ("status", "stop"):
        assert await run(action) == 0
        assert capsys.readouterr().out == "No model host is waiting.\n"


def test_a_host_in_words() -> None:
    status = Status(pid=7, age_s=150.0, rss_bytes=190_000_000, apps=2, streams=3, linger_s=600.0, is_ready=False)
    said = describe(HostReport(name="x", status=status))
    assert said == "process 7, started 2 min ago, still getting ready, 190 MB, used by 2 programs, 3 requests"
    assert "smith-tui host stop" in describe(HostReport(name="host-a.sock"))
