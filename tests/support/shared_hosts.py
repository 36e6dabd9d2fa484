"""A shared model host inside the test's own loop: real sockets and frames, scripted calls."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from smith_core.llm.frames import Frame, encode_frame, read_frame, to_app_decoder
from smith_core.llm.host_folder import HostFolder, open_host_folder
from smith_core.llm.host_sharing import SharedListener
from smith_core.llm.host_stamp import HostStamp
from smith_core.llm.protocol import Completion, StreamText
from smith_core.llm.shared_host import SharedHost
from smith_core.llm.wire import WireRequest, request_body

END = "and no more"
STAMP = HostStamp("install", "code", "environment")
Complete = Callable[[WireRequest, Callable[[list[Any]], None]], Awaitable[Completion]]


async def echo(request: WireRequest, on_parts: Callable[[list[Any]], None]) -> Completion:
    """Answer with the last message; `wait` never ends, and `much N` does not after N pieces of a kilobyte."""
    text = str(request_body(request)["messages"][-1]["content"])
    if text == "wait":
        on_parts([StreamText(text="begun")])
        await asyncio.Event().wait()
    if text.startswith("much"):
        for _ in range(int(text.split()[1])):
            on_parts([StreamText(text="x" * 1024)])
            await asyncio.sleep(0)
        on_parts([StreamText(text=END)])
        await asyncio.Event().wait()
    on_parts([StreamText(text=text)])
    return Completion(text=text, finish_reason="stop")


class ScriptedCalls:
    """Stands for litellm: ready at once, `complete` is a function of the test."""

    def __init__(self, complete: Complete = echo) -> None:
        self.complete = complete
        self.ready_after_s = 0.5
        self.running = 0
        self.warming = asyncio.ensure_future(asyncio.sleep(0))

    async def provider(self) -> Any:
        return self

    def finished(self) -> None:
        self.running -= 1


class Place:
    """A folder with one listening host; `ended` is done when it has ended."""

    def __init__(self, folder: HostFolder, environ: dict[str, str]) -> None:
        self.folder = folder
        self.environ = environ
        self.calls = ScriptedCalls()
        self.listener = SharedListener(folder.listen(STAMP.file_name), folder, self.calls, 600.0, STAMP)  # type: ignore[arg-type]
        self.ended = asyncio.ensure_future(self.listener.serve())

    def shared_host(self, linger_s: float = 60.0, stamp: HostStamp = STAMP) -> SharedHost:
        """Return a connection, as an app makes it, that expects a stamp."""
        return SharedHost(self.folder.connect(STAMP.file_name), stamp, linger_s, ())

    async def connect(self) -> "Raw":
        """Return a bare connection."""
        return Raw(*await asyncio.open_connection(sock=self.folder.connect(STAMP.file_name)))


class Raw:
    """A connection on which a test says whatever it wants."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *frames: Frame) -> None:
        self.writer.writelines(map(encode_frame, frames))

    async def next(self) -> Any:
        """Return the next frame, or None when the host has closed."""
        body = await asyncio.wait_for(read_frame(self.reader), 5)
        return None if body is None else to_app_decoder.decode(body)

    @property
    def channel(self) -> socket.socket:
        return self.writer.get_extra_info("socket")  # type: ignore[no-any-return]


@asynccontextmanager
async def hosting() -> AsyncIterator[Place]:
    """Run a host in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {"HOME": folder, "XDG_RUNTIME_DIR": str(Path(folder))}
        with open_host_folder(environ) as opened:
            place = Place(opened, environ)
            yield place
            place.listener.stop()
            await asyncio.wait_for(place.ended, 5)
