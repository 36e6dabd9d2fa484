"""The body of a streamed answer: server-sent events, or what came in their place.

Event format: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

import json
from typing import Any, Literal

import msgspec

BodyKind = Literal["events", "document", "unknown"]
DONE = b"[DONE]"
MAX_PENDING_BYTES = 16 * 1024 * 1024
"""Longest event or document that is collected; more than that is no answer."""

_EVENT_STARTS = (b"data:", b"event:", b"id:", b"retry:", b"error:", b":")
_LONGEST_START = max(map(len, _EVENT_STARTS))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TooLongError(Exception):
    """An event or a document is longer than MAX_PENDING_BYTES."""


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """One event: its name, empty for the usual ones, and its data."""

    name: str
    data: bytes


class BodyReader:
    """Takes the bytes of a body in any pieces and returns the events in them.

    kind: events as soon as the body begins like an event stream, document when it begins like something else;
    a document is collected and can be had from `document`.
    """

    def __init__(self) -> None:
        self.kind: BodyKind = "unknown"
        self._pending = b""
        self._name = ""
        self._data: list[bytes] = []
        self._data_size = 0

    @property
    def document(self) -> bytes:
        """The body as it came, when it is no event stream."""
        return self._pending

    def feed(self, data: bytes) -> list[SseEvent]:
        """Take more bytes and return the events that they complete; TooLongError when one does not end."""
        self._pending += data
        if self.kind == "unknown":
            self._recognize()
        events = self._take_events() if self.kind == "events" else []
        if len(self._pending) + self._data_size > MAX_PENDING_BYTES:
            raise TooLongError
        return events

    def finish(self) -> list[SseEvent]:
        """Return the last event of a body that ended without the blank line behind it."""
        if self.kind != "events":
            self.kind = "document"
            return []
        self._pending += b"\n\n"
        return self._take_events()

    def _recognize(self) -> None:
        if _BYTE_ORDER_MARK.startswith(self._pending):
            return
        start = self._pending.removeprefix(_BYTE_ORDER_MARK).lstrip()
        if start.startswith(_EVENT_STARTS):
            self.kind, self._pending = "events", start
        elif start and not any(prefix.startswith(start[:_LONGEST_START]) for prefix in _EVENT_STARTS):
            self.kind = "document"

    def _take_events(self) -> list[SseEvent]:
        text = self._pending
        if b"\r" in text:
            # A carriage return at the end may be the first half of a line end.
            held = text[-1:] if text.endswith(b"\r") else b""
            text = text.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *lines, self._pending = text.split(b"\n")
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
                self._data_size += len(line)
            elif not line:
                if self._data:
                    events.append(SseEvent(self._name, b"\n".join(self._data)))
                self._name, self._data, self._data_size = "", [], 0
            elif line.startswith(b"event:"):
                self._name = line[6:].strip().decode("utf-8", "replace")
            elif line.startswith(b"error:"):
                # llama.cpp reports errors inside a stream in a field of this name.
                events.append(SseEvent("error", line[6:].strip()))
        return events


def decode_json(data: bytes) -> Any:
    """Return the decoded JSON of an event; ValueError when it is none.

    Lone surrogates, which cut pairs are made of, and broken UTF-8 are let through for the assembler to mend.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError):
        return json.loads(data.decode("utf-8", "replace"))
