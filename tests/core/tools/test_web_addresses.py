"""Which addresses may be fetched: every form of an inside one is refused, whatever it is spelled as."""

import ipaddress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.errors import AgentFailure
from smith_core.tools.web.addresses import check_addresses, check_url, is_allowed, is_public
from smith_core.tools.web.names import resolve

INSIDE = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "198.18.0.1",
    "192.0.2.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:a9fe:a9fe",
    "::127.0.0.1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:808:808::",
    "2001::1",
    "2001:db8::1",
    "100::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.32.0.1",
    "192.169.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]


@pytest.mark.parametrize("address", INSIDE)
def test_b29_inside_addresses_are_refused(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
    with pytest.raises(AgentFailure, match="inside of this machine or network") as caught:
        check_addresses("host.test", [ipaddress.ip_address("8.8.8.8"), ipaddress.ip_address(address)])
    assert caught.value.error.kind == "policy"


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_not(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
    check_addresses("host.test", [ipaddress.ip_address(address)])


@given(st.ip_addresses(v=4))
def test_wrapping_an_address_does_not_open_it(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for wrapped in (0xFFFF << 32 | number, 0x64FF9B << 96 | number):
        assert is_public(ipaddress.IPv6Address(wrapped)) == is_public(address)
    assert not is_public(ipaddress.IPv6Address(0x2002 << 112 | number << 80))


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f.1", "017700000001", "0x7f000001", "0", "localhost"])
async def test_b29_the_system_reads_every_form_of_a_number(host: str) -> None:
    assert not any(is_public(address) for address in await resolve(host))


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("file:///etc/passwd", "neither http:// nor https://"),
        ("ftp://example.org/", "neither http:// nor https://"),
        ("javascript:alert(1)", "neither http:// nor https://"),
        ("gopher://127.0.0.1:70/", "neither http:// nor https://"),
        ("http://u:p@example.org/", "holds a user name or password"),
        ("http://example.org\\@127.0.0.1/", "holds a user name or password"),
        ("http:///etc/passwd", "names no host"),
        ("http://example.org:22/", "port 22"),
        ("http://example.org:25/", "port 25"),
        ("https://example.org:6379/", "port 6379"),
        ("http://example.org:0/", "port 0"),
        ("http://example.org:70000/", "port 70000"),
    ],
)
def test_b29_other_schemes_logins_and_ports_are_refused_without_their_secrets(url: str, says: str) -> None:
    with pytest.raises(AgentFailure) as caught:
        check_url(httpx.URL(url), ())
    error = caught.value.error
    assert error.kind == "policy"
    assert says in error.message
    assert "u:p" not in error.message


@pytest.mark.parametrize(
    ("entry", "host", "port", "opens"),
    [
        ("localhost", "localhost", 8080, True),
        ("localhost", "LOCALHOST.", 8080, True),
        ("localhost:8080", "localhost", 8080, True),
        ("localhost:8080", "localhost", 8081, False),
        ("localhost", "127.0.0.1", 80, False),
        ("127.0.0.1", "localhost", 80, False),
        ("127.0.0.1", "2130706433", 80, False),
        ("::1", "::1", 80, True),
        ("[::1]", "::1", 80, True),
        ("[::1]:8080", "::1", 8080, True),
        ("[::1]:8080", "::1", 80, False),
        ("example.org", "sub.example.org", 80, False),
        ("wiki.corp:22", "wiki.corp", 22, True),
    ],
)
def test_a_setting_opens_the_listed_hosts_and_no_other(entry: str, host: str, port: int, opens: bool) -> None:
    assert is_allowed(host, port, [entry]) is opens
    bracketed = f"[{host}]" if ":" in host else host
    if opens:
        assert check_url(httpx.URL(f"http://{bracketed}:{port}/"), [entry])
