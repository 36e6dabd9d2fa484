"""What an export holds, and the forms that it can take."""

from collections.abc import Callable
from typing import Literal

import msgspec

from smith_core.export.markdown import render_markdown
from smith_core.export.parts import ExportedConversation

ExportForm = Literal["markdown", "html", "json"]

EXTENSIONS: dict[ExportForm, str] = {"markdown": "md", "html": "html", "json": "json"}
JSON_VERSION = 1


def render_json(conversation: ExportedConversation) -> str:
    """Return a conversation as one JSON object with every field of every message."""
    document = {"version": JSON_VERSION, **msgspec.to_builtins(conversation)}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _render_html(conversation: ExportedConversation) -> str:
    # Python's names of characters take half a megabyte.
    from smith_core.export.html import render_html

    return render_html(conversation)


RENDERERS: dict[ExportForm, Callable[[ExportedConversation], str]] = {
    "markdown": render_markdown,
    "html": _render_html,
    "json": render_json,
}


def render(conversation: ExportedConversation, form: ExportForm) -> str:
    """Return a conversation in one of the forms; it ends with a line feed."""
    return RENDERERS[form](conversation)
