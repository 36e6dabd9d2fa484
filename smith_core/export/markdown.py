"""A conversation as markdown."""

import re
from collections.abc import Iterator

from smith_core.export.parts import (
    SPEAKERS,
    CallPart,
    ExportedConversation,
    bad_ends,
    facts_of,
    heading_of,
    outcome,
    pretty_arguments,
    result_text,
    shown,
    shown_messages,
)
from smith_core.messages import Message
from smith_core.patterns import later

_FENCE = later(r"^ {0,3}(`{3,})", re.MULTILINE)


def render_markdown(conversation: ExportedConversation) -> str:
    """Return a conversation as markdown: a heading for each message, calls and results in fences."""
    sections = [f"# {_one_line(heading_of(conversation))}", f"*{_one_line(facts_of(conversation))}*"]
    for message, calls in shown_messages(conversation):
        sections += _message(message, calls)
    return "\n\n".join(sections) + "\n"


def fenced(text: str, language: str = "") -> str:
    """Return text in a fence that nothing inside of it can end."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _message(message: Message, calls: tuple[CallPart, ...]) -> Iterator[str]:
    yield f"## {SPEAKERS.get(message.role, message.role)}"
    if message.reasoning:
        yield "\n".join(f"> {line}" for line in shown(message.reasoning).splitlines())
    if message.content.strip():
        yield shown(message.content).rstrip() + ("\n\n*(broken off here)*" if message.interrupted else "")
    for part in calls:
        yield f"**{_one_line(part.call.name)}** ({outcome(part)})"
        yield fenced(pretty_arguments(part.call.arguments), "json")
        yield fenced(result_text(part))
    for end in bad_ends(message, calls):
        yield f"*(the turn ended: {_one_line(end)})*"


def _one_line(text: str) -> str:
    return " ".join(shown(text).split())
