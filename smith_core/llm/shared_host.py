"""The app's way to a host that all programs of one person share: found where it listens, or started there."""

import contextlib
import os
import socket
import subprocess
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from smith_core.llm.host_folder import HostFolder, open_host_folder
from smith_core.llm.host_process import HostProcess, spawn_host, start_host_process
from smith_core.llm.host_stamp import HostStamp, has_cloud_credentials, shared_environment, stamp_for
from smith_core.log import LOGGER

if TYPE_CHECKING:
    from smith_core.llm.protocol import Endpoint


class SharedHost:
    """A connection to a shared host, which proves its stamp before anything is asked of it.

    started: the process, if it was this program that started it.
    """

    def __init__(
        self,
        channel: socket.socket,
        stamp: HostStamp,
        linger_s: float,
        secret_variables: Collection[str],
        started: "subprocess.Popen[bytes] | None" = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.channel = channel
        self.stamp = stamp
        self.linger_s = linger_s
        self.started = started
        self._secret_variables = secret_variables
        self._environ = environ

    def serves(self, endpoint: "Endpoint") -> bool:
        """Say whether requests for an endpoint may go to this host, which has none of our credentials.

        A request that names its address takes nothing from the environment; one that leaves the address to litellm
        may, if it has no key, or if litellm prefers what a cloud's own variables say.
        """
        return bool(endpoint.api_url) or (bool(endpoint.api_key) and not has_cloud_credentials(self._environ))

    def start_again(self) -> "HostProcess | SharedHost":
        """Return another host after this connection has ended."""
        return find_host(self._secret_variables, self.linger_s, environ=self._environ)

    def start_own(self) -> HostProcess:
        """Return a host for this program alone."""
        return start_host_process(self._secret_variables)

    def describe_exit(self) -> str:
        """Return how it ended, in words; reap it if it is our child."""
        if self.started is not None:
            self.started.poll()
        return "it closed the connection"

    def close(self) -> None:
        """Leave the host, which may go on."""
        self.channel.close()


def find_host(
    secret_variables: Collection[str],
    linger_s: float,
    *,
    names_address: bool = True,
    environ: Mapping[str, str] = os.environ,
) -> HostProcess | SharedHost:
    """Return a host that is shared, or one of our own where none may be; OSError when no process can be started.

    linger_s: how long a shared host outlives this program; 0 asks for one of our own. names_address: whether requests
    will say where they go; without that, credentials of a cloud in the environment need a host that has them.
    """
    if linger_s <= 0 or (not names_address and has_cloud_credentials(environ)):
        return start_host_process(secret_variables)
    environment = shared_environment(environ, secret_variables)
    stamp = stamp_for(environment)
    try:
        with open_host_folder(environ) as folder:
            channel, started = _connect(folder, stamp, environment, linger_s)
    except OSError as error:
        LOGGER.info("no shared model host: %s", error)
        return start_host_process(secret_variables)
    return SharedHost(channel, stamp, linger_s, tuple(secret_variables), started, environ)


def _connect(
    folder: HostFolder, stamp: HostStamp, environment: Mapping[str, str], linger_s: float
) -> tuple[socket.socket, "subprocess.Popen[bytes] | None"]:
    """Return a connection to the host with this stamp, and its process if it had to be started."""
    with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
        return folder.connect(stamp.file_name), None
    with folder.locked():
        # Another program may have started one while we waited.
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            return folder.connect(stamp.file_name), None
        _retire_predecessors(folder, stamp)
        with folder.listen(stamp.file_name) as listener:
            descriptors = (listener.fileno(), folder.descriptor)
            arguments = ["--listen", str(descriptors[0]), "--folder", str(descriptors[1]), "--linger", str(linger_s)]
            started = spawn_host(arguments, descriptors, environment)
            # It is there for connections from the moment that its socket listens, whoever holds that.
            return folder.connect(stamp.file_name), started


def _retire_predecessors(folder: HostFolder, stamp: HostStamp) -> None:
    """Let hosts of this installation with other code end as soon as nobody uses them."""
    for name in folder.socket_names():
        _, install, code, _ = name.removesuffix(".sock").split("-") if name.count("-") == 3 else ("", "", "", "")
        if install == stamp.install and code != stamp.code:
            # Most starts of a host find none to retire, and stand before the first frame.
            from smith_core.llm.host_control import retire

            retire(folder, name)
