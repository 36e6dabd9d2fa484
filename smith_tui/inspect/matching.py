"""Which messages a filter keeps: by who said it, by tool, and by words. Pure."""

from collections.abc import Sequence

from smith_core.messages import Message
from smith_tui.inspect.table import Entry

FILTERS = "role:you role:agent role:tool  tool:bash  and words that stand in the message"
_ROLES = {"you": "user", "agent": "assistant"}


def keep_matching(entries: Sequence[Entry], query: str) -> list[Entry]:
    """Return the entries that meet every part of a query, in any case; a part that is not finished keeps all."""
    roles: list[str] = []
    tools: list[str] = []
    words: list[str] = []
    for part in query.casefold().split():
        name, colon, value = part.partition(":")
        if not colon or name not in ("role", "tool"):
            words.append(part)
        elif value and name == "role":
            roles.append(_ROLES.get(value, value))
        elif value:
            tools.append(value)
    return [entry for entry in entries if _matches(entry.message, roles, tools, words)]


def _matches(message: Message, roles: list[str], tools: list[str], words: list[str]) -> bool:
    if not all(message.role.startswith(role) for role in roles):
        return False
    if tools:
        names = [message.name.casefold(), *(call.name.casefold() for call in message.tool_calls)]
        if not all(any(name and name.startswith(tool) for name in names) for tool in tools):
            return False
    if not words:
        return True
    calls = [f"{call.name} {call.arguments}" for call in message.tool_calls]
    text = "\n".join((message.content, message.reasoning, message.name, *calls)).casefold()
    return all(word in text for word in words)
