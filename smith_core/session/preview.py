"""What the next request would hold, part by part, made by the same functions as the request itself."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from smith_core.cancel import new_root
from smith_core.llm.protocol import ToolDefinition
from smith_core.llm.wire import tool_json
from smith_core.messages import Message, prompt_message
from smith_core.model import ModelChoice
from smith_core.prompt import build_messages
from smith_core.roles import ROLES
from smith_core.session.session import Session
from smith_core.store.interface import StoredMessage
from smith_core.store.repair import repair
from smith_core.text import clean_text
from smith_core.tokens import text_quarters, whole_tokens
from smith_core.tools.attach import attach
from smith_core.turn import window_limits
from smith_core.window import WindowLimits, estimate_tokens, fit, without_stranded

PartState = Literal["sent", "elided", "cut", "dropped"]

_ELIDED = "[elided "


class RequestPart(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message of the request, or one that is left out of it.

    whole: as it is before anything is shortened. sent: as the model gets it, None when it is dropped. sequences: the
    numbers of the stored messages in it, several where prompts are joined, none for what is not stored. tokens: of
    what is sent.
    """

    whole: Message
    sent: Message | None
    state: PartState
    sequences: tuple[int, ...] = ()
    tokens: int = 0


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool that goes along with the request; chars, tokens: of the JSON that says what it is."""

    definition: ToolDefinition
    chars: int
    tokens: int


class NextRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request as a whole; sizes are estimates in tokens.

    token_limit: what the messages may take of the context_window. is_trimmed: whether the window policy is on.
    """

    model: str
    context_window: int
    token_limit: int
    is_trimmed: bool
    parts: tuple[RequestPart, ...]
    tools: tuple[OfferedTool, ...]
    tokens: int
    fits: bool

    @property
    def tool_tokens(self) -> int:
        """The tokens of all tools."""
        return sum(tool.tokens for tool in self.tools)

    @property
    def states(self) -> Mapping[int, PartState]:
        """What becomes of stored messages that are not sent as they are, by their numbers."""
        return {number: part.state for part in self.parts if part.state != "sent" for number in part.sequences}


async def next_request(session: Session, draft: str = "") -> NextRequest:
    """Return what would be sent if `draft` were the next prompt; AgentFailure when no model can be found."""
    config = session.services.config.effective
    role = ROLES[session.active_role]
    scope = await session.recompute_turn_scope()
    model = await session.select_model(ModelChoice(), role)
    conversation = session.services.conversation
    stored = tuple(map(StoredMessage, conversation.sequences, conversation.messages))
    offered = session.services.tool.llm_specs(role.name)
    limits = window_limits(config, model, offered)
    system_prompt = session.services.prompt.build_system_prompt(role, scope.cwd, scope.project)
    files = (await asyncio.to_thread(attach, draft, session.cwd, new_root())).text if "@" in draft else ""
    prompt = prompt_message(clean_text(draft), clean_text(files), time.time())
    # A long conversation takes longer than a frame.
    parts, fits = await asyncio.to_thread(plan, system_prompt, stored, prompt, limits)
    tools = tuple(map(_offered, offered))
    return NextRequest(
        model=model.model,
        context_window=model.context_window,
        token_limit=limits.token_limit,
        is_trimmed=limits.enabled,
        parts=parts,
        tools=tools,
        tokens=sum(part.tokens for part in parts),
        fits=fits,
    )


def plan(
    system_prompt: str, stored: Sequence[StoredMessage], prompt: Message, limits: WindowLimits
) -> tuple[tuple[RequestPart, ...], bool]:
    """Return the messages of a request in order, dropped ones included, and whether it fits; prompt: the next one."""
    numbers = {id(item.message): item.sequence for item in stored}
    history = (*repair([item.message for item in stored]), prompt)
    taken = without_stranded(history, limits)
    whole = build_messages(system_prompt, taken)
    sources = [(), *_sources(taken, numbers)]
    fitted = fit(whole, limits)
    sent = _aligned(whole, fitted.messages)
    parts = [
        RequestPart(
            whole=message,
            sent=result,
            state=_state(message, result),
            sequences=sequences,
            tokens=estimate_tokens((result,), limits) if result is not None else 0,
        )
        for message, result, sequences in zip(whole, sent, sources, strict=True)
    ]
    if len(taken) < len(history):
        parts = _with_stranded(parts, history, taken, numbers)
    return tuple(parts), fitted.fits


def _sources(history: Sequence[Message], numbers: Mapping[int, int]) -> list[tuple[int, ...]]:
    """Return the numbers of the stored messages in each built one: prompts that follow each other are joined."""
    sources: list[tuple[int, ...]] = []
    previous = ""
    for message in history:
        own = (numbers[id(message)],) if id(message) in numbers else ()
        if message.role == "user" == previous:
            sources[-1] += own
        else:
            sources.append(own)
        previous = message.role
    return sources


def _with_stranded(
    parts: list[RequestPart], history: Sequence[Message], taken: Sequence[Message], numbers: Mapping[int, int]
) -> list[RequestPart]:
    """Return the parts with the prompts that are left out because they never got an answer, where they stand."""
    kept = set(map(id, taken))
    stranded = [message for message in history if id(message) not in kept]
    result: list[RequestPart] = []
    for part in parts:
        first = part.sequences[0] if part.sequences else None
        while stranded and first is not None and numbers.get(id(stranded[0]), 0) < first:
            result.append(_dropped(stranded.pop(0), numbers))
        result.append(part)
    # What is left stood before the next prompt, which has no number yet.
    result[-1:-1] = [_dropped(message, numbers) for message in stranded]
    return result


def _dropped(message: Message, numbers: Mapping[int, int]) -> RequestPart:
    return RequestPart(whole=message, sent=None, state="dropped", sequences=(numbers[id(message)],))


def _aligned(messages: Sequence[Message], kept: Sequence[Message]) -> list[Message | None]:
    """Return for each message what was kept of it, None when it was dropped; a kept one may have been shortened."""
    left = list(kept)
    found: list[Message | None] = []
    # What is dropped lies before what is kept, and only the newest round is shortened in other ways than by eliding.
    for message in reversed(messages):
        found.append(left.pop() if left and (left[-1] is message or _key(left[-1]) == _key(message)) else None)
    return found[::-1]


def _key(message: Message) -> tuple[object, ...]:
    return message.role, message.tool_call_id, message.created_at, tuple(call.id for call in message.tool_calls)


def _state(whole: Message, sent: Message | None) -> PartState:
    if sent is None:
        return "dropped"
    if sent == whole:
        return "sent"
    return "elided" if sent.content.startswith(_ELIDED) else "cut"


def _offered(tool: ToolDefinition) -> OfferedTool:
    text = json.dumps(tool_json(tool))
    return OfferedTool(tool, len(text), whole_tokens(text_quarters(text)))
