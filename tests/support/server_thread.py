"""The scripted model server on a thread of its own, for tests that drive a real process."""

import asyncio
import threading
from types import TracebackType
from typing import Any

from tests.support.model_server import ModelServer, RecordedRequest


class ServerThread:
    """Runs a ModelServer; takes the same arguments."""

    def __init__(self, script: Any, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.server = ModelServer(script, **options)
        self._call(self.server.start())

    def __enter__(self) -> "ServerThread":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The base address."""
        return self.server.url

    @property
    def requests(self) -> list[RecordedRequest]:
        """The chat completions so far."""
        return self.server.requests

    def wait_for_requests(self, count: int, timeout: float = 30.0) -> RecordedRequest:
        """Return request number `count` (from 1) as soon as it has come in."""
        return self._call(self.server.wait_for_requests(count, timeout))

    def wait_until_gone(self, request: RecordedRequest, timeout: float = 10.0) -> None:
        """Wait until the client has closed the connection of a request."""
        self._call(asyncio.wait_for(request.client_gone.wait(), timeout))

    def stop(self) -> None:
        """Close the server and end the thread."""
        self._call(self.server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)
