"""The app's side of the model host: streams over one socket, a host that died started again."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import suppress

from smith_core.errors import AgentError, AgentFailure, failure
from smith_core.llm.catalog import offline_limits
from smith_core.llm.faults import Target, fault
from smith_core.llm.frames import (
    Cancel,
    Failed,
    Frame,
    ListModels,
    Models,
    Parts,
    Ready,
    StartStream,
    encode_frame,
    read_frame,
    to_app_decoder,
)
from smith_core.llm.host_process import HostProcess, start_host_process
from smith_core.llm.protocol import AnyStreamPart, Endpoint, ModelInfo, ModelRequest, StreamDone, Timeouts

__all__ = ["HostClient", "HostProcess", "start_host_process"]

Reply = Parts | Models | Failed


class HostClient:
    """A ModelClient whose calls are made by the host process; used on one event loop.

    host: a process started before, or None to start one on first use.
    """

    def __init__(self, host: HostProcess | None = None) -> None:
        self._host = host
        self._link: _Link | None = None
        self._ids = itertools.count(1)
        self._is_closed = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[AnyStreamPart]:
        """Yield the parts of one answer, StreamDone last; AgentFailure when there is none.

        Closing the iterator, or cancelling who waits for it, closes the connection to the endpoint.
        """
        link = await self._attached()
        request_id = next(self._ids)
        with _Conversation(link, request_id) as conversation:
            link.send(StartStream(request_id, request))
            while True:
                reply = await conversation.next()
                assert isinstance(reply, Parts)
                for part in reply.parts:
                    if isinstance(part, StreamDone):
                        conversation.is_over = True
                    yield part
                if conversation.is_over:
                    return

    async def list_models(self, endpoint: Endpoint, timeouts: Timeouts) -> tuple[ModelInfo, ...]:
        """Return what the endpoint lists at `/models`; AgentFailure when it cannot be asked."""
        link = await self._attached()
        request_id = next(self._ids)
        with _Conversation(link, request_id) as conversation:
            link.send(ListModels(request_id, endpoint, timeouts))
            reply = await conversation.next()
            assert isinstance(reply, Models)
            conversation.is_over = True
            return reply.models

    async def model_limits(self, model: str) -> ModelInfo:
        """Return the sizes of a model from litellm's offline table; unknown ones come back as None."""
        return await offline_limits(model)

    async def wait_until_ready(self) -> float:
        """Return, once the host is warm, the seconds that it took from its start; AgentFailure when it dies before."""
        return await (await self._attached()).ready

    async def aclose(self) -> None:
        """End every stream and the host."""
        self._is_closed = True
        if self._link is not None:
            await self._link.close()
        if self._host is not None:
            await asyncio.to_thread(self._host.close)

    async def _attached(self) -> "_Link":
        """Return the link to a living host, starting one when there is none."""
        if self._is_closed:
            raise failure("internal", "client_closed", "the model client is closed already", origin="llm")
        if self._link is not None and self._link.is_open:
            return self._link
        try:
            if self._host is None:
                self._host = start_host_process()
            elif self._link is not None:
                self._host = self._host.start_again()
        except OSError as error:
            raise AgentFailure(fault("host_died", Target(model=""), detail=f"cannot be started: {error}")) from error
        self._link = link = _Link(self._host)
        await link.open()
        return link


class _Link:
    """One attached host: its socket on this loop, and who waits for which reply."""

    def __init__(self, host: HostProcess) -> None:
        self._host = host
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self._unsent: list[bytes] = []
        self.inboxes: dict[int, asyncio.Queue[Reply]] = {}
        self.is_open = True
        self.death: AgentError | None = None
        self.ready: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def open(self) -> None:
        reader, self._writer = await asyncio.open_connection(sock=self._host.channel)
        self._writer.writelines(self._unsent)
        self._unsent.clear()
        self._listening = asyncio.ensure_future(self._listen(reader))

    def send(self, frame: Frame) -> None:
        data = encode_frame(frame)
        if self._writer is None:
            self._unsent.append(data)
        elif self.is_open:
            self._writer.write(data)

    async def close(self) -> None:
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
                elif inbox := self.inboxes.get(frame.id):
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


class _Conversation:
    """One request and its replies; leaving it early tells the host to give the request up."""

    def __init__(self, link: _Link, request_id: int) -> None:
        self._link = link
        self._id = request_id
        self._inbox: asyncio.Queue[Reply] = asyncio.Queue()
        self.is_over = False

    def __enter__(self) -> "_Conversation":
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
