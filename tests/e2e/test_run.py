"""`smith-tui run` as a process: a real task, its output forms, exit statuses, signals and bad input."""

import fcntl
import json
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from smith_core.llm.host_control import running_hosts
from tests.e2e.conftest import SMITH, Place
from tests.support.demo_task import RIGHT_LINE, do_task
from tests.support.model_steps import Call, Calls, Finish, Status
from tests.support.place import run
from tests.support.processes import is_alive, wait_for_file
from tests.support.server_thread import ServerThread

BUDGET = ["--set", "tool_step_budget=1"]


def test_a_task_in_text(place: Place) -> None:
    with ServerThread(do_task(), strict=True) as server:
        done = run(place, server.url)
    assert done.returncode == 0, done.stderr
    assert RIGHT_LINE in (place.project / "prices.py").read_text()
    assert "subtracts" in done.stdout
    assert "I'll look at the file first" not in done.stdout
    for step in ("read", "edit", "bash", "15.0"):
        assert step in done.stderr + done.stdout
    assert server.server.violations == []


def test_a_task_in_json(place: Place) -> None:
    with ServerThread(do_task(), strict=True) as server:
        done = run(place, server.url, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "turn_started"
    assert kinds[-1] == "turn_ended"
    assert [event["name"] for event in events if event["type"] == "tool_started"] == ["read", "edit", "bash"]
    assert "".join(event["text"] for event in events if event["type"] == "tool_output").strip() == "15.0"
    result = events[-1]["result"]
    assert (result["stop_reason"], result["error"], result["tool_calls"]) == ("completed", None, 3)
    assert done.returncode == 0


def test_the_next_start_is_served_by_the_host_of_the_first_unless_that_is_switched_off(own_place: Place) -> None:
    own_place.environ |= {"LLM_API_KEY": "sk-SECRET", "OTHER_TOKEN": "SECRET"}
    pids = []
    with ServerThread(lambda request: "fine.") as server:
        for more in ((), (), ("--set", "llm_config.host_linger_s=0")):
            assert run(own_place, server.url, *more, task="hello").returncode == 0
            (report,) = running_hosts(own_place.environ)
            assert report.status is not None
            pids.append(report.status.pid)
        assert [request.key for request in server.requests] == ["sk-SECRET"] * 3
    assert len(set(pids)) == 1 and is_alive(pids[0])
    assert b"SECRET" not in Path(f"/proc/{pids[0]}/environ").read_bytes()


def test_output_that_cannot_be_written_is_one_sentence(place: Place) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [SMITH, "run", "--json", "hello", "--model", "m"]
        done = subprocess.run(
            command, cwd=place.project, env=place.environ, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert done.returncode == 1
    assert "standard output takes nothing more (No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["run", "hello"], ["doctor"]])
def test_a_working_folder_that_is_gone_is_said_so(place: Place, tmp_path: Path, arguments: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", SMITH, *arguments]
    done = subprocess.run(command, cwd=gone, env=place.environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "cd to another one" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_before_the_task_is_read_ends_without_a_traceback(place: Place) -> None:
    process = subprocess.Popen(
        [SMITH, "run", "-"], env=place.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdin is not None
    process.stdin.write(b"half a task")
    process.stdin.flush()
    wait_until_read(process.stdin.fileno())
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == b""
    assert process.returncode == -signal.SIGINT


def wait_until_read(pipe: int) -> None:
    """Wait until the other end has taken all that was written."""
    end = time.monotonic() + 20
    waiting = bytearray(struct.pack("i", 1))
    while struct.unpack("i", waiting)[0]:
        assert time.monotonic() < end, "nobody reads"
        time.sleep(0.01)
        fcntl.ioctl(pipe, termios.FIONREAD, waiting)


def test_exit_status_3_when_the_budget_is_used_up(place: Place) -> None:
    call = [Calls(calls=(Call(name="bash", arguments={"command": "true"}),)), Finish(reason="tool_calls")]
    with ServerThread(lambda request: call) as server:
        done = run(place, server.url, *BUDGET)
    assert done.returncode == 3
    assert "tool_step_budget" in done.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_a_signal_cancels_and_leaves_no_process(place: Place, number: signal.Signals, status: int) -> None:
    call = Call(name="bash", arguments={"command": "echo $$ > pid; exec sleep 9875"})
    with ServerThread(lambda request: [Calls(calls=(call,)), Finish(reason="tool_calls")]) as server:
        command = [SMITH, "run", "--json", "--set", f"llm_config.api_url={server.url}", "wait"]
        process = subprocess.Popen(command, cwd=place.project, env=place.environ, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "tool_started":
                break
        pid = int(wait_for_file(place.project / "pid"))
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(20) == status
    assert '"stop_reason":"cancelled"' in rest
    assert not is_alive(pid)


def test_a_second_signal_ends_it_at_once(place: Place) -> None:
    program = """
import asyncio, os, signal
from smith_tui.headless import cancel_on_signals

class Stuck:
    def cancel(self):
        print("cancelled", flush=True)

async def main():
    cancel_on_signals(Stuck())
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(0.1)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(60)

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=place.environ, capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stdout) == (143, "cancelled\n")


def test_a_refused_key_is_named_and_never_shown(place: Place) -> None:
    place.environ["LLM_API_KEY"] = "sk-test-SECRET123"
    answer = Status(status=401, body={"error": {"message": "bad key"}}, echo_key=True)
    with ServerThread(lambda request: answer) as server:
        done = run(place, server.url, "--model", "m", task="hello")
    assert done.returncode == 1
    assert "LLM_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr
    assert "SECRET123" not in done.stderr + done.stdout


def test_a_dead_endpoint_says_where_it_looked(place: Place) -> None:
    done = run(place, "http://127.0.0.1:9/v1", "--model", "m", "--set", "llm_config.retry_max_retries=0")
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_any_model_the_setting_is_named(place: Place) -> None:
    done = subprocess.run([SMITH, "run", "hi"], cwd=place.project, env=place.environ, capture_output=True, text=True)
    assert done.returncode == 1
    assert "default_model" in done.stderr
    assert "llm_config.api_url" in done.stderr


@pytest.mark.parametrize("arguments", [["run"], ["--bogus"], ["run", "x", "--role", "worker"], ["run", "  "]])
def test_wrong_usage_ends_with_2(place: Place, arguments: list[str]) -> None:
    done = subprocess.run([SMITH, *arguments], env=place.environ, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_the_app_without_a_terminal_says_what_to_use(place: Place) -> None:
    done = subprocess.run([SMITH], env=place.environ, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, "smith-tui run" in done.stderr) == (2, True)
