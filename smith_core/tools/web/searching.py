"""What a web search asks and returns, whoever answers it."""

from collections.abc import Awaitable
from typing import Protocol

import msgspec


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings under `services.tool.web_search`; timeout in seconds, deep searches take tens of them."""

    api_key_env: str = "LINKUP_API_KEY"
    endpoint: str = "https://api.linkup.so/v1/search"
    depth: str = "standard"
    output_type: str = "searchResults"
    max_results: int = 10
    timeout: float = 60.0


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """One thing found."""

    title: str = ""
    address: str = ""
    text: str = ""


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found, and the answer in words if the service was asked for one."""

    results: tuple[SearchResult, ...] = ()
    answer: str = ""


class Search(Protocol):
    """A backend of web_search."""

    def __call__(self, query: str, max_results: int, settings: SearchSettings) -> Awaitable[SearchAnswer]:
        """Return what was found; AgentFailure in words when nothing can be had."""
        ...
