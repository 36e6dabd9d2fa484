"""The tool web_search: what it asks of the service, how it shows the answer, and how it words each failure."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from smith_core.cancel import new_root
from smith_core.config.schema import to_config
from smith_core.log import LOGGER
from smith_core.tools.base import MODEL_TEXT_LIMIT
from smith_core.tools.web.linkup import endpoint_of
from smith_core.tools.web.search import WEB_SEARCH, search_settings, shown_answer, web_search_tool
from smith_core.tools.web.searching import SearchAnswer, SearchResult, SearchSettings
from tests.support.web_site import Answer, Site, WebCalls, problem, web_site

KEY = "lk-SECRET456"
JSON = (("Content-Type", "application/json"),)
FOUND = {
    "results": [
        {
            "type": "text",
            "name": "First [red]",
            "url": "https://one.org/a",
            "content": "Text \x1b[31mone\x1b[0m.\nMore.",
        },
        {"type": "text", "name": "Second", "url": "https://two.org", "content": "Text two."},
        {"type": "image", "name": "Third", "url": "https://three.org/x.png"},
        "noise",
    ]
}


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setenv("LINKUP_API_KEY", KEY)
    async with web_site() as running:
        yield running


def calls(folder: Path, site: Site, **settings: Any) -> WebCalls:
    table = {"endpoint": site.url("/v1/search"), **settings}
    return WebCalls(folder, WEB_SEARCH, {"services": {"tool": {"web_search": table}}})


def answer(site: Site, body: object, status: str = "200 OK") -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    site.pages["/v1/search"] = Answer(body=data, status=status, headers=JSON)


async def test_a_search_asks_once_and_shows_numbered_results(site: Site, tmp_path: Path) -> None:
    answer(site, FOUND)
    result = await calls(tmp_path, site)(query=" what is [/foo]? ")
    assert result.content == (
        "1. First [red]\n   https://one.org/a\nText one.\nMore.\n\n2. Second\n   https://two.org\nText two.\n\n"
        "3. Third\n   https://three.org/x.png"
    )
    assert json.loads(site.bodies[0]) == {
        "q": "what is [/foo]?",
        "depth": "standard",
        "outputType": "searchResults",
        "includeImages": False,
        "maxResults": 10,
    }
    assert f"authorization: Bearer {KEY}\r\n".lower() in site.requests[0].lower()
    assert site.connections == 1


async def test_the_settings_change_what_is_asked(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_KEY", "other-key")
    answer(site, {"answer": "It is so.", "sources": [{"name": "S", "url": "https://s.org", "snippet": "because"}]})
    asking = calls(
        tmp_path, site, api_key_env="SEARCH_KEY", depth="deep", output_type="sourcedAnswer", max_results=4, timeout=9
    )
    result = await asking(query="q", max_results=20)
    assert result.content == "It is so.\n\n1. S\n   https://s.org\nbecause"
    asked = json.loads(site.bodies[0])
    assert (asked["depth"], asked["outputType"], asked["maxResults"]) == ("deep", "sourcedAnswer", 4)
    assert "bearer other-key" in site.requests[0].lower()
    await asking(query="q", max_results=2)
    assert json.loads(site.bodies[1])["maxResults"] == 2


@pytest.mark.parametrize(
    ("given", "asked", "sent"),
    [(None, None, 10), (None, 30, 30), (None, 80, 50), (4, None, 4), (4, 30, 4), (70, None, 50), (70, 30, 30)],
)
async def test_a_call_gets_as_many_results_as_the_schema_promises_unless_somebody_has_set_fewer(
    given: int | None, asked: int | None, sent: int, site: Site, tmp_path: Path
) -> None:
    answer(site, FOUND)
    settings = {} if given is None else {"max_results": given}
    wanted = {} if asked is None else {"max_results": asked}
    await calls(tmp_path, site, **settings)(query="q", **wanted)
    assert json.loads(site.bodies[0])["maxResults"] == sent
    said = WEB_SEARCH.schema["properties"]["max_results"]["description"]
    assert "up to 50; without it 10" in said and "user's settings" in said


@pytest.mark.parametrize("value", [None, "", "  "])
async def test_without_a_key_the_variable_is_named_and_nobody_is_asked(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("LINKUP_API_KEY")
    if value is not None:
        monkeypatch.setenv("SEARCH_KEY", value)
    result = await calls(tmp_path, site, api_key_env="SEARCH_KEY")(query="q")
    assert problem(result) == ("policy", "no_key")
    assert "has to set SEARCH_KEY" in result.content
    assert site.connections == 0


@pytest.mark.parametrize(
    ("status", "body", "code", "says"),
    [
        (
            "401 Unauthorized",
            {"error": {"code": "UNAUTHORIZED", "message": f"bad {KEY}"}},
            "http_401",
            "LINKUP_API_KEY",
        ),
        ("403 Forbidden", b"no", "http_403", "does not accept the key in LINKUP_API_KEY"),
        ("402 Payment", b"", "http_402", "used up"),
        ("429 Too Many", {"error": {"code": "TOO_MANY_REQUESTS", "message": "slow"}}, "http_429", "wait a minute"),
        ("429 Too Many", {"error": {"code": "INSUFFICIENT_FUNDS_CREDITS", "message": "m"}}, "http_429", "used up"),
        (
            "400 Bad",
            {"error": {"code": "VALIDATION_ERROR", "message": "depth: \x00bad"}},
            "http_400",
            "It says: depth:",
        ),
        ("404 Not Found", b"<html>", "http_404", "services.tool.web_search.endpoint"),
        ("500 Oops", b"[" * 100_000, "http_500", "try again later"),
        ("503 Busy", {"message": "down"}, "http_503", "It says: down"),
        ("302 Found", b"", "http_302", "where the key is not sent"),
        ("200 OK", b"<html>", "bad_answer", "something that is no result"),
        ("200 OK", b"[1, 2]", "bad_answer", "something that is no result"),
    ],
)
async def test_each_refusal_is_words_without_the_key(
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    status: str,
    body: object,
    code: str,
    says: str,
) -> None:
    monkeypatch.setattr(LOGGER, "propagate", True)
    caplog.set_level(logging.DEBUG)
    answer(site, body, status)
    result = await calls(tmp_path, site)(query="q")
    assert problem(result)[1] == code
    assert says in result.content
    assert result.error is not None
    assert KEY not in f"{result}{result.error.cause}{result.error.data}{caplog.text}"
    assert site.connections == 1


@pytest.mark.parametrize(
    "body", [{"results": []}, {"results": None}, {"results": [{"name": 3, "url": None}]}, {}, {"answer": 7}]
)
async def test_odd_and_empty_answers_are_no_failure(site: Site, tmp_path: Path, body: dict[str, Any]) -> None:
    answer(site, body)
    result = await calls(tmp_path, site)(query="q")
    assert result.ok
    assert result.content in ("[nothing was found; ask with other or fewer words]", "1. (no title)")


async def test_no_result_as_an_error_is_an_empty_answer(site: Site, tmp_path: Path) -> None:
    answer(site, {"error": {"code": "SEARCH_QUERY_NO_RESULT", "message": "none"}}, "400 Bad Request")
    assert (await calls(tmp_path, site)(query="q")).content.startswith("[nothing was found")


async def test_silence_and_a_closed_port_are_words(site: Site, tmp_path: Path) -> None:
    site.pages["/v1/search"] = Answer(before=asyncio.Event().wait)
    late = await calls(tmp_path, site, timeout=0.2)(query="q")
    assert problem(late) == ("tool", "timeout")
    assert "within 0.2 s" in late.content
    closed = await calls(tmp_path, site, endpoint="http://127.0.0.1:1/v1/search")(query="q")
    assert problem(closed) == ("tool", "connection")
    assert "127.0.0.1 was not reached" in closed.content


async def test_a_key_for_this_machine_does_not_go_to_a_proxy(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(site, FOUND)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert (await calls(tmp_path, site)(query="q")).ok


async def test_cancel_ends_a_search_within_a_second(site: Site, tmp_path: Path) -> None:
    site.pages["/v1/search"] = Answer(before=asyncio.Event().wait)
    token = new_root()
    running = asyncio.create_task(calls(tmp_path, site)(query="q", token=token))
    await asyncio.wait_for(site.asked.wait(), 10)
    token.request()
    assert (await asyncio.wait_for(running, 1)).cancelled


@pytest.mark.parametrize("arguments", [{"query": " "}, {"query": "q" * 5000}, {"query": "q", "max_results": 0}, {}])
async def test_bad_arguments_are_refused(site: Site, tmp_path: Path, arguments: dict[str, Any]) -> None:
    assert problem(await calls(tmp_path, site)(**arguments)) == ("schema", "bad_arguments")
    assert site.connections == 0


async def test_another_output_type_is_refused_before_it_costs_anything(site: Site, tmp_path: Path) -> None:
    result = await calls(tmp_path, site, output_type="structured")(query="q")
    assert "it can be searchResults or sourcedAnswer here" in result.content
    assert site.connections == 0


async def test_another_backend_can_be_injected(tmp_path: Path) -> None:
    async def search(query: str, max_results: int, settings: SearchSettings) -> SearchAnswer:
        return SearchAnswer(results=tuple(SearchResult(title=f"{query} {n}") for n in range(9)))

    result = await WebCalls(tmp_path, web_search_tool(search))(query="q", max_results=2)
    assert result.content == "1. q 0\n\n2. q 1"


def test_b18_long_texts_are_cut_fairly_and_say_their_size() -> None:
    results = [SearchResult(title="t" * 9000, address="a" * 9000, text="x" * 600_000) for _ in range(49)]
    shown = shown_answer(SearchAnswer(results=(*results, SearchResult(title="last", text="whole"))), 50)
    assert len(shown) <= MODEL_TEXT_LIMIT
    assert shown.count("[... cut: this text has 600000 characters ...]") == 49
    assert shown.endswith("50. last\nwhole")


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://api.linkup.so/v1/search", "https://api.linkup.so/v1/search"),
        ("https://api.linkup.so/v1/", "https://api.linkup.so/v1/search"),
        ("https://api.linkup.so", "https://api.linkup.so/v1/search"),
        ("http://localhost:8080/other", "http://localhost:8080/other"),
    ],
)
def test_a_base_address_is_completed(given: str, used: str) -> None:
    config = to_config({"services": {"tool": {"web_search": {"endpoint": given}}}})
    assert endpoint_of(search_settings(config)) == used
