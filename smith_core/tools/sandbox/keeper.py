"""What all sandboxed commands of a session share: one world of processes, which ends with the session."""

import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from smith_core.tools.sandbox.arguments import Namespaces
from smith_core.tools.sandbox.probe import bare_environment

START_S = 10.0
"""Seconds that it may take to start; it takes some milliseconds."""

_STOP_S = 1.0
_GET_OWNER = 0xB701
"""NS_GET_USERNS of ioctl_ns(2): opens the user namespace that a namespace belongs to."""
_READY = b"ready\n"
_MAX_BYTES = 10_000


class Keeper:
    """A program in a sandbox that does nothing but be there; used from one thread at a time.

    It must see what the commands see and no more, for they can look at the files that it sees. Made on the main
    thread: it dies with the thread that starts it, and all processes in the sandbox with it.
    """

    def __init__(self, bubblewrap: Sequence[str], environ: Mapping[str, str]) -> None:
        """Start it; bubblewrap: the arguments that set up the sandbox, without the program. Raises OSError."""
        reader, writer = os.pipe()
        self._reader = reader
        self._namespaces: Namespaces | None = None
        try:
            # Its standard input never ends while we live, and standard output says that everything is set up.
            self._process = subprocess.Popen(
                [*bubblewrap, "--die-with-parent", "--info-fd", str(writer), "--", "sh", "-c", "echo ready; exec cat"],
                env=bare_environment(environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(writer,),
                start_new_session=True,
            )
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)

    @property
    def is_alive(self) -> bool:
        """Whether commands can still join it."""
        return self._process.poll() is None

    def open_namespaces(self) -> Namespaces:
        """Wait until it stands, and return what commands join. Blocks; raises OSError."""
        if self._namespaces is None:
            assert self._process.stdout is not None
            deadline = time.monotonic() + START_S
            info = _read_all(self._reader, deadline, b"}")
            _read_all(self._process.stdout.fileno(), deadline, _READY)
            try:
                pid = int(json.loads(info)["child-pid"])
            except (ValueError, KeyError, TypeError) as error:
                raise OSError("bubblewrap did not say which process it has started") from error
            self._namespaces = _open_namespaces(pid)
        return self._namespaces

    def close(self) -> None:
        """End it, and with it every process in the sandbox."""
        if self._process.poll() is None:
            # The group: bubblewrap alone, killed while it starts, would leave a child that waits for it for ever.
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_S)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        for descriptor in (self._reader, *(self._namespaces.descriptors if self._namespaces else ())):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._reader, self._namespaces = -1, None


def _open_namespaces(pid: int) -> Namespaces:
    user, processes, owner = -1, -1, -1
    try:
        user = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
        processes = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY)
        owner = fcntl.ioctl(processes, _GET_OWNER)
        if os.fstat(owner).st_ino == os.fstat(user).st_ino:
            os.close(owner)
            return Namespaces(owner=user, processes=processes)
    except OSError:
        for descriptor in (user, processes, owner):
            if descriptor >= 0:
                os.close(descriptor)
        raise
    return Namespaces(owner=owner, processes=processes, user=user)


def _read_all(descriptor: int, deadline: float, end: bytes) -> bytes:
    data = b""
    while end not in data:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        chunk = os.read(descriptor, _MAX_BYTES) if ready else b""
        if not chunk or len(data) > _MAX_BYTES:
            raise OSError("the sandbox did not start")
        data += chunk
    return data
