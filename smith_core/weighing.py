"""What messages weigh in the form in which they are sent, found out once for all requests of a turn.

Each request of a turn has the messages of the one before it and some more. So running totals are kept: what fits into a
window is then looked up, and only what is new is looked at.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import msgspec

from smith_core.messages import Message
from smith_core.patterns import later
from smith_core.tokens import text_quarters

_PLACEHOLDER = later(r"\[elided \d+ chars of tool output(?:; retrieve with recall\(key=\"[^\n]{1,300}\"\))?\]")


class SentForm(msgspec.Struct, frozen=True, kw_only=True):
    """In which form messages are sent: which tool results stay whole, and whether reasoning goes along."""

    keep_rounds: int
    elide_over_chars: int
    counts_reasoning: bool


class Weights:
    """Messages as they are sent and running totals of what they take, in quarters of a token.

    first: the position from which on they are known; with what is before it they would take more than there is room.
    sent: the messages from there on. totals: what those before each position take together, without the first system
    message, which has its place by itself. system: its position.
    """

    def __init__(self) -> None:
        self._given: tuple[Message, ...] = ()
        self._form: SentForm | None = None
        self._verbatim_from = 0
        self._sizes: list[int] = []
        self._elided_at: list[int] = []
        self._users: list[int] = []
        self.first = 0
        self.sent: list[Message] = []
        self.totals: list[int] = []
        self.system: int | None = None

    def weigh(self, messages: Sequence[Message], form: SentForm, most: int) -> None:
        """Take the messages of a request; `most` is all the room that there is."""
        given = tuple(messages)
        if form != self._form or given[: len(self._given)] != self._given:
            self._weigh_anew(given, form, most)
        else:
            self._go_on(given)
            if self.first and self.totals[-1] <= most:
                # What was elided has made room; as much again is looked at, so that this does not come about soon.
                self._weigh_anew(given, form, 2 * most)

    def size(self, index: int) -> int:
        """Return what one message takes."""
        if index < self.first or index == self.system:
            return message_quarters(self.sent_form(index), self._rule.counts_reasoning)
        return self._sizes[index - self.first]

    def sent_form(self, index: int) -> Message:
        """Return one message as it is sent."""
        if index >= self.first:
            return self.sent[index - self.first]
        return self._formed(index, self._given[index])

    def last_user(self, stop: int) -> int | None:
        """Return the position of the last message before another that is the person's, or None."""
        if place := bisect_left(self._users, stop):
            return self._users[place - 1]
        before = range(min(self.first, stop) - 1, -1, -1)
        return next((index for index in before if self._given[index].role == "user"), None)

    def next_user(self, start: int, stop: int) -> int:
        """Return the position of the first message between two known ones that is the person's, or the second one."""
        place = bisect_left(self._users, start)
        return self._users[place] if place < len(self._users) and self._users[place] < stop else stop

    def earliest_within(self, start: int, stop: int, room: int) -> int:
        """Return the earliest known position from `start` on from which all up to `stop` fits into the room."""
        limit = self.totals[stop - self.first] - room
        return bisect_left(self.totals, limit, max(0, start - self.first), stop - self.first) + self.first

    def total(self, start: int, stop: int) -> int:
        """Return what the messages between two known positions take."""
        return self.totals[stop - self.first] - self.totals[start - self.first]

    def between(self, start: int, stop: int) -> list[Message]:
        """Return the messages between two known positions as they are sent, without the system message."""
        begin, end = start - self.first, stop - self.first
        if self.system is None or not start <= self.system < stop:
            return self.sent[begin:end]
        middle = self.system - self.first
        return self.sent[begin:middle] + self.sent[middle + 1 : end]

    def elided(self, start: int, stop: int) -> int:
        """Return how many messages between two positions are placeholders."""
        return bisect_left(self._elided_at, stop) - bisect_left(self._elided_at, start)

    @property
    def _rule(self) -> SentForm:
        assert self._form is not None
        return self._form

    def _weigh_anew(self, given: tuple[Message, ...], form: SentForm, most: int) -> None:
        self._given, self._form = given, form
        self._verbatim_from = _verbatim_from(given, form.keep_rounds)
        self.system = next((index for index, message in enumerate(given) if message.role == "system"), None)
        system, verbatim_from = self.system, self._verbatim_from
        sent, sizes, users, elided_at = [], [], [], []
        total, self.first = 0, 0
        for index in range(len(given) - 1, -1, -1):
            message = given[index]
            role = message.role
            if role == "user":
                users.append(index)
            elif role == "tool" and index < verbatim_from and len(message.content) > form.elide_over_chars:
                message = _elided(message, form.elide_over_chars)
                if message is not given[index]:
                    elided_at.append(index)
            size = 0 if index == system else message_quarters(message, form.counts_reasoning)
            sent.append(message)
            sizes.append(size)
            total += size
            if total > most:
                self.first = index
                break
        self.sent, self._sizes, self._users, self._elided_at = sent[::-1], sizes[::-1], users[::-1], elided_at[::-1]
        self.totals = list(accumulate(self._sizes, initial=0))

    def _go_on(self, given: tuple[Message, ...]) -> None:
        """Elide what has left the newest rounds, and add what is new."""
        known, begin = len(self._given), max(self._verbatim_from, self.first)
        self._given = given
        self._verbatim_from = _verbatim_from(given, self._rule.keep_rounds)
        for index in range(begin, min(known, self._verbatim_from)):
            self._set(index, self._formed(index, given[index]))
        for index in range(known, len(given)):
            message = given[index]
            if message.role == "user":
                self._users.append(index)
            elif message.role == "system" and self.system is None:
                self.system = index
            self.sent.append(message)
            self._sizes.append(0)
            self._set(index, self._formed(index, message))
        begin = min(begin, known) - self.first
        self.totals[begin:] = accumulate(self._sizes[begin:], initial=self.totals[begin])

    def _set(self, index: int, message: Message) -> None:
        place = index - self.first
        if message is not self._given[index]:
            self._elided_at.append(index)
        elif self.sent[place] is message and self._sizes[place]:
            return
        self.sent[place] = message
        self._sizes[place] = 0 if index == self.system else message_quarters(message, self._rule.counts_reasoning)

    def _formed(self, index: int, message: Message) -> Message:
        if index >= self._verbatim_from or message.role != "tool":
            return message
        return _elided(message, self._rule.elide_over_chars)


def message_quarters(message: Message, counts_reasoning: bool = False) -> int:
    """Estimate what of a message is sent to the model, in quarters of a token."""
    quarters = text_quarters(message.content)
    if message.tool_calls:
        for call in message.tool_calls:
            quarters += len(call.name) + text_quarters(call.arguments)
        if counts_reasoning:
            quarters += text_quarters(message.reasoning)
    return quarters


def _verbatim_from(messages: Sequence[Message], keep_rounds: int) -> int:
    """Return the position from which on tool results are kept as they are."""
    left = keep_rounds
    for index in range(len(messages) - 1, -1, -1):
        if left <= 0:
            return index + 1
        left -= bool(messages[index].tool_calls)
    return 0


def _elided(message: Message, over_chars: int) -> Message:
    content = message.content
    if len(content) <= over_chars or _PLACEHOLDER.fullmatch(content):
        return message
    placeholder = _placeholder(message)
    return msgspec.structs.replace(message, content=placeholder) if len(placeholder) < len(content) else message


def _placeholder(message: Message) -> str:
    size = f"elided {len(message.content)} chars of tool output"
    if message.recall_key:
        return f'[{size}; retrieve with recall(key="{message.recall_key}")]'
    return f"[{size}]"
