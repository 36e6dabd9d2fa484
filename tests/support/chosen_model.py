"""A model whose rounds are chosen from outside: texts, calls, children and failures, and some that wait."""

import asyncio
import re

from smith_core.errors import AgentError
from smith_core.llm.protocol import Completion, ModelRequest, StreamDone, StreamReasoning, StreamText
from smith_core.llm.wire import MessageEncoder, request_body
from smith_core.messages import ToolCall
from tests.support.cast import role_of
from tests.support.scripted_client import Answer, calls
from tests.support.strict_requests import message_violations

LIMITED = AgentError(kind="transport", code="rate_limited", message="429: slow down", retryable=True)
REFUSED = AgentError(kind="transport", code="unauthorized", message="401: no")
REPORT = calls(("report", {"status": "ok", "summary": "found", "findings": ["x"], "evidence": ["a:1"]}))
DISPATCH = calls(("dispatch", {"role": "explorer", "task": "look"}), ("dispatch", {"role": "worker", "task": "do"}))
SAME_IDS = Completion(tool_calls=(ToolCall("c1", "read", '{"path": "a"}'), ToolCall("c1", "read", "{bad")))
ROUNDS: dict[str, Answer] = {
    "command": calls(("bash", {"command": "echo out; exit 3"}), text="I run it"),
    "long command": calls(("bash", {"command": "sleep 60"}), ("write", {"path": "a", "content": "x"})),
    "unknown tool": calls(("nothing", {}), ("read", {"path": "a"})),
    "one id twice": SAME_IDS,
    "children": DISPATCH,
    "rate limit": LIMITED,
    "refused": REFUSED,
    "nothing": Completion(text="", finish_reason="stop"),
    "held children": DISPATCH,
    "broken off": [StreamText(text="half of "), AgentError(kind="transport", code="cut", message="cut")],
}
HELD = {"held", "held children", "long command"}


def marks(text: str) -> list[str]:
    """Return the marks in a text: of prompts, and of what was said to a turn."""
    return re.findall(r"(?:prompt|said) \d+", text)


class ChosenModel:
    """Plays the chosen rounds, then answers; `refused` is what a strict endpoint would not take.

    holds: set with a round that holds a turn up.
    """

    def __init__(self) -> None:
        self.rounds: list[str] = []
        self.gate, self.holds = asyncio.Event(), asyncio.Event()
        self.refused: list[str] = []
        self.heard: set[str] = set()
        self.answers = self.prompts = 0
        self.holds_children = False

    def __call__(self, request: ModelRequest) -> Answer:
        """Answer one request."""
        messages = request_body(MessageEncoder().encode(request))["messages"]
        self.refused += message_violations(messages)
        if role_of(request) != "direct":
            answer = REPORT if self.prompts % 2 else Completion(text="no report at all", finish_reason="stop")
            return [self.gate, StreamDone(completion=answer)] if self.holds_children else answer
        self.heard = {mark for message in messages if message["role"] == "user" for mark in marks(message["content"])}
        chosen = self.rounds.pop(0) if self.rounds else ""
        self.holds_children = chosen == "held children"
        if chosen in HELD:
            self.holds.set()
        if chosen == "held":
            return [StreamReasoning(text="hm"), StreamText(text="so far"), self.gate, self._done()]
        return ROUNDS[chosen] if chosen else self._done().completion

    def _done(self) -> StreamDone:
        self.answers += 1
        return StreamDone(completion=Completion(text=f"answer {self.answers}", finish_reason="stop"))
