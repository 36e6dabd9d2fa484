"""The app's side of the model host: streams over one socket, a host that died started again."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable

from smith_core.errors import AgentFailure, failure
from smith_core.llm.catalog import offline_limits
from smith_core.llm.faults import Target, fault
from smith_core.llm.frames import Linger, ListModels, Models, Parts, StartStream
from smith_core.llm.host_link import Conversation, Link, StrangeHostError
from smith_core.llm.host_process import HostProcess, start_host_process
from smith_core.llm.protocol import AnyStreamPart, Endpoint, ModelInfo, ModelRequest, StreamDone, Timeouts
from smith_core.llm.shared_host import SharedHost, find_host
from smith_core.llm.wire import MessageEncoder

__all__ = ["HostClient", "HostProcess", "SharedHost", "find_host", "start_host_process"]

_MOST_SHARED_TRIES = 2


class HostClient:
    """A ModelClient whose calls are made by a host process; used on one event loop.

    host: one that was started or found before, or None to start one on first use. linger_s: how long a shared host
    shall outlive this client, asked when it leaves; without it, what it was attached with counts.
    """

    def __init__(
        self, host: HostProcess | SharedHost | None = None, linger_s: Callable[[], float] | None = None
    ) -> None:
        self._host = _Attachment(host)
        self._own: _Attachment | None = None
        self._linger_s = linger_s
        self._ids = itertools.count(1)
        self._encoder = MessageEncoder()
        self._is_closed = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[AnyStreamPart]:
        """Yield the parts of one answer, StreamDone last; AgentFailure when there is none.

        Closing the iterator, or cancelling who waits for it, closes the connection to the endpoint.
        """
        link = await self._attached(request.endpoint)
        request_id = next(self._ids)
        with Conversation(link, request_id) as conversation:
            link.send(StartStream(request_id, *link.requests.encode(request, self._encoder)))
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
        link = await self._attached(endpoint)
        request_id = next(self._ids)
        with Conversation(link, request_id) as conversation:
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
        """End every stream, and every host that is not shared."""
        self._is_closed = True
        for attachment in filter(None, (self._host, self._own)):
            await attachment.close(self._linger_s)

    async def _attached(self, endpoint: Endpoint | None = None) -> Link:
        """Return the link to a living host that may serve an endpoint, starting one when there is none."""
        if self._is_closed:
            raise _closed()
        attachment = self._host
        if endpoint is not None and not attachment.serves(endpoint):
            attachment = self._own = self._own or _Attachment()
        return await attachment.link()


def _closed() -> AgentFailure:
    return failure("internal", "client_closed", "the model client is closed already", origin="llm")


class _Attachment:
    """One host at a time and the link to it; what ended is replaced when it is needed."""

    def __init__(self, host: HostProcess | SharedHost | None = None) -> None:
        self._host = host
        self._link: Link | None = None
        self._opening: Link | None = None
        self._is_used = False
        self._is_closed = False
        self._attaching = asyncio.Lock()

    def serves(self, endpoint: Endpoint) -> bool:
        return self._host is None or self._host.serves(endpoint)

    async def link(self) -> Link:
        """Return an open link; AgentFailure when no host can be started, or when it is closed meanwhile."""
        if self._link is not None and self._link.is_open:
            return self._link
        async with self._attaching:
            tries = 0
            while self._link is None or not self._link.is_open:
                if self._is_closed:
                    raise _closed()
                tries += 1
                await self._attach(may_share=tries <= _MOST_SHARED_TRIES)
            return self._link

    async def _attach(self, *, may_share: bool) -> None:
        """Set the link if the host proves to be one that may be used; the next try takes another host."""
        try:
            if self._host is None:
                self._host = start_host_process()
            elif self._is_used:
                self._host = self._host.start_again()
            if isinstance(self._host, SharedHost) and not may_share:
                self._host.close()
                self._host = self._host.start_own()
        except OSError as error:
            raise AgentFailure(fault("host_died", Target(model=""), detail=f"cannot be started: {error}")) from error
        self._is_used = True
        link = self._opening = Link(self._host)
        try:
            await link.open()
        except StrangeHostError:
            assert isinstance(self._host, SharedHost)
            self._host = self._host.start_own()
            self._is_used = False
        except OSError:
            # It ended before a first word was said, long ago perhaps: the next one is started in the same way. Or we
            # have closed its socket meanwhile, and then there is no next one.
            if not self._is_closed:
                self._host.describe_exit()
        else:
            self._link = link

    async def close(self, linger_s: Callable[[], float] | None) -> None:
        self._is_closed = True
        if self._link is None and self._opening is not None:
            # Whoever waits for its first word hears of it, and not only when the socket is another's.
            await self._opening.close()
        if self._link is not None:
            if self._link.is_open and linger_s is not None and isinstance(self._host, SharedHost):
                self._link.send(Linger(linger_s()))
            await self._link.close()
        if self._host is not None:
            await asyncio.to_thread(self._host.close)
