"""Process trees: whatever a program starts is found and ended, and nothing else is."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from smith_core.process import TERM_GRACE_S, ProcessTree, kill_all_running
from tests.support.bash_calls import (
    DAEMON,
    PLAIN_ENV,
    BashCalls,
    bash_calls,
    descriptors_before,
    open_descriptors,
    python,
    wait_until,
)

GRACE_S = 0.3
ROOT = str(Path(__file__).parents[2])


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[BashCalls]:
    with bash_calls(tmp_path) as calls:
        yield calls


def start(command: str, folder: Path, env: dict[str, str] | None = None) -> ProcessTree:
    with Path("/dev/null").open("w") as sink:
        return ProcessTree(["bash", "-c", command], cwd=folder, env=env or PLAIN_ENV, output_fd=sink.fileno())


async def until_living(calls: BashCalls, names: set[str]) -> None:
    async with asyncio.timeout(10):
        while "python" in names and not (calls.folder / "daemon.pid").exists():
            await asyncio.sleep(0.01)
        while calls.living_names() != names:
            await asyncio.sleep(0.01)


DAEMON_THAT_WIPES_ITS_ENVIRONMENT = f"""
import ctypes
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
at = 0
while environ[at]:
    address = ctypes.cast(environ, ctypes.POINTER(ctypes.c_void_p))[at]
    ctypes.memset(address, 0, len(environ[at]))
    at += 1
{DAEMON}
"""


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("sleep 300 & sleep 301; true", {"bash", "sleep"}),
        ("trap '' TERM INT HUP; sleep 300; true", {"bash", "sleep"}),
        ("yes >/dev/null & wait", {"bash", "yes"}),
        ("setsid sleep 300 & (setsid sleep 301 &); wait", {"bash", "sleep"}),
        ("nohup sleep 300 & disown; sleep 301; true", {"bash", "sleep"}),
        ("env -i sleep 300 & wait", {"bash", "sleep"}),
        ("sleep 300 & kill -STOP $!; sleep 301; true", {"bash", "sleep"}),
        ("kill -STOP $$", {"bash"}),
        ("while :; do sleep 300; done", {"bash", "sleep"}),
        (f"{python(DAEMON)}; sleep 300; true", {"bash", "sleep", "python"}),
        (f"env -i {python(DAEMON)}; sleep 300; true", {"bash", "sleep", "python"}),
        (f"{python(DAEMON_THAT_WIPES_ITS_ENVIRONMENT)}; sleep 300; true", {"bash", "sleep", "python"}),
    ],
)
async def test_b07_terminate_ends_everything_a_program_started(calls: BashCalls, command: str, names: set[str]) -> None:
    tree = start(command, calls.folder)
    await until_living(calls, names)
    async with asyncio.timeout(10):
        while sorted(tree.members()) != sorted(process.pid for process in calls.living()):
            await asyncio.sleep(0.01)
    await tree.terminate(GRACE_S)
    assert calls.living() == []
    assert tree.close() < 0
    assert not psutil.pid_exists(tree.pid)


async def test_b07_a_process_whose_first_thread_has_ended_is_found(calls: BashCalls) -> None:
    code = "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(300,)).start(); "
    tree = start(python(code + "ctypes.CDLL(None).pthread_exit(None)"), calls.folder)
    async with asyncio.timeout(10):
        while psutil.Process(tree.pid).status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(0.01)
    assert tree.members() == [tree.pid]
    assert not tree.has_exited()
    await tree.terminate(GRACE_S)
    assert tree.close() == -signal.SIGTERM


@pytest.mark.parametrize("state", ["while :; do sleep 0.02; done", "kill -STOP $$; sleep 300"])
async def test_a_program_may_clean_up_within_the_grace(calls: BashCalls, state: str) -> None:
    tree = start(f"trap 'echo bye >bye.txt; exit 0' TERM; touch ready; {state}", calls.folder)
    assert wait_until((calls.folder / "ready").exists, 10)
    await asyncio.sleep(0.05)
    started = time.monotonic()
    await tree.terminate(5)
    assert time.monotonic() - started < 4
    assert tree.close() == 0
    assert (calls.folder / "bye.txt").read_text() == "bye\n"


async def test_cancellation_cuts_the_grace_short(calls: BashCalls) -> None:
    tree = start("trap '' TERM; sleep 300; true", calls.folder)
    await until_living(calls, {"bash", "sleep"})
    task = asyncio.ensure_future(tree.terminate(60))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls.living() == []
    tree.close()


async def test_other_trees_and_strangers_are_left_alone(calls: BashCalls) -> None:
    stranger = await asyncio.create_subprocess_exec("sleep", "300", cwd=calls.folder)
    ours = start("sleep 301; true", calls.folder)
    other = start(f"{python(DAEMON)}; sleep 302; true", calls.folder)
    await until_living(calls, {"bash", "sleep", "python"})
    async with asyncio.timeout(10):
        while len(other.members()) != 3:
            await asyncio.sleep(0.01)
    before = sorted(other.members())
    await ours.terminate(GRACE_S)
    assert sorted(other.members()) == before
    assert stranger.returncode is None
    await other.terminate(GRACE_S)
    ours.close()
    other.close()
    stranger.kill()
    await stranger.wait()


async def test_what_stays_behind_a_finished_program_is_not_ended_by_close(calls: BashCalls) -> None:
    tree = start("sleep 300 & exit 7", calls.folder)
    ended = asyncio.Event()
    tree.on_exit(ended.set)
    await asyncio.wait_for(ended.wait(), 10)
    assert tree.close() == 7
    kill_all_running()
    await until_living(calls, {"sleep"})


async def test_closing_a_running_program_kills_it(calls: BashCalls) -> None:
    before = descriptors_before()
    tree = start("sleep 300 & sleep 301; true", calls.folder)
    tree.on_exit(lambda: None)
    await until_living(calls, {"bash", "sleep"})
    assert tree.close() == -signal.SIGKILL
    assert calls.living() == []
    assert open_descriptors() == before


async def test_a_tree_inside_a_tree_belongs_to_both(calls: BashCalls) -> None:
    inner = """
    import os
    from smith_core.process import ProcessTree
    tree = ProcessTree(["bash", "-c", "sleep 300 & exit"], cwd=".", env=dict(os.environ), output_fd=1)
    os.waitid(os.P_PID, tree.pid, os.WEXITED | os.WNOWAIT)
    tree.close()
    """
    env = {**PLAIN_ENV, "PYTHONPATH": ROOT}
    tree = start(f"{python(textwrap.dedent(inner))}; touch done; sleep 301; true", calls.folder, env)
    assert wait_until((calls.folder / "done").exists, 10)
    await until_living(calls, {"bash", "sleep"})
    # The watcher of the inner program takes a moment to see that it has ended.
    assert wait_until(lambda: len(tree.members()) == 3, 10)
    await tree.terminate(GRACE_S)
    assert calls.living() == []
    tree.close()


async def test_a_program_that_cannot_start_raises_and_leaves_nothing(calls: BashCalls) -> None:
    before = descriptors_before()
    with pytest.raises(FileNotFoundError):
        start("true", calls.folder / "gone")
    assert open_descriptors() == before


def test_b07_the_default_grace_leaves_a_second_of_the_three_that_are_allowed() -> None:
    assert 0 < TERM_GRACE_S <= 2.0


APP = """
    import asyncio, os, signal, sys
    from pathlib import Path
    from smith_core.process import ProcessTree, kill_all_running

    async def main():
        tree = ProcessTree(
            ["bash", "-c", "trap '' TERM; sleep 300 & setsid sleep 301 & sleep 302 & wait"],
            cwd=os.getcwd(), env=dict(os.environ), output_fd=1)
        print("started", flush=True)
        {ending}

    asyncio.run(main())
"""


@pytest.mark.parametrize(
    "ending",
    [
        "sys.exit(3)",
        "raise KeyError('crash')",
        "kill_all_running(0.1); os._exit(3)",
        "os.fork() or sys.exit(0); sys.exit(3)",
        "os.kill(os.getpid(), signal.SIGKILL)",
    ],
    ids=["exit", "crash", "last words of the app", "forked helper exits first", "kill -9"],
)
def test_b07_nothing_outlives_the_app(calls: BashCalls, ending: str) -> None:
    code = textwrap.dedent(APP).format(ending=f"await asyncio.sleep(0.2); {ending}")
    app = subprocess.run(
        [sys.executable, "-c", code],
        cwd=calls.folder,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert app.stdout.startswith(b"started")
    assert app.returncode != 0
    assert wait_until(lambda: calls.living() == [], 3)


def test_exit_is_noticed_on_a_system_without_pidfd(calls: BashCalls) -> None:
    code = """
    import asyncio, os
    del os.pidfd_open
    from smith_core.process import ProcessTree

    async def main():
        tree = ProcessTree(["sh", "-c", "sleep 0.1; exit 5"], cwd=".", env=dict(os.environ), output_fd=1)
        ended = asyncio.Event()
        tree.on_exit(ended.set)
        await asyncio.wait_for(ended.wait(), 10)
        print("status", tree.close())

    asyncio.run(main())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    output = subprocess.check_output(command, env={**os.environ, "PYTHONPATH": ROOT}, timeout=20)
    assert output == b"status 5\n"
