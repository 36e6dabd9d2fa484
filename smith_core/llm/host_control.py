"""Asking shared hosts how they are and ending them, without a loop: for the command line."""

import contextlib
import time
from collections.abc import Mapping

import msgspec

from smith_core.llm.frames import LENGTH_BYTES, Ask, Frame, Status, Stop, encode_frame, to_app_decoder
from smith_core.llm.host_folder import HostFolder, open_host_folder

ANSWER_S = 3.0
"""Longest wait for the answer of a host, which is slow to give one while it imports its libraries."""

_MOST_BYTES = 4096


class HostReport(msgspec.Struct, frozen=True, kw_only=True):
    """A shared host: the name of its socket and what it says; status None when it does not answer.

    has_ended: whether it was asked to end and did.
    """

    name: str
    status: Status | None = None
    has_ended: bool = False


def running_hosts(environ: Mapping[str, str] | None = None) -> tuple[HostReport, ...]:
    """Return all shared hosts of this user on this machine; () also when there is no folder for them."""
    return _ask_all(environ, Ask())


def stop_hosts(environ: Mapping[str, str] | None = None) -> tuple[HostReport, ...]:
    """End all shared hosts at once, whoever uses them, and return what they were."""
    return _ask_all(environ, Ask(), Stop(when_idle=False))


def retire(folder: HostFolder, name: str) -> None:
    """Tell a host to end as soon as nobody uses it, or remove the socket of one that is gone; the lock is held."""
    try:
        with folder.connect(name) as channel:
            channel.send(encode_frame(Stop(when_idle=True)))
    except ConnectionRefusedError:
        folder.remove(name)
    except OSError:
        pass


def _ask_all(environ: Mapping[str, str] | None, *frames: Frame) -> tuple[HostReport, ...]:
    try:
        with open_host_folder(environ) as folder:
            reports = [_ask(folder, name, frames) for name in folder.socket_names()]
    except OSError:
        return ()
    return tuple(filter(None, reports))


def _ask(folder: HostFolder, name: str, frames: tuple[Frame, ...]) -> HostReport | None:
    """Return what a host says to some frames, the last of which may end it; None when there is no host."""
    deadline = time.monotonic() + ANSWER_S
    said = b""
    has_ended = False
    try:
        with folder.connect(name) as channel:
            channel.settimeout(ANSWER_S)
            channel.sendall(b"".join(map(encode_frame, frames)))
            is_last = len(frames) == 1
            while not has_ended and not (is_last and _status(said)) and time.monotonic() < deadline:
                piece = channel.recv(_MOST_BYTES)
                said += piece[: _MOST_BYTES - len(said)]
                has_ended = not piece
    except (FileNotFoundError, ConnectionRefusedError, PermissionError):
        return None
    except ConnectionError:
        has_ended = True
    except OSError:
        pass
    return HostReport(name=name, status=_status(said), has_ended=has_ended)


def _status(said: bytes) -> Status | None:
    """Return the answer in what a host has said so far; None when it is not complete, or something else."""
    length = int.from_bytes(said[:LENGTH_BYTES], "big")
    with contextlib.suppress(msgspec.DecodeError):
        answer = to_app_decoder.decode(said[LENGTH_BYTES : LENGTH_BYTES + length])
        return answer if isinstance(answer, Status) else None
    return None
