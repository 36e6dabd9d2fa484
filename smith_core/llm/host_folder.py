"""The private folder where shared hosts listen: opened once, checked, and used through its descriptor alone.

Every name below it is resolved from the descriptor, so that nothing that happens to the path afterwards, such as a
folder put in its place, leads anywhere else. It also lets the path of a socket be longer than the 107 bytes that an
address has room for.
"""

import contextlib
import fcntl
import os
import socket
import stat
import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from smith_core.errors import AgentFailure
from smith_core.paths import APP_FOLDER, ensure_private_dir, state_dir

SOCKET_SUFFIX = ".sock"
LOCK_FILE = "lock"
BACKLOG = 64

_LOCK_WAIT_S = 1.0
_LOCK_POLL_S = 0.005
_CREDENTIALS = struct.Struct("3i")


class HostFolder:
    """An open private folder of ours; close it. owner: the user id of all who may talk to each other here."""

    def __init__(self, descriptor: int, owner: int | None = None) -> None:
        self.descriptor = descriptor
        self._owner = os.geteuid() if owner is None else owner

    def __enter__(self) -> "HostFolder":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def address(self, name: str) -> str:
        """Return the address of a socket in the folder, short however long the folder's path is."""
        return f"/proc/self/fd/{self.descriptor}/{name}"

    def socket_names(self) -> list[str]:
        """Return the names of all sockets, living or left behind."""
        with os.scandir(self.descriptor) as entries:
            return sorted(entry.name for entry in entries if entry.name.endswith(SOCKET_SUFFIX))

    def connect(self, name: str) -> socket.socket:
        """Return a connection to the host that listens under a name.

        Raises FileNotFoundError or ConnectionRefusedError when there is none, PermissionError when whoever listens
        runs as somebody else, and other OSErrors. It never waits.
        """
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            channel.setblocking(False)
            channel.connect(self.address(name))
            if not self.admits(channel):
                raise PermissionError("another user listens there")
        except BaseException:
            channel.close()
            raise
        return channel

    def admits(self, channel: socket.socket) -> bool:
        """Say whether the process at the other end of a socket runs as the owner."""
        _, uid, _ = _CREDENTIALS.unpack(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
        return bool(uid == self._owner)

    def listen(self, name: str) -> socket.socket:
        """Return a listening socket of mode 0600, in the place of one that was left behind; hold the lock."""
        self.remove(name)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(self.address(name))
            os.chmod(name, 0o600, dir_fd=self.descriptor)
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
        return listener

    def remove(self, name: str, inode: int | None = None) -> None:
        """Remove a socket if it is there, and has this inode number when one is given; hold the lock."""
        with contextlib.suppress(FileNotFoundError):
            if inode is None or self.holds(name, inode):
                os.unlink(name, dir_fd=self.descriptor)

    def holds(self, name: str, inode: int) -> bool:
        """Say whether a socket is there and has this inode number."""
        with contextlib.suppress(FileNotFoundError):
            return self.inode(name) == inode
        return False

    def inode(self, name: str) -> int:
        """Return the inode number of a socket; FileNotFoundError when it is gone."""
        return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False).st_ino

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of everybody who makes or removes a socket here; TimeoutError when it stays taken."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open(LOCK_FILE, flags, 0o600, dir_fd=self.descriptor)
        try:
            _take_lock(lock)
            yield
        finally:
            os.close(lock)


def open_host_folder(environ: Mapping[str, str] | None = None) -> HostFolder:
    """Open `$XDG_RUNTIME_DIR/smith` if that is private and ours, else `host` in the state folder, and make it.

    Raises OSError when neither can be trusted, or where the system cannot say who is at the other end of a socket.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        raise OSError("this system does not say who is at the other end of a socket")
    source = os.environ if environ is None else environ
    runtime = Path(source.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute():
        with contextlib.suppress(OSError):
            os.close(_open_private(runtime))
            return HostFolder(_open_private(runtime / APP_FOLDER, make=True))
    try:
        folder = ensure_private_dir(state_dir(environ))
    except AgentFailure as caught:
        raise OSError(caught.error.message) from caught
    return HostFolder(_open_private(folder / "host", make=True))


def _open_private(path: Path, *, make: bool = False) -> int:
    """Return a descriptor of a folder that is ours and that nobody else can enter; PermissionError otherwise."""
    if make:
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        os.close(descriptor)
        raise PermissionError(f"{path} is not private")
    return descriptor


def _take_lock(lock: int) -> None:
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError("the lock of the model hosts stays taken") from None
            time.sleep(_LOCK_POLL_S)
        else:
            return
