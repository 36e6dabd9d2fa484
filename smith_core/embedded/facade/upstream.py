"""The llama.cpp server behind the facade: one constrained generation at a time, streamed."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import aiohttp
import msgspec

MAX_REPLY_TOKENS = 700
_DATA = b"data: "


class UpstreamError(Exception):
    """The server refused or broke off; `status` is its HTTP status, 503 when it could not be reached."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class TokenCount(msgspec.Struct):
    """Tokens of the generations of one request, summed."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


class Upstream:
    """Asks the server at `url` (its `/v1` address), which wants the key `key`; used on one event loop."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._headers = {"authorization": f"Bearer {key}"}
        self._session: aiohttp.ClientSession | None = None

    async def generate(
        self,
        messages: Sequence[Mapping[str, str]],
        actions: Sequence[Mapping[str, Any]],
        count: TokenCount,
        *,
        temperature: float = 0.0,
        max_tokens: int = MAX_REPLY_TOKENS,
    ) -> AsyncIterator[str]:
        """Yield the pieces of one reply that is one of `actions`; closing the iterator stops the generation.

        count: takes the token counts. UpstreamError when there is no reply, or only half of one.
        """
        body = {
            "messages": messages,
            "grammar": grammar_of(actions),
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": temperature,
            "max_tokens": max_tokens,
            "cache_prompt": True,
        }
        try:
            async with self._client().post(f"{self._url}/chat/completions", json=body) as response:
                if response.status != 200:
                    raise UpstreamError(response.status, _error_text(await response.read()))
                async for line in response.content:
                    if line.startswith(_DATA) and not line.startswith(b"data: [DONE]"):
                        yield _take_chunk(line.removeprefix(_DATA), count)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise UpstreamError(503, f"the local model does not answer ({error or type(error).__name__})") from error

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
            # llama.cpp closes idle connections just when we would use them again.
            connector = aiohttp.TCPConnector(force_close=True)
            self._session = aiohttp.ClientSession(
                connector=connector, headers=self._headers, timeout=timeout, read_bufsize=2**20
            )
        return self._session


def grammar_of(actions: Sequence[Mapping[str, Any]]) -> str:
    """Return the grammar that allows just these actions, as JSON without blanks (llguidance's `%json`)."""
    schema: dict[str, Any] = dict(actions[0]) if len(actions) == 1 else {"anyOf": list(actions)}
    # lenient: a keyword of JSON schema that the grammar does not know is passed over instead of refused.
    form = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":", "lenient": True}
    schema["x-guidance"] = form
    return f"%llguidance {{}}\nstart: %json {msgspec.json.encode(schema).decode()}"


def _take_chunk(data: bytes, count: TokenCount) -> str:
    try:
        chunk = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise UpstreamError(502, "the local model sent a broken reply") from error
    if "error" in chunk:
        raise UpstreamError(500, _error_text(data))
    usage = chunk.get("usage")
    if usage:
        count.prompt += usage.get("prompt_tokens") or 0
        count.completion += usage.get("completion_tokens") or 0
        count.cached += (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    choices = chunk.get("choices") or [{}]
    return str((choices[0].get("delta") or {}).get("content") or "")


def _error_text(body: bytes) -> str:
    try:
        error = msgspec.json.decode(body)["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (msgspec.DecodeError, KeyError, TypeError):
        return body.decode("utf-8", "replace")[:300] or "no reason given"
