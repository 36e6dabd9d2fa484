"""One connection to a model host: who waits for which reply, and how all of them hear of its end."""

import asyncio
from contextlib import suppress

import msgspec

from smith_core.errors import AgentError, AgentFailure
from smith_core.llm.faults import Target, fault
from smith_core.llm.frames import (
    Attach,
    Cancel,
    Failed,
    Frame,
    Models,
    Parts,
    Ready,
    Welcome,
    encode_frame,
    read_frame,
    to_app_decoder,
)
from smith_core.llm.growing import GrowingRequests
from smith_core.llm.host_process import HostProcess
from smith_core.llm.shared_host import SharedHost

WELCOME_S = 10.0
"""Longest wait for the first word of a shared host, which may have been started in this moment."""

Reply = Parts | Models | Failed


class StrangeHostError(Exception):
    """Whoever listens is not the host that was wanted, or does not say so in time."""


class Link:
    """One attached host: its socket on this loop, and who waits for which reply."""

    def __init__(self, host: HostProcess | SharedHost) -> None:
        self._host = host
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self.inboxes: dict[int, asyncio.Queue[Reply]] = {}
        self.is_open = True
        self.requests = GrowingRequests()
        self.death: AgentError | None = None
        self.ready: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def open(self) -> None:
        """Connect; StrangeHostError when a shared host is not the wanted one, ConnectionError when it has ended."""
        reader, self._writer = await asyncio.open_connection(sock=self._host.channel)
        if isinstance(self._host, SharedHost):
            try:
                await self._introduce(self._host, reader)
            except BaseException:
                self._writer.close()
                raise
        self._listening = asyncio.ensure_future(self._listen(reader))

    async def _introduce(self, host: SharedHost, reader: asyncio.StreamReader) -> None:
        """Exchange stamps; no request, and so no key, is sent before."""
        self.send(Attach(host.stamp, host.linger_s))
        try:
            async with asyncio.timeout(WELCOME_S):
                body = await read_frame(reader)
            if body is None:
                raise ConnectionResetError("it closed the connection")
            frame = to_app_decoder.decode(body)
        except (TimeoutError, msgspec.DecodeError):
            raise StrangeHostError from None
        if not isinstance(frame, Welcome) or frame.stamp != host.stamp:
            raise StrangeHostError

    def send(self, frame: Frame) -> None:
        """Send a frame; nothing happens once the connection has ended."""
        if self.is_open and self._writer is not None:
            self._writer.write(encode_frame(frame))

    async def close(self) -> None:
        """End the connection; whoever waits for a reply hears of it."""
        self.is_open = False
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()
            with suppress(ConnectionError):
                await self._writer.wait_closed()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while (body := await read_frame(reader)) is not None:
                frame = to_app_decoder.decode(body)
                if isinstance(frame, Ready):
                    self.ready.set_result(frame.after_s)
                elif isinstance(frame, Parts | Models | Failed) and (inbox := self.inboxes.get(frame.id)):
                    inbox.put_nowait(frame)
        finally:
            await self._report_death()

    async def _report_death(self) -> None:
        """Tell everybody who waits that the host is gone; they may try again, on a new one."""
        self.is_open = False
        task = asyncio.current_task()
        detail = "the app closed it"
        if not (task and task.cancelling()):
            detail = await asyncio.to_thread(self._host.describe_exit)
        self.death = fault("host_died", Target(model=""), detail=detail)
        for request_id, inbox in self.inboxes.items():
            inbox.put_nowait(Failed(request_id, self.death))
        if not self.ready.done():
            self.ready.set_exception(AgentFailure(self.death))
            # Nobody has to wait for it.
            self.ready.exception()
        if self._writer is not None:
            self._writer.close()


class Conversation:
    """One request and its replies; leaving it early tells the host to give the request up."""

    def __init__(self, link: Link, request_id: int) -> None:
        self._link = link
        self._id = request_id
        self._inbox: asyncio.Queue[Reply] = asyncio.Queue()
        self.is_over = False

    def __enter__(self) -> "Conversation":
        self._link.inboxes[self._id] = self._inbox
        if self._link.death is not None:
            self._inbox.put_nowait(Failed(self._id, self._link.death))
        return self

    def __exit__(self, *_: object) -> None:
        del self._link.inboxes[self._id]
        if not self.is_over:
            self._link.send(Cancel(self._id))

    async def next(self) -> Reply:
        """Return the next reply; AgentFailure when it is an error, which is the last."""
        reply = await self._inbox.get()
        if isinstance(reply, Failed):
            self.is_over = True
            raise AgentFailure(reply.error)
        return reply
