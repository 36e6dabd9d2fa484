"""One message in full as blocks: reasoning, text, calls, result, metadata, and the record as it is stored."""

import json
from collections.abc import Iterator

import msgspec
from rich.style import Style

from smith_core.frozen import encode_hook
from smith_core.messages import Message, ToolCall
from smith_core.window import estimate_tokens
from smith_tui import wording
from smith_tui.inspect.table import Entry, kind_of, size_of
from smith_tui.sanitize import literal
from smith_tui.transcript.answers import Answer, Code
from smith_tui.transcript.blocks import Block, Plain, Prompt, Reasoning, in_gutter, inner_width, plain_rows, split_plain
from smith_tui.transcript.history import text_blocks
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import Line, line_of
from smith_tui.transcript.splitter import MAX_CODE_LINES, Piece


class Heading(Block):
    """A line that names what comes below it, with an aside in a quieter colour."""

    __slots__ = ("_aside", "_text")

    def __init__(self, text: str, aside: str = "", *, has_gap: bool = True) -> None:
        super().__init__(has_gap=has_gap)
        self._text = literal(text)
        self._aside = literal(aside)

    @property
    def text(self) -> str:
        """Both parts."""
        return f"{self._text} {self._aside}".rstrip()

    def rows(self, width: int, ink: Ink) -> list[Line]:
        """Return the heading, wrapped where it is long."""
        rows = plain_rows(self._text, inner_width(width), ink.strong, 10)
        if self._aside:
            one_row = line_of([(self._text, ink.strong), (f"  {self._aside}", ink.muted)])
            fits = one_row.cells <= inner_width(width)
            rows = [one_row] if fits else rows + plain_rows(self._aside, inner_width(width), ink.muted, 10)
        return in_gutter(rows, width, ("  ", Style.null()))


def facts_of(entry: Entry, now: float) -> Heading:
    """Return the line above a message: number, who, what, how large, how old; now: seconds since the epoch."""
    message = entry.message
    who = {"user": "you", "assistant": "agent"}.get(message.role, message.role)
    tokens = estimate_tokens((message,))
    facts = [
        f"{size_of(message):,} characters",
        f"about {tokens:,} token{'s' * (tokens != 1)}",
        wording.age(message.created_at, now),
        message.model,
    ]
    return Heading(
        f"{entry.sequence}  {who}, {kind_of(message)}", " · ".join(fact for fact in facts if fact), has_gap=False
    )


def blocks_of_message(message: Message, palette: str) -> list[Block]:
    """Return the readable form of a message."""
    blocks: list[Block] = []
    if message.reasoning.strip():
        reasoning = Reasoning(message.reasoning, palette)
        reasoning.is_expanded = True
        blocks.append(reasoning)
    if message.role == "user":
        prompt = Prompt(message.content, palette)
        prompt.is_expanded = True
        blocks.append(prompt)
    elif message.role == "tool":
        blocks += _result(message, palette)
    else:
        blocks += text_blocks(message.content, Answer(palette))
    for call in message.tool_calls:
        blocks += _call(call, palette)
    if message.metadata is not None and (facts := _facts(message)):
        blocks.append(Heading("metadata"))
        blocks += code_blocks(facts, "json", palette)
    return blocks


def blocks_of_record(message: Message, palette: str) -> list[Block]:
    """Return the record as it is stored, with its braces on lines of their own."""
    return code_blocks(_json(msgspec.json.encode(message, enc_hook=encode_hook)), "json", palette)


def code_blocks(source: str, language: str, palette: str) -> list[Block]:
    """Return highlighted code in parts that are rendered one by one."""
    answer = Answer(palette)
    lines = source.split("\n")
    blocks: list[Block] = []
    previous: Code | None = None
    for start in range(0, len(lines), MAX_CODE_LINES):
        part = "\n".join(lines[start : start + MAX_CODE_LINES])
        previous = Code(Piece(part, language=language, starts_fence=start == 0), answer, previous, is_first=False)
        blocks.append(previous)
    return blocks


def pretty_arguments(arguments: str) -> str:
    """Return the arguments of a call with one member a line; what is no JSON is returned as it stands."""
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def _call(call: ToolCall, palette: str) -> Iterator[Block]:
    yield Heading(f"call {call.name}", call.id)
    yield from code_blocks(pretty_arguments(call.arguments), "json", palette)


def _result(message: Message, palette: str) -> Iterator[Block]:
    yield Heading(f"result of {message.name or 'a call'}", message.tool_call_id)
    for index, part in enumerate(split_plain(message.content)):
        yield Plain(part, palette, has_gap=index == 0)
    if message.metadata is not None and message.metadata.diff:
        yield Heading("diff", "shown in the transcript, not sent to the model")
        yield from code_blocks(message.metadata.diff.rstrip("\n"), "diff", palette)


def _facts(message: Message) -> str:
    """Return the metadata without the diff, which stands above it."""
    if message.metadata is None:
        return ""
    metadata = msgspec.structs.replace(message.metadata, diff="")
    encoded = msgspec.json.encode(metadata, enc_hook=encode_hook)
    return "" if encoded == b"{}" else _json(encoded)


def _json(encoded: bytes) -> str:
    return msgspec.json.format(encoded, indent=2).decode()
