"""Processes, cancel and prompts: nothing outlives its cancel, and nothing is waited for that goes on (B07, B08)."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.tools.shell import BASH
from tests.support.bash_calls import (
    DAEMON,
    BashCalls,
    bash_calls,
    descriptors_before,
    open_descriptors,
    python,
    wait_until,
)
from tests.support.model_steps import Call, Calls, Finish, call_tools
from tests.support.place import Place, ready
from tests.support.processes import is_alive, wait_for_file
from tests.support.seat import Seat, end_all, wait_until_gone
from tests.support.server_thread import ServerThread


@pytest.fixture
def bash(tmp_path: Path) -> Iterator[BashCalls]:
    with bash_calls(tmp_path) as calls:
        yield calls


STUBBORN = [
    "bash -c 'sleep 9871 & sleep 9872; echo x'",
    "trap '' TERM INT; sleep 9873; sleep 9874",
    "yes >/dev/null & wait",
    "(setsid sleep 9876 &); setsid -w sleep 9877",
    f"{python(DAEMON)}; sleep 9878",
    f"env -i {python(DAEMON)}; sleep 9879",
    "while :; do sleep 0.01; done",
    "yes",
    "sleep 9880 | cat | cat",
    "exec >/dev/null 2>&1 </dev/null; sleep 9881; true",
    "kill -STOP $$",
]


@pytest.mark.parametrize("command", STUBBORN)
async def test_b07_a_timeout_ends_the_whole_tree(bash: BashCalls, command: str) -> None:
    outcome = await bash(f"echo begun; {command}", timeout=0.25)
    assert not bash.living()
    assert not outcome.ok
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.code) == ("tool", "timeout")
    assert outcome.metadata.timed_out
    assert outcome.content.startswith("begun\n")
    assert outcome.content.endswith("[timed out after 0.25 s]")
    assert outcome.mutation_state in ("attempted", "unknown")
    assert not outcome.cancelled


@pytest.mark.parametrize("command", STUBBORN)
async def test_b07_a_cancel_ends_the_whole_tree(bash: BashCalls, command: str) -> None:
    token = new_root()
    call = asyncio.ensure_future(bash(f"echo begun; {command}", token=token.new_child()))
    await bash.until_output(b"begun")
    await asyncio.sleep(0.1)
    token.request()
    outcome = await call
    assert not bash.living()
    assert outcome.cancelled
    assert not outcome.ok
    assert outcome.error is not None
    assert outcome.error.kind == "cancelled"
    assert outcome.content.startswith("begun\n")
    assert outcome.content.endswith("[cancelled]")
    assert outcome.mutation_state in ("attempted", "unknown")


@pytest.mark.parametrize("command", STUBBORN[:5])
async def test_b07_a_cancelled_task_ends_the_whole_tree(bash: BashCalls, command: str) -> None:
    call = asyncio.ensure_future(bash(f"echo begun; {command}"))
    await bash.until_output(b"begun")
    await asyncio.sleep(0.1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not bash.living()


async def test_b07_a_task_cancelled_twice_does_not_wait(bash: BashCalls) -> None:
    with_long_grace = BashCalls(bash.folder, BASH)
    call = asyncio.ensure_future(with_long_grace("trap '' TERM; echo begun; sleep 300; true"))
    await with_long_grace.until_output(b"begun")
    call.cancel()
    await asyncio.sleep(0.05)
    started = time.monotonic()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.monotonic() - started < 1
    assert not bash.living()


async def test_b07_the_tool_as_registered_needs_less_than_three_seconds(tmp_path: Path) -> None:
    with bash_calls(tmp_path, BASH) as bash:
        token = new_root()
        call = asyncio.ensure_future(bash("trap '' TERM; echo begun; sleep 300; true", token=token))
        await bash.until_output(b"begun")
        started = time.monotonic()
        token.request()
        outcome = await call
        assert time.monotonic() - started < 3
        assert outcome.cancelled
        assert not bash.living()


async def test_b07_a_cancel_keeps_other_calls_and_their_background_processes(bash: BashCalls) -> None:
    await bash("sleep 300 >/dev/null 2>&1 & echo up")
    token = new_root()
    doomed = asyncio.ensure_future(bash("sleep 301", token=token))
    other = asyncio.ensure_future(bash("sleep 0.5; echo done"))
    await asyncio.sleep(0.2)
    token.request()
    assert (await doomed).cancelled
    assert (await other).content == "done\n[exit code 0]"
    assert [process.cmdline() for process in bash.living()] == [["sleep", "300"]]


async def test_a_call_that_is_cancelled_beforehand_starts_nothing(bash: BashCalls) -> None:
    token = new_root()
    token.request()
    outcome = await bash("touch ran", token=token)
    assert outcome.cancelled
    assert outcome.mutation_state == "none"
    assert not (bash.folder / "ran").exists()


async def test_a_command_may_clean_up_when_it_is_stopped(bash: BashCalls, tmp_path: Path) -> None:
    patient = BashCalls(tmp_path, BASH)
    outcome = await patient("trap 'echo cleaned up; exit' TERM; while :; do sleep 0.02; done", timeout=0.2)
    assert "cleaned up\n" in outcome.content
    assert outcome.metadata.duration_s < 2


BACKGROUND = [
    ("sleep 60 & echo started", "started\n"),
    ("(setsid sleep 61 &) ; echo ok", "ok\n"),
    ("nohup sleep 62 >/dev/null 2>&1 & echo up", "up\n"),
    ("exec > >(tee -a t.log) 2>&1 && echo done", "done\n"),
    ("for n in 1 2 3 4 5 6 7 8 9; do echo tick; sleep 0.2; done & echo go", "go\n"),
    ("yes & echo flood", "flood\n"),
    (f"{python(DAEMON)} & echo daemon", "daemon\n"),
    ("coproc cat; echo coproc", "coproc\n"),
    ("(trap '' HUP TERM; sleep 63) & disown; echo disowned", "disowned\n"),
]


@pytest.mark.parametrize(("command", "text"), BACKGROUND)
async def test_b08_a_background_process_does_not_hold_the_call(bash: BashCalls, command: str, text: str) -> None:
    await bash("true")
    before = descriptors_before(), threading.active_count(), len(asyncio.all_tasks())
    started = time.monotonic()
    outcome = await bash(command, timeout=30)
    assert time.monotonic() - started < 2
    assert outcome.ok
    assert outcome.metadata.exit_code == 0
    assert text in outcome.content
    assert (open_descriptors(), threading.active_count(), len(asyncio.all_tasks())) == before
    assert (await bash("echo next")).content == "next\n[exit code 0]"


async def test_b08_a_background_process_lives_on_and_the_model_is_told(bash: BashCalls) -> None:
    outcome = await bash("sleep 60 & echo started")
    assert "a background process still runs" in outcome.content
    assert [process.name() for process in bash.living()] == ["sleep"]
    silent = await bash("sleep 61 >/dev/null 2>&1 & echo started")
    assert silent.content == "started\n[exit code 0]"
    assert len(bash.living()) == 2


async def test_b08_a_server_with_its_output_in_a_file_serves_the_next_call(bash: BashCalls) -> None:
    server = "import http.server as h; s = h.ThreadingHTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); "
    server += "open('port', 'w').write(str(s.server_port)); s.serve_forever()"
    await bash(f"{python(server)} >log 2>&1 &")
    assert wait_until(lambda: (bash.folder / "port").exists() and bool((bash.folder / "port").read_text()), 10)
    fetch = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:' + open('port').read()).status)"
    assert (await bash(python(fetch))).content == "200\n[exit code 0]"


async def test_b08_output_written_before_the_end_is_complete(bash: BashCalls) -> None:
    outcome = await bash("seq 1 15000; sleep 60 & exit 2")
    assert outcome.content.startswith("".join(f"{number}\n" for number in range(1, 15_001)))
    assert outcome.metadata.exit_code == 2


def test_b07_cancel_in_mid_tool_ends_the_whole_tree(place: Place) -> None:
    command = "trap '' TERM INT; (sleep 9872 & echo $! > inner; wait) & echo $! > outer; sleep 9871"
    call = Call(name="bash", arguments={"command": command})
    answers = [[Calls(calls=(call,)), Finish(reason="tool_calls")], "hello again"]
    with ServerThread(answers, strict=True) as server, place.start(server.url) as terminal:
        ready(terminal).type("go\r")
        wait_for_file(place.project / "inner")
        terminal.type("\x03")
        terminal.type("typed at once")
        terminal.wait_for("typed at once", timeout=2)
        terminal.wait_for("cancelled", timeout=5)
        pids = [int((place.project / name).read_text()) for name in ("inner", "outer")]
        assert not any(map(is_alive, pids))
        terminal.type("\r")
        terminal.wait_for("hello again")
        assert server.server.violations == []


STUBBORN = (
    "(setsid sleep 98721 &) ; (trap '' TERM INT HUP; sleep 98722) & (sleep 98723 & kill -STOP $!) ; "
    "python3 -c 'import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "os.fork() or os.setsid() or os.fork() or time.sleep(98724); time.sleep(98724)' & "
    "echo > begun; sleep 98725"
)


def test_b07_nothing_that_a_command_has_started_outlives_its_cancel(seat: Seat) -> None:
    seat.begin("start it", call_tools(("bash", {"command": STUBBORN}), ("bash", {"command": "echo never"})))
    wait_for_file(seat.project / "begun")
    seat.cancelled()
    wait_until_gone(("sleep 9872", "time.sleep(98724)"))
    seat.ask("go on")
    told = [message["content"] for message in seat.server.requests[-1].json["messages"] if message["role"] == "tool"]
    assert len(told) == 2 and "never" not in told[1]


def test_b07_a_command_of_the_persons_own_ends_with_all_it_started(seat: Seat) -> None:
    seat.terminal.type("!sleep 98731 & echo > own; sleep 98732\r")
    wait_for_file(seat.project / "own")
    seat.terminal.type("\x03")
    wait_until_gone(("sleep 9873",))
    seat.ask("go on")


def test_b07_a_childs_command_ends_with_the_turn_of_its_parent(seat: Seat) -> None:
    job = {"role": "worker", "task": "wait", "files": ["x"]}
    seat.begin(
        "send one out", call_tools(("dispatch", job)), call_tools(("bash", {"command": "echo > w; sleep 98741"}))
    )
    wait_for_file(seat.project / "w")
    seat.cancelled()
    wait_until_gone(("sleep 98741",))
    asked = len(seat.server.requests)
    seat.ask("go on")
    assert len(seat.server.requests) == asked + 1


KEPT_OPEN = {
    "sleep 98751 & echo started": "started",
    "(setsid sleep 98752 &) ; echo ok": "ok",
    "nohup sleep 98753 >/dev/null 2>&1 & echo up": "up",
    "exec > >(tee -a t.log) 2>&1 && echo done": "done",
    "for n in 1 2 3 4 5 6 7 8 9; do echo tick; sleep 0.2; done & echo go": "go",
    "coproc sleep 98754; echo both": "both",
    "exec 7>&1; (sleep 98755 >&7) & disown; echo seven": "seven",
}


def test_b08_what_keeps_the_pipe_open_holds_no_call(seat: Seat) -> None:
    started = time.monotonic()
    results = seat.run(*KEPT_OPEN)
    assert time.monotonic() - started < 20
    for result, word in zip(results, KEPT_OPEN.values(), strict=True):
        assert word in result and "exit code 0" in result
    assert "after" in seat.run("echo after")[0]
    # Whoever starts a server wants it to stay; these ends with the test.
    end_all(("sleep 9875",))
