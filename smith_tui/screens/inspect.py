"""The inspect view: every message of the conversation as a row, and the chosen one in full."""

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import DataTable, TextArea

from smith_core.frozen import encode_hook
from smith_core.messages import Message
from smith_core.text import shorten
from smith_core.window import estimate_tokens, message_chars
from smith_tui.sanitize import literal, literal_lines

FIRST_LINE_CHARS = 200


class InspectScreen(Screen[None]):
    """Looks at messages until Escape; the arrow keys choose the row."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,alt+i", "dismiss", "Close")]

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__()
        self._messages = messages

    def compose(self) -> ComposeResult:
        """Put the table beside the message."""
        with Horizontal():
            yield DataTable[Text](id="messages", cursor_type="row", zebra_stripes=True)
            yield TextArea(id="message", read_only=True, show_line_numbers=False)

    def on_mount(self) -> None:
        """Fill the table and choose the last message."""
        table = self.query_one("#messages", DataTable)
        table.border_title = f"Messages: {len(self._messages)}"
        table.border_subtitle = "↑ ↓ choose · Tab to the message · Esc closes"
        table.add_columns("#", "role", "kind", "chars", "tokens", "first line")
        for number, message in enumerate(self._messages, 1):
            table.add_row(*(Text(cell) for cell in _row(number, message)), key=str(number - 1))
        table.focus()
        if self._messages:
            table.move_cursor(row=len(self._messages) - 1)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Show the message of the row that the cursor is on."""
        if event.row_key.value is not None:
            message = self._messages[int(event.row_key.value)]
            self.query_one("#message", TextArea).load_text("\n".join(_details(message)))


def _row(number: int, message: Message) -> Iterator[str]:
    names = ", ".join(call.name for call in message.tool_calls)
    first = message.content.strip() or names or message.reasoning
    yield str(number)
    yield message.role
    yield _kind(message)
    yield str(message_chars(message))
    yield str(estimate_tokens([message]))
    yield literal(shorten(first[:1000], FIRST_LINE_CHARS))


def _kind(message: Message) -> str:
    if message.role == "tool":
        state = "cancelled" if message.cancelled else "ok" if message.ok else "failed"
        return f"{message.name} {state}"
    if message.tool_calls:
        return f"{len(message.tool_calls)} calls"
    return "interrupted" if message.interrupted else "text"


def _details(message: Message) -> Iterator[str]:
    if message.content:
        yield from literal_lines(message.content)
    if message.reasoning:
        yield from ("", "── reasoning ──", *literal_lines(message.reasoning))
    for call in message.tool_calls:
        yield from (
            "",
            f"── call {literal(call.name)} ({literal(call.id)}) ──",
            *literal_lines(_pretty(call.arguments)),
        )
    if message.metadata is not None and message.metadata.diff:
        yield from ("", "── diff ──", *literal_lines(message.metadata.diff))
    raw = msgspec.json.format(msgspec.json.encode(message, enc_hook=encode_hook), indent=2).decode()
    yield from ("", "── record ──", *literal_lines(raw))


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    except ValueError:
        return arguments
