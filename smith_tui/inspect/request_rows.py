"""What would be sent next, as rows: the system prompt, the messages with what is left out, the tools, and a bar."""

import json
from typing import NamedTuple

from rich.style import Style

from smith_core.frozen import thaw
from smith_core.llm.wire import message_json, sends_reasoning, tool_json
from smith_core.session.preview import NextRequest, OfferedTool, RequestPart
from smith_tui import wording
from smith_tui.inspect.desk import copied_text
from smith_tui.inspect.pieces import Heading, blocks_of_message, code_blocks
from smith_tui.inspect.table import Facts, message_row, row_line, speaker
from smith_tui.sanitize import literal
from smith_tui.transcript.blocks import Block, Plain, split_plain
from smith_tui.transcript.cells import cell_width, cut_to
from smith_tui.transcript.ink import Ink
from smith_tui.transcript.lines import PLAIN, Line, Span, line_of
from smith_tui.widgets.result_list import Frame

Item = RequestPart | OfferedTool

NEXT_PROMPT = "what you type next"
_STATE_WORDS = {
    "elided": ("Elided", "an old, large result: the model gets only the words below"),
    "cut": ("Shortened", "the newest round would not fit: the model gets what is below"),
    "dropped": ("Dropped", "no room in the window: the model does not get it"),
}


class Share(NamedTuple):
    """A part of the window: a name, its tokens and its colour."""

    name: str
    tokens: int
    style: Style


def items_of(request: NextRequest) -> list[Item]:
    """Return everything that goes along, in order, tools first, as providers read them."""
    return [*request.tools, *request.parts]


def number_of(item: Item) -> str:
    """Return the number of the stored message in a part, of the first one where several are joined, "" without any."""
    if isinstance(item, OfferedTool) or not item.sequences:
        return ""
    return f"{item.sequences[0]}+" if len(item.sequences) > 1 else str(item.sequences[0])


def item_row(item: Item, number_width: int, now: float, frame: Frame) -> Line:
    """Return the row of one part of the request."""
    if isinstance(item, RequestPart):
        if not item.whole.content and not item.whole.tool_calls:
            texts = {"role": speaker(item.whole.role, frame.ink)}
            return row_line(texts, (NEXT_PROMPT, frame.ink.muted), number_width, frame)
        facts = Facts(number=number_of(item), state=item.state, tokens=item.tokens, now=now)
        return message_row(item.sent or item.whole, facts, number_width, frame)
    return _tool_row(item, number_width, frame)


def blocks_of_item(item: Item, palette: str) -> list[Block]:
    """Return a part of the request in full: as it is sent, and below that as it was before it was shortened."""
    if isinstance(item, OfferedTool):
        schema = json.dumps(thaw(item.definition.parameters), indent=2, ensure_ascii=False)
        description = [Plain(part, palette) for part in split_plain(item.definition.description)]
        return [
            Heading(f"tool {item.definition.name}", has_gap=False),
            *description,
            Heading("schema"),
            *code_blocks(schema, "json", palette),
        ]
    if not item.whole.content and not item.whole.tool_calls:
        return [Heading(NEXT_PROMPT, "the prompt is empty now", has_gap=False)]
    if item.whole.role == "system":
        parts = split_plain(item.whole.content)
        return [Heading("system prompt", has_gap=False), *(Plain(part, palette) for part in parts)]
    if item.state == "sent":
        return blocks_of_message(item.whole, palette)
    title, words = _STATE_WORDS[item.state]
    blocks: list[Block] = [Heading(title, words, has_gap=False)]
    if item.sent is not None:
        blocks += blocks_of_message(item.sent, palette)
    return [*blocks, Heading("in the conversation", "whole, as it stays"), *blocks_of_message(item.whole, palette)]


def copied_item(item: Item) -> str:
    """Return what a copy of a part holds: a message as it is sent, or as it was where it is not; a tool's schema."""
    if isinstance(item, RequestPart):
        return copied_text(item.sent or item.whole)
    return json.dumps(tool_json(item.definition), indent=2, ensure_ascii=False)


def blocks_of_json(item: Item, model: str, palette: str) -> list[Block]:
    """Return the JSON as which a part goes to the endpoint of a model."""
    if isinstance(item, OfferedTool):
        entry = tool_json(item.definition)
    elif item.sent is None:
        title, words = _STATE_WORDS["dropped"]
        return [Heading(title, words, has_gap=False)]
    else:
        entry = message_json(item.sent, echo_reasoning=sends_reasoning(model))
    return code_blocks(json.dumps(entry, indent=2, ensure_ascii=False), "json", palette)


def bar_lines(request: NextRequest, width: int, ink: Ink) -> list[Line]:
    """Return a bar of the whole window with its shares, and a row that says the numbers."""
    shares = _shares(request, ink)
    window = max(1, request.context_window)
    room = max(1, width - 2)
    spans: list[Span] = [(" ", PLAIN)]
    used = 0
    for share in shares:
        cells = min(room - used, max(1, round(room * share.tokens / window)) if share.tokens else 0)
        spans.append(("█" * cells, share.style))
        used += cells
    limit = min(room, round(room * request.token_limit / window)) if request.is_trimmed else room
    for position in range(used, room):
        spans.append(("┃" if position == limit else "░", ink.warning if position == limit else ink.rule))
    return [line_of(spans), _legend(request, shares, width, ink)]


def _shares(request: NextRequest, ink: Ink) -> list[Share]:
    system = sum(part.tokens for part in request.parts if part.whole.role == "system")
    return [
        Share("tools", request.tool_tokens, ink.info),
        Share("system prompt", system, ink.warning),
        Share("messages", request.tokens - system, ink.accent),
    ]


def _legend(request: NextRequest, shares: list[Share], width: int, ink: Ink) -> Line:
    total = request.tokens + request.tool_tokens
    spans: list[Span] = [(" ", PLAIN)]
    for share in shares:
        spans += [("█ ", share.style), (f"{share.name} {share.tokens:,}   ", PLAIN)]
    percent = 100 * total / max(1, request.context_window)
    full = f"about {total:,} of {request.context_window:,} tokens, {percent:.0f} %"
    if not request.fits:
        full += ": too long"
    elif request.is_trimmed:
        full += f"; messages may take {request.token_limit:,}"
    else:
        full += "; nothing is trimmed"
    used = sum(cell_width(text) for text, _ in spans)
    spans.append((cut_to(full, max(0, width - used)), ink.muted if request.fits else ink.error))
    return line_of(spans)


def _tool_row(tool: OfferedTool, number_width: int, frame: Frame) -> Line:
    ink = frame.ink
    name = literal(tool.definition.name)
    description = literal(" ".join(tool.definition.description.split()))
    texts = {
        "role": ("schema", ink.warning),
        "kind": (name, PLAIN),
        "chars": (wording.short_count(tool.chars), ink.muted),
        "tokens": (wording.short_count(tool.tokens), ink.muted),
    }
    return row_line(texts, (description, ink.muted), number_width, frame)
