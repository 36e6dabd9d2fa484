"""A stored conversation as blocks: cheap enough for thousands of messages, since nothing is rendered yet."""

import json
from collections.abc import Iterator, Sequence

import msgspec

from smith_core.messages import Message, ToolMetadata, ToolResult, shell_line_header, typed_text
from smith_tui.transcript.answers import Answer, Code, Prose, may_define
from smith_tui.transcript.blocks import Block, Notice, Prompt, Reasoning
from smith_tui.transcript.cards import ToolCard, has_gap_after
from smith_tui.transcript.dispatch_card import DispatchCard
from smith_tui.transcript.files_card import FilesCard
from smith_tui.transcript.splitter import Piece, split

MAX_WHOLE_CHARS = 2_000
"""An answer of up to this length stays in one piece; longer ones are split so that none takes long to render."""


def blocks_of(messages: Sequence[Message], palette: str) -> list[Block]:
    """Return the blocks of a conversation, in order; a call without a result is shown as cancelled.

    palette: of the role that answered.
    """
    blocks: list[Block] = []
    cards: dict[str, ToolCard] = {}
    without_definitions = Answer(palette)
    for message in messages:
        if message.role == "user" and message.metadata is not None and message.metadata.command:
            blocks += _shell_line(message, palette)
        elif message.role == "user":
            blocks.append(Prompt(typed_text(message), palette))
        elif message.role == "assistant":
            answer = Answer(palette) if may_define(message.content) else without_definitions
            blocks += _answer(message, answer)
            for call in message.tool_calls:
                card = cards[call.id] = card_after(blocks, call.name, call.arguments, palette)
                blocks.append(card)
        elif message.role == "tool":
            waiting = cards.pop(message.tool_call_id, None)
            if waiting is None:
                waiting = ToolCard(message.name or "tool", "", palette)
                blocks.append(waiting)
            waiting.end(_result(message))
        if message.metadata is not None:
            blocks += _end_of_turn(message.metadata, palette)
    for card in cards.values():
        card.end(ToolResult(call_id="", ok=False, content="", cancelled=True))
    return blocks


def _end_of_turn(metadata: ToolMetadata, palette: str) -> Iterator[Block]:
    if metadata.turn_id:
        yield FilesCard(metadata.turn_id, palette)
    if metadata.turn_error:
        yield Notice("error", metadata.turn_error, palette)
    if metadata.turn_cancelled:
        yield Notice("info", "cancelled", palette)


def blocks_of_message(messages: Sequence[Message], index: int) -> range:
    """Return which of the blocks of a conversation show message number `index` (from 0); may be empty.

    Those of an answer include the cards of its calls; that of a tool's message is the card of its call.
    """
    message = messages[index]
    owner, position = index, -1
    if message.role == "tool":
        for number in range(index - 1, -1, -1):
            calls = [call.id for call in messages[number].tool_calls]
            if message.tool_call_id in calls:
                owner, position = number, calls.index(message.tool_call_id) - len(calls)
                break
    start = len(blocks_of(messages[:owner], "green"))
    end = start + len(blocks_of(messages[owner : owner + 1], "green"))
    return range(end + position, end + position + 1) if owner != index else range(start, end)


def card_after(blocks: Sequence[Block], name: str, arguments: str, palette: str) -> ToolCard:
    """Return the card of a call that comes after some blocks."""
    before = blocks[-1] if blocks else None
    has_gap = has_gap_after(before.name, name) if isinstance(before, ToolCard) else True
    kind = DispatchCard if name == "dispatch" else ToolCard
    return kind(name, arguments, palette, has_gap=has_gap)


def text_blocks(text: str, answer: Answer) -> list[Block]:
    """Return the blocks of one answer's markdown."""
    text = text.lstrip("\n")
    if not text.strip():
        return []
    answer.note_definitions(text)
    if len(text) <= MAX_WHOLE_CHARS:
        return [Prose(Piece(text.replace("\r\n", "\n").replace("\r", "\n")), answer, is_first=True)]
    blocks: list[Block] = []
    previous: Code | None = None
    for piece in split(text):
        if piece.language is None:
            blocks.append(Prose(piece, answer, is_first=not blocks))
        else:
            previous = Code(piece, answer, previous, is_first=not blocks)
            blocks.append(previous)
    return blocks


def _answer(message: Message, answer: Answer) -> list[Block]:
    blocks: list[Block] = []
    if message.reasoning.strip():
        blocks.append(Reasoning(message.reasoning, answer.palette))
    blocks += text_blocks(message.content, answer)
    if message.interrupted:
        blocks.append(Notice("warning", "interrupted", answer.palette))
    return blocks


def _shell_line(message: Message, palette: str) -> list[Block]:
    """Return what the person typed, and the card of the command that it ran."""
    metadata = message.metadata or ToolMetadata()
    output = message.content.removeprefix(shell_line_header(metadata.command))
    card = ToolCard("bash", json.dumps({"command": metadata.command}), palette)
    card.end(msgspec.structs.replace(_result(message), content=output))
    return [Prompt(f"!{metadata.command}", palette), card]


def _result(message: Message) -> ToolResult:
    return ToolResult(
        call_id=message.tool_call_id,
        ok=message.ok,
        content=message.content,
        cancelled=message.cancelled,
        metadata=message.metadata or ToolMetadata(),
    )
