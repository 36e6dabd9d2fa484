"""Fits a conversation into the model's window: old tool output is elided, then the oldest rounds are dropped.

Pure functions on sequences of messages; what is stored is never touched. Held in every result: the first system
message and the most recent user message are there, and a tool call is never without all its results.

A turn is a user message with the rounds behind it; a round is one assistant message with the results of its calls.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from smith_core.messages import Message
from smith_core.tokens import QUARTERS_PER_TOKEN, whole_tokens
from smith_core.weighing import SentForm, Weights, message_quarters
from smith_core.window_cut import cut_to_size

_MOST_FOR_TOOLS = 0.5
"""The share of the limit that tool definitions may take away."""


class WindowLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The policy of one call; `context_window` in tokens, most other fields as in `context_management`.

    tool_tokens: what the tool definitions take. most_tokens: what messages may take at most after a refusal.
    counts_reasoning: whether the reasoning before tool calls is sent too.
    """

    context_window: int
    enabled: bool = True
    keep_rounds: int = 7
    elide_over_chars: int = 1024
    trim_threshold_pct: float = 80.0
    tool_tokens: int = 0
    most_tokens: int | None = None
    counts_reasoning: bool = False

    @property
    def token_limit(self) -> int:
        """Tokens that the messages may take.

        Tool definitions share the rest of the window with the answer and take from the messages what they need beyond
        that; but a window that they would fill alone cannot be planned with, and then they do not count.
        """
        limit = int(self.context_window * self.trim_threshold_pct / 100)
        if self.tool_tokens < limit:
            too_many = self.tool_tokens - (self.context_window - limit)
            limit -= min(max(0, too_many), int(limit * _MOST_FOR_TOOLS))
        return limit if self.most_tokens is None else min(limit, self.most_tokens)


class FittedWindow(msgspec.Struct, frozen=True, kw_only=True):
    """What goes to the model; `fits` is False when even the parts that must stay are too large.

    tokens: the estimate of `messages`. elided: how many of them are placeholders. dropped: how many were left out.
    """

    messages: tuple[Message, ...]
    tokens: int
    fits: bool
    elided: int = 0
    dropped: int = 0


def fit(messages: Sequence[Message], limits: WindowLimits, weights: Weights | None = None) -> FittedWindow:
    """Apply both layers of the policy, or none when it is disabled.

    weights: what earlier calls of the same turn have found out; only what is new is weighed then.

    The newest round is shortened rather than dropped, or the model would do it again. Of the turn before, the newest
    rounds stay with its prompt when it does not fit whole. Messages farther back than that are not even looked at.
    """
    if not limits.enabled:
        return FittedWindow(messages=tuple(messages), tokens=estimate_tokens(messages, limits), fits=True)
    fitting = _Fitting(messages, limits, weights or Weights())
    prompt = fitting.weights.last_user(len(messages))
    head, pinned = fitting.pin(fitting.weights.system), fitting.pin(prompt)
    fits = fitting.room >= 0
    turn: list[Message] = []
    earlier: list[Message] = []
    if fits:
        end = -1 if prompt is None else prompt
        turn, is_whole = fitting.newest(end + 1, len(messages), "round")
        if not turn and not is_whole:
            turn = fitting.newest_round_cut(end + 1, len(messages))
            fits = bool(turn)
        if is_whole and end > 0:
            earlier = fitting.earlier_turns(end)
    copy = (*head, *earlier, *pinned, *turn)
    return FittedWindow(
        messages=copy,
        tokens=whole_tokens(fitting.used),
        fits=fits,
        elided=fitting.elided,
        dropped=len(messages) - len(copy),
    )


def without_stranded(messages: Sequence[Message], limits: WindowLimits) -> tuple[Message, ...]:
    """Leave out prompts that never got an answer where they would take more than half of the room of the next one.

    Prompts that follow each other go to the model as one, which must stay: one that was refused as too long, or the
    same one sent again and again to an endpoint that was down, would otherwise have every later prompt refused.
    """
    if not limits.enabled:
        return tuple(messages)
    kept: list[Message] = []
    half = limits.token_limit * QUARTERS_PER_TOKEN // 2
    room = 0
    following = ""
    for message in reversed(messages):
        if message.role == "user" == following:
            room -= message_quarters(message)
            if room < 0:
                continue
        else:
            room = half
        following = message.role
        kept.append(message)
    return tuple(reversed(kept))


def estimate_tokens(messages: Sequence[Message], limits: WindowLimits | None = None) -> int:
    """Estimate the tokens of messages."""
    counts_reasoning = limits is not None and limits.counts_reasoning
    return whole_tokens(sum(message_quarters(message, counts_reasoning) for message in messages))


def message_chars(message: Message) -> int:
    """Return the characters of a message that are sent to the model."""
    return len(message.content) + sum(len(call.name) + len(call.arguments) for call in message.tool_calls)


class _Fitting:
    """The working state of one call of `fit`; `room` and `used` are quarters of a token."""

    def __init__(self, messages: Sequence[Message], limits: WindowLimits, weights: Weights) -> None:
        self.messages = messages
        self.weights = weights
        self.limits = limits
        self.room = limits.token_limit * QUARTERS_PER_TOKEN
        self.used = 0
        self.elided = 0
        form = SentForm(
            keep_rounds=limits.keep_rounds,
            elide_over_chars=limits.elide_over_chars,
            counts_reasoning=limits.counts_reasoning,
        )
        weights.weigh(messages, form, self.room)

    def pin(self, index: int | None) -> tuple[Message, ...]:
        """Take the message that must stay, if there is one."""
        if index is None:
            return ()
        self._take(self.weights.size(index))
        return (self.messages[index],)

    def newest(self, start: int, stop: int, unit: Literal["round", "turn"]) -> tuple[list[Message], bool]:
        """Take the newest whole rounds or turns between two positions that fit, and say whether these are all."""
        begin = self.weights.earliest_within(start, stop, self.room)
        is_whole = begin <= start
        if not is_whole:
            begin = self._next_round(begin, stop) if unit == "round" else self.weights.next_user(begin, stop)
        self._take(self.weights.total(begin, stop))
        self.elided += self.weights.elided(begin, stop)
        return self.weights.between(begin, stop), is_whole

    def _next_round(self, start: int, stop: int) -> int:
        """Return the first position between two at which a round begins, or the second one."""
        while start < stop and (self.messages[start].role == "tool" or start == self.weights.system):
            start += 1
        return start

    def newest_round_cut(self, start: int, stop: int) -> list[Message]:
        """Take the newest round between two positions in a form that fits; an empty list when there is none."""
        begin = next(
            index for index in range(stop - 1, -1, -1) if index == start or self.messages[index].role != "tool"
        )
        rounds = [self.weights.sent_form(index) for index in range(begin, stop) if index != self.weights.system]
        cut = cut_to_size(rounds, self.room, self._size)
        if cut is None:
            return []
        self._take(sum(map(self._size, cut)))
        return list(cut)

    def earlier_turns(self, stop: int) -> list[Message]:
        """Take the newest turns before a position; when not even one fits, its prompt and newest rounds."""
        turns, is_whole = self.newest(0, stop, "turn")
        if turns or is_whole:
            return turns
        begin = self.weights.last_user(stop)
        prompt = () if begin is None else self.messages[begin : begin + 1]
        size = sum(map(self._size, prompt))
        self.room -= size
        after = 0 if begin is None else begin + 1
        rounds, _ = self.newest(after, stop, "round")
        if not rounds and self.messages[stop - 1].role == "tool":
            # The person spoke in the middle of a turn: this is what the model has just done.
            rounds = self.newest_round_cut(after, stop)
        self.room += size
        if not rounds:
            return []
        self._take(size)
        return [*prompt, *rounds]

    def _take(self, size: int) -> None:
        self.used += size
        self.room -= size

    def _size(self, message: Message) -> int:
        return message_quarters(message, self.limits.counts_reasoning)
