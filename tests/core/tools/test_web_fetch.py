"""The tool web_fetch against a server on loopback that counts what reaches it."""

import asyncio
import gc
import itertools
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import psutil
import pytest

from smith_core.tools.base import MODEL_TEXT_LIMIT
from smith_core.tools.web.fetch import web_fetch_tool
from smith_core.tools.web.fetched import Fetched
from tests.support.web_site import Answer, Site, WebCalls, problem, quick_fetch, web_site

TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
HTML = (("Content-Type", "text/html; charset=utf-8"),)
CERTIFICATE = Path(__file__).parents[2] / "support" / "site_certificate.pem"


def repeated(piece: bytes, count: int | None = None, wait_s: float = 0.0) -> AsyncIterator[bytes]:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in itertools.repeat(None) if count is None else range(count):
            yield piece
            await asyncio.sleep(wait_s)

    return chunks()


def redirect(location: str, status: str = "302 Found") -> Answer:
    return Answer(status=status, headers=(("Location", location),))


async def test_the_last_address_and_the_way_to_it_are_told(site: Site, tmp_path: Path) -> None:
    site.pages["/a"] = redirect("/b?x=1#part")
    site.pages["/b?x=1"] = Answer(body=b"there", headers=TEXT)
    result = await WebCalls(tmp_path)(url=site.url("/a"), allow=["127.0.0.1"])
    assert f"Address: {site.url('/b?x=1#part')} (led to from {site.url('/a')}, 1 hop)" in result.content
    assert result.content.endswith("\n\nthere")


async def test_tls_asks_for_the_name_and_verifies_it(tmp_path: Path) -> None:
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(CERTIFICATE)
    asked: list[str | None] = []
    served.sni_callback = lambda connection, name, context: asked.append(name)
    names = {"site.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}
    async with web_site(served) as site:
        site.pages["/"] = Answer(body=b"hello", headers=TEXT)
        trusting = WebCalls(tmp_path, quick_fetch(names, lambda: ssl.create_default_context(cafile=str(CERTIFICATE))))
        result = await trusting(url=f"https://site.test:{site.port}/", allow=["site.test"])
        assert result.content.endswith("hello")
        other = await trusting(url=f"https://other.test:{site.port}/", allow=["other.test"])
        assert problem(other) == ("tool", "connection")
        assert "certificate" in other.content
        usual = await WebCalls(tmp_path, quick_fetch(names))(url=f"https://site.test:{site.port}/", allow=["site.test"])
        assert "certificate" in usual.content
        assert asked == ["site.test", "other.test", "site.test"]
        assert len(site.requests) == 1


async def test_no_key_no_cookie_and_no_login_is_sent(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINKUP_API_KEY", "lk-SECRET456")
    monkeypatch.setenv("HTTP_PROXY", f"http://u:SECRET@127.0.0.1:{site.port}/proxy")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password SECRET\n")
    site.pages["/a"] = Answer(status="302 Found", headers=(("Location", "/b"), ("Set-Cookie", "s=SECRET")))
    site.pages["/b"] = Answer(body=b"x", headers=TEXT)
    assert (await WebCalls(tmp_path)(url=site.url("/a"), allow=["127.0.0.1"])).ok
    sent = "".join(site.requests)
    assert sent.startswith("GET /a HTTP/1.1\r\n")
    assert not any(word in sent.lower() for word in ("secret", "cookie", "authorization", "referer"))
    result = await WebCalls(tmp_path)(url="http://127.0.0.1:1/", allow=["127.0.0.1"])
    assert "HTTP_PROXY is set, but web_fetch connects directly" in result.content
    assert "SECRET" not in result.content


async def test_a_page_is_readable_text_with_its_title(site: Site, tmp_path: Path) -> None:
    page = (
        "<html><head><title>Ünder [red] \x1b[31m</title></head><body><nav>menu</nav><h1>Big</h1>"
        "<p>One <a href='/x'>link</a> [/foo] \x1b]0;t\x07bad\x9b31m.</p><script>no()</script></body></html>"
    )
    site.pages["/p"] = Answer(body=page.encode(), headers=HTML)
    result = await WebCalls(tmp_path)(url=site.url("/p"), allow=["127.0.0.1"])
    assert result.content == (
        f"Title: Ünder [red]\nAddress: {site.url('/p')}\nType: text/html, utf-8, {len(page.encode())} bytes\n\n"
        f"# Big\n\nOne [link]({site.url('/x')}) [/foo] bad.\n"
    ).rstrip("\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("media_type", "body", "shown"),
    [
        ("application/json", b'{"a": [1]}', '{"a": [1]}'),
        ("text/markdown", "# Ü\n<b>x</b>".encode(), "# Ü\n<b>x</b>"),
        ("text/plain; charset=shift_jis", "日本".encode("cp932"), "日本"),
        ("text/html", b" ", "[the page has no text]"),
        ("", b"<!doctype html><p>hi", "hi"),
        ("text/plain", b"", "[the page has no text]"),
    ],
)
async def test_other_text_comes_as_it_is(site: Site, tmp_path: Path, media_type: str, body: bytes, shown: str) -> None:
    site.pages["/"] = Answer(body=body, headers=(("Content-Type", media_type),))
    result = await WebCalls(tmp_path)(url=site.url(), allow=["127.0.0.1"])
    assert result.ok
    assert result.content.split("\n\n", 1)[1] == shown


async def test_b18_a_page_of_50_megabytes_neither_floods_nor_freezes(site: Site, tmp_path: Path) -> None:
    paragraph = b"<p>" + b"some words of a long page " * 40 + b"<a href=/x>on</a></p>\n"
    piece = paragraph * (65_536 // len(paragraph))
    site.pages["/"] = Answer(chunks=lambda: repeated(piece, 50_000_000 // len(piece)), headers=HTML)
    calls = WebCalls(tmp_path)
    site.pages["/small"] = Answer(body=b"x", headers=TEXT)
    await calls(url=site.url("/small"), allow=["127.0.0.1"])
    gc.collect()
    peak, longest = Peak(), asyncio.create_task(_longest_step())
    result = await calls(url=site.url(), allow=["127.0.0.1"])
    assert peak.stop() < 100_000_000
    longest.cancel()
    assert await longest < 0.1
    assert len(result.content) <= MODEL_TEXT_LIMIT
    assert "[The page is cut: it is longer than 10000000 bytes.]" in result.content
    assert "[The page is cut: only the first 4000000 of its 10000000 characters were read.]" in result.content
    assert result.metadata.omitted_chars > 3_000_000
    kept = Path(result.metadata.full_output_path)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.read_text().startswith("some words")


async def test_a_page_that_eats_memory_is_read_in_part(site: Site, tmp_path: Path) -> None:
    """Of each paragraph the library makes two kilobytes; the whole page would take a gigabyte."""
    site.pages["/"] = Answer(body=b"<body>the start" + b"<p>a" * 1_000_000, headers=HTML)
    result = await WebCalls(tmp_path)(url=site.url(), allow=["127.0.0.1"])
    assert result.ok
    assert "[The page is cut: only the first 250000 of its 4000015 characters were read.]" in result.content
    assert "\n\nthe start\n\na\n\na\n" in result.content


@pytest.mark.parametrize(
    ("status", "says"),
    [
        ("404 Not Found", "answers 404 Not Found: check the address"),
        ("403 Forbidden", "look for another source"),
        ("429 Too Many Requests", "wait a minute"),
        ("503 Busy \x1b[31m", "the server has a problem; try again later"),
        ("304 Not Modified", "check the address"),
    ],
)
async def test_a_bad_status_says_what_to_do(site: Site, tmp_path: Path, status: str, says: str) -> None:
    site.pages["/"] = Answer(status=status, body=b"secret page")
    result = await WebCalls(tmp_path)(url=site.url(), allow=["127.0.0.1"])
    assert problem(result) == ("tool", "http_status")
    assert says in result.content
    assert "secret page" not in result.content


@pytest.mark.parametrize("address", ["", "  ", "http://[::1", "http://①.test/", "http://a b/", "http://x.invalid/"])
async def test_what_is_no_address_is_said_in_words(tmp_path: Path, address: str) -> None:
    kind, code = problem(await WebCalls(tmp_path)(url=address))
    assert (kind, code) in {("schema", "bad_address"), ("schema", "bad_arguments"), ("tool", "unknown_host")}


async def test_a_server_that_speaks_no_http_is_words(tmp_path: Path) -> None:
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH\r\n")
        writer.close()

    server = await asyncio.start_server(rude, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        result = await WebCalls(tmp_path)(url=f"http://127.0.0.1:{port}/", allow=["127.0.0.1"])
    assert problem(result) == ("tool", "connection")


async def test_another_backend_can_be_injected(tmp_path: Path) -> None:
    async def fetch(address: str, allowed_hosts: Iterable[str]) -> Fetched:
        return Fetched(address=address, media_type="text/plain", size=2, body=f"{list(allowed_hosts)}".encode())

    result = await WebCalls(tmp_path, web_fetch_tool(fetch))(url="https://example.org", allow=["h"])
    assert result.content.endswith("\n\n['h']")


async def _longest_step() -> float:
    """Return, when cancelled, the most CPU seconds that the loop used between two of its turns."""
    longest, before = 0.0, time.thread_time()
    while True:
        try:
            await asyncio.sleep(0.002)
        except asyncio.CancelledError:
            return longest
        now = time.thread_time()
        longest, before = max(longest, now - before), now


class Peak:
    """Watches by how much this process grows, in bytes, with the children that it starts meanwhile."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._others = {child.pid for child in self._process.children()}
        self._command = self._process.cmdline()
        self._before = self._process.memory_info().rss
        self._peak = self._before
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stopped.wait(0.01):
            total = self._process.memory_info().rss
            for child in self._process.children():
                try:
                    # A child that runs no program of its own yet has all that this process has as if it were its own.
                    is_new = child.pid not in self._others and child.cmdline() != self._command
                    total += child.memory_full_info().uss if is_new else 0
                except psutil.Error:
                    continue
            self._peak = max(self._peak, total)

    def stop(self) -> int:
        self._stopped.set()
        self._thread.join()
        return self._peak - self._before
