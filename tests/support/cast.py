"""Scripted answers for several agents at once: each request is answered by the part of the role that it comes from."""

import re
from collections.abc import Callable, Sequence

from smith_core.llm.protocol import ModelRequest
from smith_core.messages import Message
from smith_core.roles import ROLES
from tests.support.scripted_client import Answer

Part = Answer | Callable[[ModelRequest], Answer]
_ALIASES = {role.alias: role.name for role in ROLES.values()}


def role_of(request: ModelRequest) -> str:
    """Return the role that a request comes from, by its system prompt."""
    found = re.match(r"You are (\w+)", request.messages[0].content)
    assert found, request.messages[0].content[:80]
    return _ALIASES[found[1]]


def cast(**parts: Sequence[Part]) -> Callable[[ModelRequest], Answer]:
    """Return a script: the answers of each role, one for each round of a conversation; the last one is repeated."""

    def answer(request: ModelRequest) -> Answer:
        said = sum(message.role == "assistant" for message in request.messages)
        part = parts[role_of(request)]
        chosen = part[min(said, len(part) - 1)]
        return chosen(request) if callable(chosen) else chosen

    return answer


def task_of(request: ModelRequest) -> str:
    """Return the first line of what a child was told to do."""
    return request.messages[1].content.splitlines()[0]


def results_of(messages: Sequence[Message]) -> list[Message]:
    """Return the tool messages."""
    return [message for message in messages if message.role == "tool"]
