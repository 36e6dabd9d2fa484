"""Requests that begin like an earlier one: only what is new goes to the host, which puts the whole together.

App and host keep the messages of the last request of some conversations and forget them by the same rule, so that both
always have the same. A host that was started anew has none, and then all of them go.
"""

import itertools
from collections.abc import Iterable
from operator import itemgetter

from smith_core.llm.protocol import ModelRequest
from smith_core.llm.wire import MessageEncoder, WireRequest, sends_reasoning, wire_request
from smith_core.messages import Message

MOST_CONVERSATIONS = 8
MOST_BYTES = 32 * 1024 * 1024
"""Most conversations that are kept, and most bytes of them together: a parent and its children take turns."""

_FIRST_STEP_BACK = 32


class GrowingRequests:
    """The app's side, for one host."""

    def __init__(self) -> None:
        self._conversations: dict[int, _Sent] = {}
        self._numbers = itertools.count(1)

    def encode(self, request: ModelRequest, encoder: MessageEncoder) -> tuple[WireRequest, int, int]:
        """Return a request with its new messages, the number of its conversation, and how many bytes of it come first.

        The bytes are the first ones of the messages of the last request of this conversation.
        """
        number, same = self._longest_known(request)
        sent = self._conversations.pop(number, None) or _Sent()
        kept = sent.cut(same)
        new = encoder.entries(request.messages[same:], request.model)
        sent.add(request, new)
        self._conversations[number] = sent
        for number_to_go in _to_forget({number: sent.size for number, sent in self._conversations.items()}):
            del self._conversations[number_to_go]
        data = b"%b%b]" % (b"," if same and new else b"" if same else b"[", b",".join(map(itemgetter(1), new)))
        return wire_request(request, data, sent.chars[-1] if sent.chars else 0), number, kept

    def _longest_known(self, request: ModelRequest) -> tuple[int, int]:
        """Return the number of the conversation that a request continues, and how many of its messages are the same."""
        has_reasoning = sends_reasoning(request.model)
        for number, sent in self._conversations.items():
            if sent.has_reasoning == has_reasoning:
                same = _same_at_the_beginning(sent.messages, request.messages)
                if 2 * same > len(sent.messages):
                    return number, same
        return next(self._numbers), 0


class _Sent:
    """What was sent of one conversation: its messages, and where each ends, in bytes and in characters."""

    def __init__(self) -> None:
        self.messages: tuple[Message, ...] = ()
        self.has_reasoning = False
        self.ends: list[int] = []
        self.chars: list[int] = []

    @property
    def size(self) -> int:
        return self.ends[-1] if self.ends else 0

    def cut(self, count: int) -> int:
        """Forget all but the first messages and return how many bytes these take."""
        del self.ends[count:], self.chars[count:]
        return self.size

    def add(self, request: ModelRequest, entries: Iterable[tuple[Message, bytes, int]]) -> None:
        end, chars = self.size, self.chars[-1] if self.chars else 0
        for _, data, length in entries:
            # A bracket or a comma stands before each.
            end += 1 + len(data)
            chars += length
            self.ends.append(end)
            self.chars.append(chars)
        self.messages, self.has_reasoning = request.messages, sends_reasoning(request.model)


class KnownRequests:
    """The host's side, for one app."""

    def __init__(self) -> None:
        self._conversations: dict[int, bytes] = {}

    def whole(self, number: int, kept: int, new: bytes) -> bytes:
        """Return the messages of a request from what is kept and what is new; KeyError when that is not here."""
        known = self._conversations.pop(number, b"")
        if len(known) < kept:
            raise KeyError(number)
        whole = self._conversations[number] = b"".join((memoryview(known)[:kept], new))
        # The bracket at the end does not count, as it does not stay.
        sizes = {number: len(messages) - 1 for number, messages in self._conversations.items()}
        for number_to_go in _to_forget(sizes):
            del self._conversations[number_to_go]
        return whole


def _to_forget(sizes: dict[int, int]) -> list[int]:
    """Return which conversations are not kept any longer: those that were not used for longest."""
    left, total = len(sizes), sum(sizes.values())
    numbers = []
    for number, size in sizes.items():
        if left <= MOST_CONVERSATIONS and total <= MOST_BYTES:
            break
        numbers.append(number)
        left -= 1
        total -= size
    return numbers


def _same_at_the_beginning(known: tuple[Message, ...], messages: tuple[Message, ...]) -> int:
    """Return about how many messages two requests have in common at their beginning, never too many.

    What differs mostly stands near the end: new messages, and results that were elided when they had become old.
    """
    same, step = min(len(known), len(messages)), _FIRST_STEP_BACK
    if known[:1] != messages[:1]:
        return 0
    while same > 0 and known[:same] != messages[:same]:
        same, step = max(0, same - step), 2 * step
    return same
