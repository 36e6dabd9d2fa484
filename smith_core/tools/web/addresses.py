"""Which addresses of the web may be reached: those of the public internet, and hosts that a setting names."""

import ipaddress
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smith_core.errors import AgentFailure, failure
from smith_core.text import clean_text, shorten

if TYPE_CHECKING:
    import httpx

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_PUBLIC_V6 = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        (
            # What Python's own tables say depends on its version; these are of the IANA special-purpose registries.
            *("192.0.0.0/24", "192.88.99.0/24", "100.64.0.0/10", "2001::/23", "2001:db8::/32", "3fff::/20"),
            "2002::/16",  # 6to4: an IPv4 address is wrapped in it
            "168.63.129.16/32",  # public in form, but answered by the machine's own host (Azure)
        ),
    )
)

_WEB_PORTS = frozenset({80, 443})
_SERVICE_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 2375, 2376, 3306, 3659, 4045, 5060, 5061, 5432, 6000, 6379, 6566, 10080, 11211, 27017}
    | set(range(6665, 6670))
)
"""Ports above 1023 at which other protocols listen; part of https://fetch.spec.whatwg.org/#port-blocking."""

_SHOWN_CHARACTERS = 200


def refused(message: str) -> AgentFailure:
    """Return the failure for an address that policy forbids."""
    return failure("policy", "address_refused", clean_text(message), origin="tool")


def is_public(address: IPAddress) -> bool:
    """Whether an address belongs to the public internet: none of this machine, its networks, groups or tunnels."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
        if address not in _PUBLIC_V6:
            return False
    if any(address in network for network in _SPECIAL):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def check_url(url: "httpx.URL", allowed_hosts: Iterable[str]) -> bool:
    """Raise AgentFailure of kind policy for an address that is not for fetching; say whether a setting opens its host.

    Where the host leads is not looked at here.
    """
    shown = shorten(_shown(url), _SHOWN_CHARACTERS)
    if url.scheme not in ("http", "https"):
        raise refused(f"{shown} is neither http:// nor https://; only those are fetched, files are for read")
    if url.userinfo:
        raise refused(f"{shown} holds a user name or password; give the address without it")
    if not url.host:
        raise refused(f"{shown} names no host; give a whole address such as https://example.org/page")
    port = port_of(url)
    if is_allowed(url.host, port, allowed_hosts):
        return True
    if port not in _WEB_PORTS and (not 1024 <= port <= 65535 or port in _SERVICE_PORTS):
        raise refused(f"port {port} of {shown} is not one of a web server; nothing is fetched from it")
    return False


def check_addresses(host: str, found: Iterable[IPAddress]) -> None:
    """Raise AgentFailure of kind policy if one of the addresses that a host leads to is an inside one."""
    inside = next((address for address in found if not is_public(address)), None)
    if inside is None:
        return
    name = shorten(host, _SHOWN_CHARACTERS)
    leads = "" if name == str(inside) else f" leads to {inside}, which"
    raise refused(
        f"{name}{leads} is an address inside of this machine or network; nothing is fetched from there. "
        f"The user can open it with /config set tools.web_fetch_allow_hosts"
    )


def port_of(url: "httpx.URL") -> int:
    """Return the port that a URL means."""
    return (443 if url.scheme == "https" else 80) if url.port is None else url.port


def is_allowed(host: str, port: int, allowed_hosts: Iterable[str]) -> bool:
    """Whether a setting opens the host, which must be spelled as in the address; `host:port` opens one port of it."""
    spelled = _plain(host)
    for entry in allowed_hosts:
        name, entry_port = _split_entry(entry)
        if name == spelled and entry_port in (None, port):
            return True
    return False


def _split_entry(entry: str) -> tuple[str, int | None]:
    """Return host and port of an entry such as `localhost`, `localhost:8080`, `::1` or `[::1]:8080`."""
    bracket = entry.rfind("]")
    host, colon, port = entry.rpartition(":") if entry.count(":") == 1 or 0 <= bracket < entry.rfind(":") else ("",) * 3
    if colon and port.isascii() and port.isdecimal():
        return _plain(host), int(port)
    return _plain(entry), None


def _plain(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").lower()


def _shown(url: "httpx.URL") -> str:
    return str(url.copy_with(userinfo=b"")) if url.userinfo else str(url)
