"""Programs that we start: each in a session of its own, and stopped with everything that it started in turn.

A process belongs to the tree of a program if its parent or its session does, or if it carries the tree's mark. The
mark is there twice, because a daemon leaves parent and session behind: as an environment variable, which a program
may clear, and as an unused resource limit, which survives fork, exec, setsid and an empty environment. Both are
read from /proc. Without /proc only the process group is stopped.

When we are killed ourselves, a watcher ends what still runs (`process_watch`).
"""

import asyncio
import atexit
import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from smith_core.ids import new_id
from smith_core.process_list import TreeMarks, read_process, tree_members

MARK_VARIABLE = "SMITH_CALL_ID"
"""Names the tree in the environment of its processes; inside another tree, `outer:inner`."""

TERM_GRACE_S = 2.0
"""Seconds between SIGTERM and SIGKILL."""

_KILL_LIMIT_S = 0.5
_SCAN_INTERVAL_S = 0.02
_EXIT_POLL_S = 0.02
_PACKAGE_ROOT = Path(__file__).resolve().parents[1]


class ProcessTree:
    """A running program and all its descendants; `close` it when it is over.

    Used on one event loop. The program's own exit is observed, but it is only reaped by `close`, so that its id
    cannot pass to a stranger while signals are sent.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str | Path,
        env: Mapping[str, str],
        output_fd: int,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start `argv` without input, its two outputs going to `output_fd`; raise OSError if that fails."""
        mark = new_id()
        outer = env.get(MARK_VARIABLE)
        self._marks = TreeMarks(mark.encode(), (1 << 41) + int.from_bytes(os.urandom(5), "big"))
        WATCHER.start()
        with _own_limit_mark(self._marks.limit):
            self._popen = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**env, MARK_VARIABLE: f"{outer}:{mark}" if outer else mark},
                stdin=subprocess.DEVNULL,
                stdout=output_fd,
                stderr=output_fd,
                pass_fds=pass_fds,
                start_new_session=True,
            )
        self._owner = os.getpid()
        self._stop_watching: Callable[[], None] = lambda: None
        _running.add(self)
        WATCHER.watch(self.pid, self._marks)

    @property
    def pid(self) -> int:
        """The id of the program, which is also its session and process group."""
        return self._popen.pid

    def has_exited(self) -> bool:
        """Whether the program itself, not its descendants, has ended."""
        if self._popen.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def on_exit(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, on the running loop, when the program itself has ended."""
        loop = asyncio.get_running_loop()
        try:
            pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            self._poll_exit(loop, callback)
            return

        def stop_watching() -> None:
            self._stop_watching = lambda: None
            loop.remove_reader(pidfd)
            os.close(pidfd)

        def ended() -> None:
            stop_watching()
            callback()

        self._stop_watching = stop_watching
        loop.add_reader(pidfd, ended)

    def members(self) -> list[int]:
        """Return the ids of all living processes of the tree."""
        found = tree_members(self.pid, self._marks)
        if found is None:
            return [] if self.has_exited() else [self.pid]
        return [pid for pid in found if pid != self._owner]

    async def terminate(self, grace_s: float = TERM_GRACE_S) -> None:
        """End the whole tree: SIGTERM, and SIGKILL for what is left after `grace_s` seconds or on cancellation."""
        deadline = time.monotonic() + grace_s
        try:
            self.request_end()
            # Nothing reports the death of descendants that are not our children.
            while self.members() and time.monotonic() < deadline:  # noqa: ASYNC110
                await asyncio.sleep(_SCAN_INTERVAL_S)
        finally:
            self.kill()

    def request_end(self) -> None:
        """Send SIGTERM to the whole tree, also to processes that are stopped."""
        members = self.members()
        self._signal(members, signal.SIGTERM)
        self._signal(members, signal.SIGCONT)

    def kill(self) -> None:
        """Send SIGKILL to the whole tree until nothing of it lives; blocks for some milliseconds."""
        deadline = time.monotonic() + _KILL_LIMIT_S
        while (members := self.members()) and time.monotonic() < deadline:
            self._signal(members, signal.SIGKILL)
            time.sleep(_SCAN_INTERVAL_S / 4)

    def close(self) -> int:
        """Forget the tree and return the program's exit status, negative for a signal as in subprocess.

        A program that still runs is killed with its tree; descendants of one that has ended are left alone.
        """
        self._stop_watching()
        if not self.has_exited():
            self.kill()
        _running.discard(self)
        WATCHER.leave(self.pid)
        try:
            return self._popen.wait(_KILL_LIMIT_S)
        except subprocess.TimeoutExpired:  # stuck in the kernel; it dies when it gets out
            return -signal.SIGKILL

    def _signal(self, members: Iterable[int], number: signal.Signals) -> None:
        if not self.has_exited():
            with contextlib.suppress(OSError):
                os.killpg(self.pid, number)
        for pid in members:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _poll_exit(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        if self.has_exited():
            callback()
        else:
            timer = loop.call_later(_EXIT_POLL_S, self._poll_exit, loop, callback)
            self._stop_watching = timer.cancel


@contextlib.contextmanager
def _own_limit_mark(limit: int) -> Iterator[None]:
    """Give ourselves, for a child to inherit, a soft limit on real-time CPU that no other program has: over 25 days.

    Set from outside after the start, it would come too late for what the program forks first.
    """
    try:
        before = resource.getrlimit(resource.RLIMIT_RTTIME)
        resource.setrlimit(resource.RLIMIT_RTTIME, (limit, before[1]))
    except (AttributeError, OSError, ValueError):  # not Linux, or a lower limit is imposed on us
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_RTTIME, before)


class _Watcher:
    """The process that ends the trees that run when this one is killed; started with the first of them.

    Without it, where it cannot be started, they would go on.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def start(self) -> None:
        """Start it unless it runs; a copy of this process that was forked has one of its own."""
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is None:
            return
        self._owner = os.getpid()
        try:
            # -S: the standard library is all that it needs. -P: nothing in the current folder is ever imported.
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-P", "-m", "smith_core.process_watch"],
                cwd="/",
                env={"PYTHONPATH": str(_PACKAGE_ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            self._process = None

    def watch(self, pid: int, marks: TreeMarks) -> None:
        """Have a tree ended with us."""
        program = read_process(str(pid))
        if program is not None:
            self._say(b"+ %d %d %b %d\n" % (pid, program.started, marks.text, marks.limit))

    def leave(self, pid: int) -> None:
        """Let what is left of a tree be."""
        self._say(b"- %d\n" % pid)

    def _say(self, line: bytes) -> None:
        if self._process is not None and self._process.stdin is not None and self._owner == os.getpid():
            with contextlib.suppress(OSError):
                os.write(self._process.stdin.fileno(), line)


WATCHER = _Watcher()
"""That of this process."""
_running: set[ProcessTree] = set()


def kill_all_running(grace_s: float = 0.3) -> None:
    """End the trees of all programs that still run; for the last moments of the app, blocks for up to a second.

    Descendants that a program left behind when it ended by itself are not touched.
    """
    trees = [tree for tree in _running if tree._owner == os.getpid()]
    for tree in trees:
        tree.request_end()
    deadline = time.monotonic() + grace_s
    while any(tree.members() for tree in trees) and time.monotonic() < deadline:
        time.sleep(_SCAN_INTERVAL_S)
    for tree in trees:
        tree.kill()


atexit.register(kill_all_running)
