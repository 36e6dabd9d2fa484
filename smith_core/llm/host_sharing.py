"""A shared model host: lets every app of its user in, checks who they are, and outlives the last one for a while."""

import asyncio
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from smith_core.llm.frames import Ask, Attach, Linger, Status, Stop, Welcome
from smith_core.llm.host_folder import BACKLOG, HostFolder
from smith_core.llm.host_service import STARTED_AT, ConnectedApp, Control, ModelCalls
from smith_core.llm.host_stamp import HostStamp, code_digest, stamp_for
from smith_core.log import LOGGER

MAX_APPS = 64
FIRST_APP_S = 30.0
"""How long a host waits for its first app, which started it."""
LOOK_EVERY_S = 15.0
"""How often a host that waits looks whether it can still be found."""

_ACCEPT_AGAIN_S = 0.1


class SharedListener:
    """Serves all who connect to a listening socket until nobody has needed it for long enough.

    folder: where the socket is. linger_s: the wait behind an app that leaves before it has wished for another one.
    stamp: what this process is, and what apps must ask for.
    """

    def __init__(
        self,
        listener: socket.socket,
        folder: HostFolder,
        calls: ModelCalls,
        linger_s: float,
        stamp: HostStamp | None = None,
    ) -> None:
        self._listener = listener
        self._folder = folder
        self._calls = calls
        self._stamp = stamp or stamp_for(os.environ)
        self._name = Path(listener.getsockname()).name
        self._inode = folder.inode(self._name)
        self._connections: set[asyncio.Task[None]] = set()
        self.apps: set[ConnectedApp] = set()
        self._linger_s = linger_s
        self._takes_apps = True
        self._over = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    async def serve(self) -> None:
        """Take connections until it is time to end; all of them are closed then."""
        # A second time, so that this process stands for the one that listens.
        self._listener.listen(BACKLOG)
        self._listener.setblocking(False)
        self._end_after(FIRST_APP_S)
        accepting = asyncio.ensure_future(self._accept())
        await self._over.wait()
        accepting.cancel()
        await asyncio.gather(accepting, return_exceptions=True)
        self._listener.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def stop(self) -> None:
        """End at once."""
        self._take_no_more()
        self._over.set()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                channel, _ = await loop.sock_accept(self._listener)
            except OSError:
                await asyncio.sleep(_ACCEPT_AGAIN_S)
                continue
            self._let_in(channel)

    def _let_in(self, channel: socket.socket) -> None:
        if not self._folder.admits(channel) or len(self._connections) >= MAX_APPS:
            channel.close()
            return
        connection = asyncio.ensure_future(self._serve_one(channel))
        self._connections.add(connection)
        connection.add_done_callback(self._closed)

    async def _serve_one(self, channel: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=channel)
        app = ConnectedApp(reader, writer, self._calls, self._on_control)
        # Before it says so: a person may think for an hour about the first prompt.
        self.apps.add(app)
        try:
            await app.serve()
        finally:
            if app in self.apps:
                self.apps.discard(app)
                self._keep_on()

    def _closed(self, connection: asyncio.Task[None]) -> None:
        self._connections.discard(connection)
        if not connection.cancelled() and connection.exception():
            LOGGER.error("a connection to the model host failed: %r", connection.exception())
        if not self.apps and self._timer is None and not self._over.is_set():
            self._unused()

    def _on_control(self, app: ConnectedApp, frame: Control) -> None:
        match frame:
            case Attach() if frame.stamp == self._stamp:
                self._linger_s = frame.linger_s
                self._keep_on()
                app.send(Welcome(self._stamp, os.getpid()))
                app.attach()
            case Attach():
                # It is told what is here, and goes.
                app.send(Welcome(self._stamp, os.getpid()))
            case Linger():
                self._linger_s = frame.linger_s
            case Ask():
                self.apps.discard(app)
                app.send(self._status())
            case Stop(when_idle=True):
                self.apps.discard(app)
                self._takes_apps = False
                # Whoever sends this holds the lock.
                self._folder.remove(self._name, self._inode)
                if not self.apps:
                    self._over.set()
            case Stop():
                self.stop()

    def _status(self) -> Status:
        return Status(
            pid=os.getpid(),
            age_s=time.perf_counter() - STARTED_AT,
            rss_bytes=_resident_bytes(),
            apps=len(self.apps),
            streams=sum(app.streams for app in self.apps),
            linger_s=self._linger_s,
            is_ready=self._calls.ready_after_s is not None,
        )

    def _unused(self) -> None:
        """Wait for the next app, or end."""
        if not self._takes_apps:
            self._over.set()
        elif self._linger_s > 0 and code_digest() == self._stamp.code:
            self._end_after(self._linger_s)
        else:
            self.expire()

    def _end_after(self, seconds: float) -> None:
        self._keep_on()
        wait = min(seconds, LOOK_EVERY_S)
        self._timer = asyncio.get_running_loop().call_later(wait, self._look, seconds - wait)

    def _look(self, left_s: float) -> None:
        """End when it is time, or when nobody can find this host any more: its folder was removed, for instance."""
        if left_s > 0 and self._folder.holds(self._name, self._inode):
            self._end_after(left_s)
        else:
            self.expire()

    def _keep_on(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def expire(self) -> None:
        """End, for nobody needs it any more; who has connected in this moment is served, but no others."""
        self._timer = None
        if self.apps:
            return
        if not self._takes_apps:
            self._over.set()
            return
        self._take_no_more()
        with suppress(OSError):
            while True:
                self._let_in(self._listener.accept()[0])
        if not self._connections:
            self._over.set()
        else:
            self._end_after(FIRST_APP_S)

    def _take_no_more(self) -> None:
        self._takes_apps = False
        with suppress(OSError), self._folder.locked():
            self._folder.remove(self._name, self._inode)


def _resident_bytes() -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
