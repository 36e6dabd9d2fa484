"""What can be copied or opened by key: messages, the code blocks and the addresses in them, the newest first. Pure."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from smith_core.messages import Message, typed_text
from smith_tui.transcript.addresses import addresses_in

MOST_MESSAGES = 60
"""Messages that are offered."""
MOST_LINKS = 60
_LOOKED_THROUGH = 1_000
"""Messages in which addresses are looked for."""
_MAX_PARSED = 500_000
"""Characters of a message in which code blocks are looked for."""

Kind = Literal["answer", "prompt", "code", "link"]


class Copyable(NamedTuple):
    """A text that can be copied; language: of a code block, as its fence names it."""

    kind: Kind
    text: str
    language: str = ""

    @property
    def title(self) -> str:
        """What it is, in one or two words."""
        return f"code {self.language}".rstrip() if self.kind == "code" else self.kind

    @property
    def first_line(self) -> str:
        """The line by which a person knows it again, and how many there are."""
        lines = self.text.strip().splitlines() or [""]
        return lines[0][:300] + (f"  ({len(lines):,} lines)" if len(lines) > 1 else "")


def copyables(messages: Sequence[Message]) -> Iterator[Copyable]:
    """Yield what can be copied: each answer before the code blocks in it, the last block first."""
    said = (message for message in reversed(messages) if message.role in ("user", "assistant") and message.content)
    for _, message in zip(range(MOST_MESSAGES), said, strict=False):
        if message.role == "user":
            yield Copyable("prompt", typed_text(message))
        else:
            yield Copyable("answer", message.content)
            yield from reversed(code_blocks(message.content))


def links(messages: Sequence[Message]) -> list[Copyable]:
    """Return the addresses of the web in what was said and what tools gave, each once, the newest first."""
    texts = (message.content[-_MAX_PARSED:] for message in reversed(messages[-_LOOKED_THROUGH:]))
    found = (address for text in texts if "://" in text for address in reversed(list(addresses_in(text))))
    return [Copyable("link", address) for address in islice(dict.fromkeys(found), MOST_LINKS)]


def last_of(kind: Kind, messages: Sequence[Message]) -> str:
    """Return the newest text of a kind, "" when there is none."""
    return next((found.text for found in copyables(messages) if found.kind == kind), "")


def code_blocks(text: str) -> list[Copyable]:
    """Return the code blocks of a markdown text, from the top down."""
    from markdown_it import MarkdownIt

    if "```" not in text and "~~~" not in text and "    " not in text:
        return []
    return [
        Copyable("code", token.content.removesuffix("\n"), token.info.split(" ")[0])
        for token in MarkdownIt("commonmark").parse(text[:_MAX_PARSED])
        if token.type in ("fence", "code_block") and token.content.strip()
    ]
