"""Addresses of the web in a text, or under a click: written out, or behind a link that has one beside it. Pure."""

import re
from collections.abc import Iterator

from smith_core.patterns import later
from smith_tui.transcript.model import Document, Place

_ADDRESS = later(r"""https?://[^\s<>"'`|\\^{}\x00-\x1f\x7f]+""", re.IGNORECASE)
_BESIDE = later(r" \((https?://\S+)", re.IGNORECASE)
_BEHIND = ".,;:!?*_"
_PAIRS = {")": "(", "]": "["}
MAX_LENGTH = 4_000


def addresses_in(text: str) -> Iterator[str]:
    """Yield the addresses that are written out in a text, markdown or plain, as they come."""
    return filter(None, (_trimmed(match[0]) for match in _ADDRESS.finditer(text)))


def address_at(document: Document, place: Place, index: int) -> str:
    """Return the address that a character of a row stands for, "" for none; rows that were wrapped are joined."""
    rows = document.rows(place.block)
    line = rows[place.row]
    if index < line.lead or index >= len(line.text):
        return ""
    text, at = _paragraph(document, place, index)
    found = next((match[0] for match in _ADDRESS.finditer(text) if match.start() <= at < _end(match)), "")
    if not found and _is_link(document, place, index):
        beside = _BESIDE.search(text, at)
        found = beside[1] if beside else ""
    address = _trimmed(found)
    return _whole(address, document.blocks[place.block].text) if address else ""


def _paragraph(document: Document, place: Place, index: int) -> tuple[str, int]:
    """Return the source line around a place, and where in it the character is."""
    rows = document.rows(place.block)
    first = place.row
    while first > 0 and rows[first].joint is not None:
        first -= 1
    text, at = "", 0
    for number in range(first, len(rows)):
        line = rows[number]
        if number > first:
            if line.joint is None:
                break
            text = text.rstrip() + line.joint
        if number == place.row:
            at = len(text) + index - line.lead
        text += line.text[line.lead :]
    return text, at


def _end(match: re.Match[str]) -> int:
    return match.start() + len(_trimmed(match[0]))


def _trimmed(address: str) -> str:
    """Take off what belongs to the sentence around an address."""
    while address and (address[-1] in _BEHIND or _is_unmatched(address)):
        address = address[:-1]
    return address if len(address) <= MAX_LENGTH else ""


def _is_unmatched(address: str) -> bool:
    opening = _PAIRS.get(address[-1])
    return opening is not None and address.count(opening) < address.count(address[-1])


def _whole(address: str, source: str) -> str:
    """Return the address as the source has it, where a narrow cell of a table shows a part of it only."""
    known = {_trimmed(match[0]) for match in _ADDRESS.finditer(source) if match[0].startswith(address)}
    return known.pop() if len(known) == 1 else address


def _is_link(document: Document, place: Place, index: int) -> bool:
    """Whether a character is painted as a link."""
    link = document.ink(document.blocks[place.block]).link
    for text, style in document.rows(place.block)[place.row].spans:
        if index < len(text):
            return bool(style.underline) and style.color == link.color
        index -= len(text)
    return False
