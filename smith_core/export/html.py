"""A conversation as one HTML page that needs nothing beside itself: no script, no font, no address to fetch."""

from collections.abc import Iterator
from functools import cache
from html import escape
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


_STYLE = """\
:root { color-scheme: light dark; --line: #8886; --dim: #777; --user: #0a7d32; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --dim: #aaa; --user: #59d98a; --bad: #ff8a80; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
article { border-top: 1px solid var(--line); padding: .5rem 0; }
h2 { font-size: 1rem; margin: .5rem 0; }
.user h2 { color: var(--user); }
.facts, .reasoning, .cut { color: var(--dim); }
.reasoning { border-left: 3px solid var(--line); padding-left: .8rem; white-space: pre-wrap; }
pre, code { font-family: ui-monospace, monospace; font-size: .875rem; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 4px; padding: .6rem; }
details { margin: .4rem 0; }
summary { cursor: pointer; }
.failed, .cancelled, .unanswered { color: var(--bad); }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .2rem .5rem; }
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render_html(conversation: ExportedConversation) -> str:
    """Return a conversation as a page; everything that was said is text in it, and no markup of its own acts."""
    title = escape(shown(heading_of(conversation)))
    body = "\n".join(_article(message, calls) for message, calls in shown_messages(conversation))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        f'<h1>{title}</h1>\n<p class="facts">{escape(shown(facts_of(conversation)))}</p>\n{body}\n</body>\n</html>\n'
    )


def _article(message: Message, calls: tuple[CallPart, ...]) -> str:
    return f'<article class="{escape(message.role)}">\n{"".join(_parts(message, calls))}</article>'


def _parts(message: Message, calls: tuple[CallPart, ...]) -> Iterator[str]:
    yield f"<h2>{escape(SPEAKERS.get(message.role, message.role))}</h2>\n"
    if message.reasoning:
        yield f'<div class="reasoning">{escape(shown(message.reasoning))}</div>\n'
    if message.content.strip():
        # What a person typed is shown as it was typed; answers are markdown.
        text = shown(message.content)
        yield _markdown().render(text) if message.role == "assistant" else _preformatted(text)
    if message.interrupted:
        yield '<p class="cut">(broken off here)</p>\n'
    for part in calls:
        state = outcome(part)
        yield (
            f"<details>\n<summary><strong>{escape(shown(part.call.name))}</strong> "
            f'<span class="{state}">{state}</span></summary>\n'
            f"{_preformatted(pretty_arguments(part.call.arguments))}{_preformatted(result_text(part))}</details>\n"
        )
    for end in bad_ends(message, calls):
        yield f'<p class="cut">(the turn ended: {escape(end)})</p>\n'


def _preformatted(text: str) -> str:
    return f"<pre>{escape(text)}</pre>\n"


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # The parser refuses javascript: and data: addresses itself; HTML in an answer stays text.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
