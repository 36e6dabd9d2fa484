"""The official repository on the model hub.

huggingface_hub knows the address (and a mirror set by HF_ENDPOINT); the bytes are read here, because it throws a
broken download away, while this one goes on with a range request.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import BinaryIO

import httpx

from smith_core.cancel import CancelToken
from smith_core.embedded.catalog import EmbeddedModel
from smith_core.embedded.failures import not_offered, unreachable, wrong_content
from smith_core.embedded.progress import Meter
from smith_core.embedded.running import run_cancellable
from smith_core.embedded.sources import writing
from smith_core.embedded.weights import ModelFiles
from smith_core.errors import AgentFailure

CONNECT_TIMEOUT_S = 5.0
"""A machine that cannot reach the hub moves on to the next source after this."""

READ_TIMEOUT_S = 20.0
"""The longest silence of a server that was reached."""

_CHUNK_BYTES = 1 << 17
"""Small enough that a slow line still shows progress, large enough that a fast one costs little."""

_FRUITFUL_BYTES = 1 << 20
"""A request that brought less than this counts as fruitless; three of those in a row are the end."""

_FRUITLESS_TRIES = 3
_RETRY_WAIT_S = 1.0
_CONTENT_RANGE = re.compile(r"bytes (\d+)-")


class HubRepository:
    """The official files; a broken download goes on where it stopped.

    endpoint: address of another hub or mirror, None for the usual one. retry_wait_s: before a broken download goes on.
    """

    def __init__(self, endpoint: str | None = None, retry_wait_s: float = _RETRY_WAIT_S) -> None:
        self._endpoint = endpoint
        self._retry_wait_s = retry_wait_s

    @property
    def label(self) -> str:
        """What it is, for people."""
        return "the official repository"

    def spare_bytes(self, files: ModelFiles) -> int:
        """Return 0: the download is the model."""
        return 0

    async def fetch(self, files: ModelFiles, meter: Meter, token: CancelToken) -> None:
        """Complete the partial file, asking again while each request brings bytes."""
        address = await asyncio.to_thread(self._address, files.model)
        fruitless = 0
        while files.partial_bytes() < files.model.size:
            before = files.partial_bytes()
            try:
                await run_cancellable(self._request(address, files, meter), token)
            except AgentFailure as caught:
                gained = files.partial_bytes() - before
                fruitless = 0 if gained > _FRUITFUL_BYTES else fruitless + 1
                if not caught.error.retryable or gained <= 0 or fruitless >= _FRUITLESS_TRIES:
                    raise
                await token.sleep(self._retry_wait_s)

    def _address(self, model: EmbeddedModel) -> str:
        from huggingface_hub import hf_hub_url
        from huggingface_hub.constants import HF_HUB_OFFLINE

        if HF_HUB_OFFLINE and self._endpoint is None:
            raise unreachable(self.label, "HF_HUB_OFFLINE is set")
        return hf_hub_url(model.repository, model.file_name, revision=model.revision, endpoint=self._endpoint)

    async def _request(self, address: str, files: ModelFiles, meter: Meter) -> None:
        present = files.partial_bytes()
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={present}-"} if present else {})
        timeout = httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
        try:
            async with (
                httpx.AsyncClient(timeout=timeout, follow_redirects=True) as client,
                client.stream("GET", address, headers=headers) as response,
            ):
                start = self._start_of(response, present, files.model.size)
                with writing(files.partial, at=start) as partial:
                    await self._write(response.aiter_raw(_CHUNK_BYTES), partial, start, files.model.size, meter)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(self.label, _reason(error)) from error
        if files.partial_bytes() < files.model.size:
            raise unreachable(self.label, "the connection ended early")

    def _start_of(self, response: httpx.Response, asked: int, size: int) -> int:
        """Return the position of the body's first byte in the file; a server without ranges sends all of it."""
        match response.status_code:
            case 200:
                # A page that some gateway puts in the file's place would spoil what is there already.
                announced = response.headers.get("Content-Length", "unknown")
                if announced != str(size):
                    raise wrong_content(f"the answer of {self.label}", f"{size} bytes", f"{announced[:20]} bytes")
                return 0
            case 206:
                found = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
                if found is None or int(found[1]) > asked:
                    raise not_offered(self.label, "it sent another part of the file than it was asked for")
                return int(found[1])
            case 408 | 429 | 500 | 502 | 503 | 504 as status:
                raise unreachable(self.label, f"it answered with HTTP status {status}")
            case status:
                raise not_offered(self.label, f"it answered with HTTP status {status}")

    async def _write(
        self, chunks: AsyncIterator[bytes], partial: BinaryIO, start: int, size: int, meter: Meter
    ) -> None:
        done = start
        meter.restart(done)
        async for chunk in chunks:
            done += len(chunk)
            if done > size:
                raise wrong_content(f"the answer of {self.label}", f"{size} bytes", "more")
            await asyncio.to_thread(partial.write, chunk)
            meter.reached(done)


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it did not answer in time"
    return " ".join(str(error).split())[:200] or type(error).__name__
