"""The model host's process, for one app or for all of a person's.

    python -m smith_core.llm.host --fd N                             one app, at the other end of an inherited socket
    python -m smith_core.llm.host --listen N --folder M --linger S   all that connect to an inherited listening socket

The first kind ends with its app: when the socket closes, and on Linux when the app's thread that started it ends. The
second kind ends when it was not used for as long as its last app wished.
"""

import argparse
import asyncio
import os
import signal
import socket
from contextlib import suppress

from smith_core.llm.host_folder import HostFolder
from smith_core.llm.host_service import ConnectedApp, ModelCalls
from smith_core.llm.host_sharing import SharedListener
from smith_core.secrets import hide_from_proc, password_variables, secret_variables

_PR_SET_PDEATHSIG = 1


async def serve_one(descriptor: int) -> None:
    """Serve the app at the other end of a socket until it closes."""
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    await ConnectedApp(reader, writer, ModelCalls()).serve()


async def serve_all(listener: int, folder: int, linger_s: float) -> None:
    """Serve all apps that connect, until nobody has for a while."""
    shared = SharedListener(socket.socket(fileno=listener), HostFolder(folder), ModelCalls(), linger_s)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, shared.stop)
    await shared.serve()


async def _serve_and_exit(arguments: argparse.Namespace) -> None:
    if arguments.fd is not None:
        await serve_one(arguments.fd)
    else:
        await serve_all(arguments.listen, arguments.folder, arguments.linger)
    # An orderly end would wait for the thread that imports litellm.
    os._exit(0)


def _die_with_parent() -> None:
    """Ask Linux to kill this process with the thread that started it; elsewhere the closing socket must do."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Serve the socket that the arguments name."""
    parser = argparse.ArgumentParser(description="Make the model calls of our apps; started by them.")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--fd", type=int, help="the inherited socket of one app")
    kind.add_argument("--listen", type=int, help="the inherited socket that listens for all apps")
    parser.add_argument("--folder", type=int, help="the inherited folder of the socket that listens")
    parser.add_argument("--linger", type=float, default=0.0, help="seconds to wait behind the last app")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if arguments.fd is not None:
        _die_with_parent()
    hide_from_proc({*secret_variables(), *password_variables()})
    asyncio.run(_serve_and_exit(arguments))


if __name__ == "__main__":
    main()
