"""Fetches one address: every hop is checked, and the connection goes to the very address that was checked."""

import asyncio
import os
import ssl
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from smith_core.errors import AgentFailure, failure
from smith_core.text import clean_text, shorten
from smith_core.tools.web.addresses import IPAddress, check_addresses, check_url
from smith_core.tools.web.body import (
    ACCEPTED_ENCODINGS,
    BodyDecoder,
    DamagedBodyError,
    UnknownEncodingError,
    charset_of,
    media_type_of,
)
from smith_core.tools.web.body_reading import BodyReading
from smith_core.tools.web.fetched import Fetch, Fetched
from smith_core.tools.web.names import Resolve, resolve

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 10_000_000
"""Most bytes of a body that are kept, unpacked (fault kind B29)."""

MAX_HOPS = 10
TIME_LIMIT_S = 18.0
"""Seconds for names, connections, all hops and the body; the page reader has the rest of the 30 of fault kind B29."""

_END_S = 1.0
_PHASE_LIMIT_S = 10.0
_TRIED_ADDRESSES = 4
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; smith-tui)",
    "Accept": "text/html, text/markdown;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": ACCEPTED_ENCODINGS,
}
_PROXIES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
_STATUS_ADVICE = {
    401: "it wants a login, which is not given here",
    403: "it does not let programs in; look for another source",
    404: "check the address, or look for the page with web_search",
    410: "the page is gone; look for another with web_search",
    429: "it was asked too often; wait a minute",
}


class FetchLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one fetch."""

    max_bytes: int = MAX_BYTES
    seconds: float = TIME_LIMIT_S


_USUAL = FetchLimits()


def direct_fetch(
    *,
    resolve: Resolve = resolve,
    limits: FetchLimits = _USUAL,
    make_trust: Callable[[], ssl.SSLContext] | None = None,
) -> Fetch:
    """Return the backend that connects by itself; make_trust: makes the context that says whom TLS trusts."""

    async def fetch(address: str, allowed_hosts: Sequence[str]) -> Fetched:
        # The import and the trusted roots take a tenth of a second, which the screen must not wait for.
        await asyncio.to_thread(_import_httpx)
        fetching = _Fetching(resolve, limits, tuple(allowed_hosts))
        url = _parse(address)
        check_url(url, fetching.allowed_hosts)
        trust = await asyncio.to_thread(make_trust or trusted_roots)
        return await fetching.run(url, trust)

    return fetch


def trusted_roots() -> ssl.SSLContext:
    """Return a context that trusts what SSL_CERT_FILE or SSL_CERT_DIR name, or else the roots of certifi."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


class _Fetching:
    """One fetch; used once."""

    def __init__(self, resolve: Resolve, limits: FetchLimits, allowed_hosts: tuple[str, ...]) -> None:
        self._resolve = resolve
        self._limits = limits
        self.allowed_hosts = allowed_hosts
        self._deadline = asyncio.get_running_loop().time() + limits.seconds

    async def run(self, url: "httpx.URL", trust: ssl.SSLContext) -> Fetched:
        """Follow `url` to its end and return what is there; AgentFailure in words if that fails."""
        import httpx

        try:
            async with (
                asyncio.timeout_at(self._deadline + _END_S),
                httpx.AsyncClient(verify=trust, trust_env=False, timeout=_PHASE_LIMIT_S, headers=_HEADERS) as client,
            ):
                return await self._follow(client, url)
        except TimeoutError:
            raise _timed_out(url, self._limits.seconds) from None
        except httpx.TimeoutException:
            raise _timed_out(url, _PHASE_LIMIT_S) from None
        except httpx.InvalidURL as error:
            raise _failed("bad_address", f"{_host(url)} leads on to an address that is none ({error})") from error
        except (httpx.HTTPError, DamagedBodyError, ssl.SSLError) as error:
            raise _broken(url, error) from error

    async def _follow(self, client: "httpx.AsyncClient", url: "httpx.URL") -> Fetched:
        for hop in range(MAX_HOPS + 1):
            response = await _send(client, url, await self._checked_addresses(url))
            try:
                location = response.headers.get("location", "")
                if response.status_code not in _REDIRECTS or not location:
                    return await self._read(response, url, hop)
                url = url.join(location)
            finally:
                await response.aclose()
                client.cookies.clear()
        raise _failed(
            "redirects", f"{_host(url)} leads on more than {MAX_HOPS} times, perhaps in a circle; not followed"
        )

    async def _checked_addresses(self, url: "httpx.URL") -> tuple[IPAddress, ...]:
        is_opened = check_url(url, self.allowed_hosts)
        addresses = await self._resolve(url.raw_host.decode("ascii"))
        if not is_opened:
            check_addresses(url.host, addresses)
        return addresses

    async def _read(self, response: "httpx.Response", url: "httpx.URL", hops: int) -> Fetched:
        import httpx

        if not response.is_success:
            raise _bad_status(url, response.status_code, response.reason_phrase)
        try:
            decoder = BodyDecoder(response.headers.get("content-encoding", ""))
        except UnknownEncodingError as error:
            raise _failed("encoding", f"{_host(url)} packs its answer as {error}, which was not asked for") from error
        content_type = response.headers.get("content-type", "")
        declared = response.headers.get("content-length", "")
        size = int(declared) if declared.isascii() and declared.isdecimal() and not decoder.is_packed else -1
        reading = BodyReading(media_type_of(content_type), charset_of(content_type), self._limits.max_bytes, size)
        try:
            async with asyncio.timeout_at(self._deadline):
                cut = await reading.read(response.aiter_raw(), decoder)
        except (TimeoutError, httpx.HTTPError, DamagedBodyError) as error:
            if not reading.has_begun:
                raise
            is_late = isinstance(error, TimeoutError | httpx.TimeoutException)
            cut = "the rest did not come in time" if is_late else "the rest is damaged or did not come"
        return reading.result(str(url), hops, cut)


async def _send(client: "httpx.AsyncClient", url: "httpx.URL", addresses: Sequence[IPAddress]) -> "httpx.Response":
    """Ask for `url` at one of its checked addresses; its name goes along in Host, and in TLS, which verifies it."""
    import httpx

    name = url.raw_host.decode("ascii").rstrip(".")
    problem: Exception = httpx.ConnectError("no address")
    for address in addresses[:_TRIED_ADDRESSES]:
        request = client.build_request(
            "GET",
            url.copy_with(host=str(address), fragment=None),
            headers={"Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": name},
        )
        try:
            return await client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            problem = error
    raise problem


def _import_httpx() -> None:
    import httpcore
    import httpx

    assert httpcore, httpx


def _parse(address: str) -> "httpx.URL":
    """Return the address as a URL, https:// if it names no scheme; AgentFailure of kind schema if it is none."""
    import httpx

    text = address.strip()
    try:
        url = httpx.URL(text)
        return url if url.scheme else httpx.URL(f"https://{text.lstrip('/')}")
    except (httpx.InvalidURL, UnicodeError, ValueError) as error:
        shown = clean_text(shorten(text, 200))
        message = f"{shown!r} is no address ({error}); give one such as https://example.org/page"
        raise failure("schema", "bad_address", message, origin="tool") from error


def _host(url: "httpx.URL") -> str:
    return shorten(url.host, 200)


def _failed(code: str, message: str) -> AgentFailure:
    return failure("tool", code, clean_text(message), origin="tool")


def _timed_out(url: "httpx.URL", seconds: float) -> AgentFailure:
    return _failed("timeout", f"{_host(url)} did not answer within {seconds:g} s; try again later{_proxy_hint()}")


def _broken(url: "httpx.URL", error: Exception) -> AgentFailure:
    reason = shorten(str(error), 300) or type(error).__name__
    return _failed("connection", f"{_host(url)} could not be read ({reason}); check the address{_proxy_hint()}")


def _bad_status(url: "httpx.URL", status: int, phrase: str) -> AgentFailure:
    default = "the server has a problem; try again later" if status >= 500 else "check the address"
    advice = _STATUS_ADVICE.get(status, default)
    shown = shorten(str(url), 300)
    return _failed("http_status", f"{shown} answers {status} {shorten(phrase, 60)}: {advice}".replace(" :", ":"))


def _proxy_hint() -> str:
    name = next((name for name in _PROXIES if os.environ.get(name)), "")
    if not name:
        return ""
    return f" ({name} is set, but web_fetch connects directly: through a proxy it could not check where it leads)"
