"""What a fetch returns, and what a backend of web_fetch is."""

from collections.abc import Awaitable, Sequence
from typing import Protocol

import msgspec


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What an address answered.

    address: where the last hop led. binary: the type of a body that is no text, "" for text. size: bytes in all,
    unpacked, as far as known, -1 if not. cut: why `body` is not whole, "" if it is. body: empty for a binary one.
    """

    address: str
    media_type: str = ""
    charset: str = ""
    is_html: bool = False
    binary: str = ""
    size: int = -1
    cut: str = ""
    hops: int = 0
    body: bytes = b""


class Fetch(Protocol):
    """A backend of web_fetch."""

    def __call__(self, address: str, allowed_hosts: Sequence[str]) -> Awaitable[Fetched]:
        """Return what the address answered; AgentFailure in words when it cannot be had."""
        ...
