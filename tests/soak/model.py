"""The model of a soak: random answers, tools, children and faults, and a note of everything that it was told."""

import random
import re
import threading
from collections.abc import Callable
from typing import Any

from tests.soak.commands import COMMANDS
from tests.support.children import PROSE
from tests.support.model_steps import (
    AnyStep,
    Call,
    Calls,
    Cut,
    Finish,
    Headers,
    Ping,
    Raw,
    Reasoning,
    Stall,
    Status,
    StreamError,
    Text,
    Usage,
    Wait,
    call_tools,
    http_error,
    say,
)

_SENT, _SAID = re.compile(r"\bp\d{5}\b"), re.compile(r"\bs\d{5}\b")
"""What marks a prompt of the soak, and what is said to a running turn."""

_HASH = re.compile(r"hash: (\w{64})")
_MOST_ROUNDS = 4
Answer = list[AnyStep]


class RandomModel:
    """Answers by chance; `seed` decides what, but several requests at once may come in another order.

    answered: the mark of the answer that the last request of the main agent got, "" when it got none that ends a
    turn. requests: how many came.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._heard: set[str] = set()
        self._said: set[str] = set()
        self.answered = ""
        self.requests = 0
        self.faults = 0

    def __call__(self, request: dict[str, Any]) -> Answer:
        """Answer one request."""
        with self._lock:
            self.requests += 1
            messages = request["messages"]
            role = re.match(r"You are (\w+)", messages[0]["content"])
            offered = {tool["function"]["name"] for tool in request.get("tools") or ()}
            if role is None or role[1] not in ("Smith", "Tank"):
                return self._child(messages, offered)
            for message in messages:
                if message["role"] == "user":
                    self._heard.update(_SENT.findall(message["content"]))
                    self._said.update(_SAID.findall(message["content"]))
            self.answered = ""
            return self._main(messages, offered)

    def take_heard(self) -> set[str]:
        """Return, once, the marks of prompts that came in requests of the main agent."""
        with self._lock:
            heard, self._heard = self._heard, set()
            return heard

    def take_said(self) -> set[str]:
        """Return, once, the marks of what was said to a running turn, as far as they came in requests."""
        with self._lock:
            said, self._said = self._said, set()
            return said

    def _main(self, messages: list[dict[str, Any]], offered: set[str]) -> Answer:
        chance = self._random.random()
        if chance < 0.14:
            return self._fault()
        if chance < 0.5 and offered and _rounds(messages) < _MOST_ROUNDS:
            return self._tools(messages, offered)
        if chance < 0.6 and "dispatch" in offered and _rounds(messages) < 2:
            return self._dispatch()
        return self._text()

    def _text(self) -> Answer:
        rng = self._random
        self.answered = f"a{self.requests:05d}"
        size, rate = rng.choice((0, 4, 17)), rng.choice((0.0, 100.0, 400.0))
        length = rng.choice((1, 1, 1, 2, 8))
        if length > 2:
            size, rate = max(size, 17), rng.choice((0.0, 200.0))
        text = f"{PROSE}\n\n" * (length - 1) or "A short answer with **some** `code` in it.\n\n"
        thoughts: Answer = []
        if rng.random() < 0.3:
            thoughts = [Reasoning(text="I think about it. " * rng.randint(1, 40), size=9, rate=300)]
        return [*thoughts, *say(f"{text}That was answer {self.answered}.", size=size, rate=rate)]

    def _tools(self, messages: list[dict[str, Any]], offered: set[str]) -> Answer:
        rng = self._random
        made = [self._call(messages, offered) for _ in range(rng.choice((1, 1, 2, 3)))]
        calls = tuple(Call(name=name, arguments=arguments, split=rng.choice((0, 5))) for name, arguments in made)
        before: Answer = [Text(text="I look at it.\n")] if rng.random() < 0.5 else []
        step = Calls(
            calls=calls,
            order=rng.choice(("sequential", "interleaved")),
            ids=rng.choice(("first", "every", "missing", "empty", "same")),
        )
        return [*before, step, Finish(reason="tool_calls"), Usage()]

    def _call(self, messages: list[dict[str, Any]], offered: set[str]) -> tuple[str, Any]:
        rng = self._random
        known = _HASH.findall(str(messages[-6:]))
        path = rng.choice(("prices.py", "numbers.txt", "new.txt"))
        choices: list[tuple[str, Any]] = [
            ("bash", {"command": rng.choice(COMMANDS), "timeout": rng.choice((2, 20))}),
            ("bash", {"command": rng.choice(COMMANDS)}),
            ("read", {"path": path, "start_line": rng.randint(1, 50)}),
            ("write", {"path": "new.txt", "content": f"{rng.random()}\n" * rng.randint(0, 200)}),
            ("code_grep", {"pattern": rng.choice(("total", "line 1", "nowhere"))}),
            ("git", {"subcommand": rng.choice(("status", "diff", "log"))}),
            ("record", {"key": f"k{rng.randint(1, 9)}", "value": "x" * rng.randint(1, 500)}),
            ("recall", {"key": f"k{rng.randint(1, 9)}"}),
            ("no_such_tool", {"a": 1}),
            ("bash", '{"command": "echo cut'),
        ]
        if known:
            place = {"path": path, "operation": rng.choice(("replace", "insert", "delete")), "hash": known[-1]}
            choices += [("edit", {**place, "start_line": rng.randint(1, 5), "text": f"# {rng.random()}"})] * 4
        return rng.choice([choice for choice in choices if choice[0] in offered or choice[0] == "no_such_tool"])

    def _dispatch(self) -> Answer:
        rng = self._random
        jobs = [
            ("dispatch", {"role": rng.choice(("explorer", "worker")), "task": f"Look at part {number} of it."})
            for number in range(rng.choice((1, 2, 4)))
        ]
        return call_tools(*jobs, text="I hand that on.\n")

    def _child(self, messages: list[dict[str, Any]], offered: set[str]) -> Answer:
        rng = self._random
        wait: Answer = [Wait(seconds=rng.choice((0.0, 0.5, 3.0)))]
        if rng.random() < 0.1:
            return [*wait, *self._fault()]
        if _rounds(messages) < 2 and rng.random() < 0.6:
            return [*wait, *self._tools(messages, offered)]
        if "report" not in offered or rng.random() < 0.2:
            return [*wait, *say("I found nothing that is worth a report.")]
        done = {"status": rng.choice(("ok", "failed", "odd")), "summary": "It is prices.py.", "findings": ["a", "b"]}
        return [*wait, *call_tools(("report", {**done, "evidence": "prices.py:3", "changes": []}))]

    def _fault(self) -> Answer:
        self.faults += 1
        return self._random.choice(FAULTS)(self._random)


def _rounds(messages: list[dict[str, Any]]) -> int:
    """Return how many answers there are behind the last prompt."""
    count = 0
    for message in reversed(messages):
        if message["role"] == "user":
            break
        count += message["role"] == "assistant"
    return count


def _begun(*steps: AnyStep) -> Answer:
    return [Text(text="This answer does not ", size=5, rate=200), *steps]


FAULTS: tuple[Callable[[random.Random], Answer], ...] = (
    lambda rng: [http_error(429, "slow down", headers={"retry-after": str(rng.choice((0, 1, 3)))})],
    lambda rng: [http_error(429, "slow down", headers={"retry-after": "600"})],
    lambda rng: [http_error(rng.choice((500, 502, 503, 529)), "not now")],
    lambda rng: [http_error(401, "who are you?", echo_key=True)],
    lambda rng: [http_error(404, "no such model", "model_not_found")],
    lambda rng: [http_error(400, "maximum context length is 4096 tokens", "context_length_exceeded")],
    lambda rng: [Status(status=200, body="<html>a proxy says hello</html>", content_type="text/html")],
    lambda rng: [Stall()],
    lambda rng: [Headers(), Stall()],
    lambda rng: _begun(Stall()),
    lambda rng: _begun(Ping(count=30, every=0.1), Stall()),
    lambda rng: _begun(Cut(how=rng.choice(("fin", "rst", "half")))),
    lambda rng: [Cut(how=rng.choice(("fin", "rst")))],
    lambda rng: _begun(StreamError(error={"message": "overloaded", "type": "server_error"})),
    lambda rng: _begun(Raw(data="data: {not json\n\n"), Raw(data=rng.randbytes(300).hex()), Finish()),
    lambda rng: [Headers(), Raw(data="event: what\ndata: [1, 2\n\n"), Finish()],
    lambda rng: [Finish()],
    lambda rng: _begun(Finish(reason="length")),
    lambda rng: [Calls(calls=(Call(name="bash", arguments='{"command": "ec'),)), Cut()],
)
"""What can go wrong with an answer, each as a function of the chance."""
