"""One answer to one request: generate an action, object to it if it is no good, hand on the one that is."""

import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

import msgspec

from smith_core.embedded.facade.actions import (
    ANSWER,
    REPORT,
    ToolOffer,
    next_actions,
    offered_tools,
    wire_call,
)
from smith_core.embedded.facade.checks import Objection, honest_ending, objection_to, reason_to_stop
from smith_core.embedded.facade.edits import EDIT_ACTIONS, UnusableActionError
from smith_core.embedded.facade.prompt import build_messages
from smith_core.embedded.facade.reply import ReplyReader
from smith_core.embedded.facade.situation import Situation, Step, read_situation
from smith_core.embedded.facade.upstream import TokenCount, Upstream

_log = logging.getLogger(__name__)
MAX_ATTEMPTS = 4
MAX_REMEMBERED_CALLS = 500
_RETRY_TEMPERATURE = 0.5


class TextPart(msgspec.Struct, frozen=True):
    """More of the answer."""

    text: str


class CallPart(msgspec.Struct, frozen=True):
    """A call begins (`name` set), or its arguments are there (`arguments` set, JSON)."""

    name: str = ""
    arguments: str = ""


class EndPart(msgspec.Struct, frozen=True):
    """The answer is over."""

    reason: str


Part = TextPart | CallPart | EndPart


class Composer:
    """Answers requests with the help of the model behind `upstream`."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.written: OrderedDict[tuple[str, str], str] = OrderedDict()
        """What the model wrote for a call, the newest ones: its context is kept only where it stays the same."""

    async def compose(self, request: Mapping[str, Any], count: TokenCount) -> AsyncGenerator[Part, None]:
        """Yield the parts of the answer to a chat-completions request, EndPart last; UpstreamError without one."""
        situation = read_situation(request)
        tools = offered_tools(request)
        reason = reason_to_stop(situation)
        if not reason:
            attempts = _Attempts(situation, tools, self, count)
            async for part in attempts.run():
                yield part
            if attempts.is_done:
                return
            reason = attempts.objection.words if attempts.objection else "no usable reply came"
        for part in _give_up(situation, tools, reason):
            yield part

    def remember(self, tool: str, arguments: Mapping[str, Any], raw: str) -> None:
        """Keep what the model wrote for a call."""
        self.written[Step(tool=tool, arguments=arguments, result="", ok=True).call] = raw
        if len(self.written) > MAX_REMEMBERED_CALLS:
            self.written.popitem(last=False)


class _Attempts:
    """The generations for one answer; `is_done` says that one of them was handed on."""

    def __init__(
        self, situation: Situation, tools: Mapping[str, ToolOffer], composer: Composer, count: TokenCount
    ) -> None:
        self._situation = situation
        self._composer = composer
        self._tools = tools
        self._count = count
        self._messages = build_messages(situation, list(tools), composer.written)
        self.objection: Objection | None = None
        self.is_done = False

    async def run(self) -> AsyncIterator[Part]:
        """Yield the parts of the first reply that nothing speaks against."""
        for attempt in range(MAX_ATTEMPTS):
            only_end = self.objection is not None and self.objection.verdict == "repeated"
            may_end = self.objection is None or only_end
            actions = next_actions(self._situation, self._tools, only_end=only_end, may_end=may_end)
            reader = ReplyReader()
            begun = False
            temperature = _RETRY_TEMPERATURE if attempt > 1 else 0.0
            async for piece in self._composer.upstream.generate(
                self._messages, actions, self._count, temperature=temperature
            ):
                if text := reader.feed(piece):
                    yield TextPart(text)
                if not begun and self._may_begin(reader.tool):
                    begun = True
                    yield CallPart(name=reader.tool)
            _log.debug("reply: %s", reader.raw)
            for part in self._judge(reader, begun=begun):
                yield part
            if self.is_done:
                return

    def _may_begin(self, tool: str) -> bool:
        """Whether a call can be announced before its arguments are known, because nothing could speak against it."""
        if tool in ("", ANSWER, "write", *EDIT_ACTIONS):
            return False
        return tool == "read" or not self._situation.steps

    def _judge(self, reader: ReplyReader, *, begun: bool) -> list[Part]:
        """Return the parts that end the answer, or none when the reply is refused."""
        action = reader.action()
        if reader.tool == ANSWER:
            self.is_done = True
            return [EndPart("stop" if action else "length")]
        if action is None:
            self.objection = Objection("mistaken", "the reply was cut off")
            self.is_done = begun
            return [EndPart("length")] if begun else []
        try:
            tool, arguments = wire_call(action, self._situation)
            self.objection = None if begun else objection_to(tool, arguments, self._situation)
        except UnusableActionError as error:
            self.objection = Objection("mistaken", str(error))
        if self.objection is not None and self.objection.verdict == "unread":
            tool, arguments, self.objection = "read", {"path": arguments["path"]}, None
        if self.objection is not None and self.objection.verdict == "repeated":
            # It is asked for its end word only, without an argument that it would answer instead.
            return []
        if self.objection is not None:
            self._messages.append({"role": "assistant", "content": reader.raw})
            self._messages.append({"role": "user", "content": self.objection.words})
            return []
        self.is_done = True
        self._composer.remember(tool, arguments, reader.raw)
        call = CallPart(arguments=msgspec.json.encode(arguments).decode())
        return [call, EndPart("tool_calls")] if begun else [CallPart(name=tool), call, EndPart("tool_calls")]


def _give_up(situation: Situation, tools: Mapping[str, ToolOffer], reason: str) -> list[Part]:
    text = honest_ending(situation, reason)
    if REPORT in tools:
        arguments = msgspec.json.encode({"status": "blocked", "summary": text}).decode()
        return [CallPart(name=REPORT), CallPart(arguments=arguments), EndPart("tool_calls")]
    return [TextPart(text), EndPart("stop")]
