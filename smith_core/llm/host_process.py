"""Starting the model host: a child process that imports litellm while the person types.

Importing this file is cheap, so that the host can be started before asyncio runs and before Textual is imported.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smith_core.llm.host_stamp import HostStamp
    from smith_core.llm.protocol import Endpoint

SECRET_VARIABLES: tuple[str, ...] = ("LLM_API_KEY", "LINKUP_API_KEY")
"""Variables that never reach the host's environment by default; keys travel in the requests."""

LITELLM_ENVIRONMENT: Mapping[str, str] = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_MODE": "PRODUCTION",
    "REPEATED_STREAMING_CHUNK_LIMIT": "1000000000",
}
"""Settings that litellm reads on import: no price table, tokenizer or news from the network, no `.env` file, and no
error after a hundred equal chunks."""

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EXIT_GRACE_S = 2.0


class HostProcess:
    """A started host: its process, our end of the socket pair, and what it was started with."""

    stamp: "HostStamp | None" = None
    """What it has to prove before it is trusted: nothing, for it is our own."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        channel: socket.socket,
        secret_variables: Collection[str],
        log_path: Path | None,
    ) -> None:
        self.process = process
        self.channel = channel
        self._secret_variables = secret_variables
        self._log_path = log_path

    def serves(self, endpoint: "Endpoint") -> bool:
        """Say whether requests for an endpoint may go to this host: all, for it has our whole environment."""
        return True

    def start_again(self) -> "HostProcess":
        """Start another host in the same way, after this one has ended."""
        return start_host_process(self._secret_variables, self._log_path)

    def describe_exit(self) -> str:
        """Return how the process ended, in words; it is reaped."""
        try:
            status = self.process.wait(_EXIT_GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        if status < 0:
            return f"killed by {signal.Signals(-status).name}"
        return f"exit status {status}"

    def close(self) -> None:
        """End the process; it goes by itself when its socket closes."""
        self.channel.close()
        self.describe_exit()


def start_host_process(
    secret_variables: Collection[str] = SECRET_VARIABLES, log_path: Path | None = None
) -> HostProcess:
    """Start a host and return at once; OSError when no process can be started.

    secret_variables: names that are kept out of its environment. log_path: takes its output (mode 0600); without one
    the output is thrown away, for it must never reach the terminal. Call it on the thread that lives longest: on Linux
    the host is killed when that thread ends.
    """
    ours, theirs = socket.socketpair()
    output = _open_log(log_path) if log_path else subprocess.DEVNULL
    environment = host_environment(os.environ, secret_variables)
    try:
        process = spawn_host(["--fd", str(theirs.fileno())], (theirs.fileno(),), environment, output)
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
        if output != subprocess.DEVNULL:
            os.close(output)
    return HostProcess(process, ours, tuple(secret_variables), log_path)


def spawn_host(
    arguments: Sequence[str],
    descriptors: Sequence[int],
    environment: Mapping[str, str],
    output: int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    """Start a host in a session of its own, without terminal and working folder; OSError when that fails.

    descriptors: all that it inherits beside its output.
    """
    # -P: nothing in the current folder, which may be anybody's repository, is ever imported.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "smith_core.llm.host", *arguments],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=tuple(descriptors),
        start_new_session=True,
    )


def host_environment(environ: Mapping[str, str], secret_variables: Collection[str]) -> dict[str, str]:
    """Return the environment of a host: ours without secrets, the settings of litellm, and loopback never by proxy."""
    environment = {name: value for name, value in environ.items() if name not in secret_variables}
    environment.update(LITELLM_ENVIRONMENT)
    environment["HF_HUB_OFFLINE"] = "1"
    inherited = [folder for folder in environ.get("PYTHONPATH", "").split(os.pathsep) if Path(folder).is_absolute()]
    environment["PYTHONPATH"] = os.pathsep.join([str(_PACKAGE_ROOT), *inherited])
    for name in ("NO_PROXY", "no_proxy"):
        listed = [host for host in environment.get(name, "").split(",") if host.strip()]
        environment[name] = ",".join([*listed, *(host for host in _LOOPBACK if host not in listed)])
    return environment


def _open_log(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
