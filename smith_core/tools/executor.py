"""Runs one tool call in its steps: resolve, decode, check, ask, run, check, normalise."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

import msgspec

from smith_core.cancel import CANCELLED
from smith_core.errors import AgentError, AgentFailure, normalize
from smith_core.log import LOGGER
from smith_core.messages import MutationState, ToolCall, ToolMetadata, ToolResult
from smith_core.text import clean_text, shorten
from smith_core.tools.base import MODEL_TEXT_LIMIT, ToolContext, ToolOutcome, ToolSpec
from smith_core.tools.registry import ToolRegistry

CANCEL_GRACE_S = 4.0
"""How long a cancelled handler may take to clean up; bash needs two seconds between TERM and KILL."""


async def execute(
    call: ToolCall, role: str, registry: ToolRegistry, make_context: Callable[[str], ToolContext]
) -> ToolResult:
    """Run a call for a role; every failure, foreseen or not, comes back as a result."""
    resolved = registry.resolve(call.name, role)
    if isinstance(resolved, AgentError):
        return refused(call.id, resolved)
    arguments = decode_arguments(call.arguments, resolved)
    if isinstance(arguments, AgentError):
        return refused(call.id, arguments)
    context = make_context(call.id)
    if resolved.mutates and context.permit is not None and not context.is_cancelled():
        refusal = await context.permit(call, arguments)
        if refusal is not None:
            return refused(call.id, refusal)
    if context.is_cancelled():
        return not_run(call.id, "the turn was cancelled")
    started = time.monotonic()
    outcome = await _run(resolved, arguments, context)
    return _normalise(call.id, resolved, outcome, context, time.monotonic() - started)


def decode_arguments(text: str, spec: ToolSpec) -> Any | AgentError:
    """Decode a call's JSON text into the tool's argument struct; blank and null count as no arguments."""
    takes = ", ".join(
        f"{field.name}{'' if field.required else '?'}" for field in msgspec.structs.fields(spec.arguments)
    )
    try:
        value = msgspec.json.decode(text) if text.strip() else {}
        value = {} if value is None else value
        return msgspec.convert(spec.coerce(value) if spec.coerce else value, spec.arguments, strict=False)
    except msgspec.ValidationError as error:
        problem = str(error)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        problem = f"not valid JSON ({error}): {shorten(text, 120)}"
    message = f"bad arguments for {spec.name}: {problem}. It takes {{{takes}}}"
    return AgentError(kind="schema", code="bad_arguments", message=clean_text(message), origin="executor")


def refused(call_id: str, error: AgentError) -> ToolResult:
    """Return the result of a call that was turned down before anything ran."""
    return ToolResult(call_id=call_id, ok=False, content=error.message, error=error)


def not_run(call_id: str, why: str, error: AgentError = CANCELLED) -> ToolResult:
    """Return the result of a call that was never started, so that its id is answered all the same."""
    was_cancelled = error.kind == "cancelled"
    return ToolResult(call_id=call_id, ok=False, content=f"not run: {why}", error=error, cancelled=was_cancelled)


async def _run(spec: ToolSpec, arguments: Any, context: ToolContext) -> ToolOutcome:
    handler = asyncio.ensure_future(spec.handler(arguments, context))
    cancelled = asyncio.ensure_future(context.cancel_token.wait())
    try:
        await asyncio.wait({handler, cancelled}, return_when=asyncio.FIRST_COMPLETED)
        if not handler.done():
            await asyncio.wait({handler}, timeout=CANCEL_GRACE_S)
        if not handler.done():
            return _cut_short(spec)
        return handler.result()
    except asyncio.CancelledError:
        if not handler.cancelled():
            raise
        return _cut_short(spec)
    except AgentFailure as failure:
        return _failed(spec, failure.error)
    except Exception as error:  # noqa: BLE001 - it is logged and becomes an error value
        LOGGER.exception("tool %s broke", spec.name)
        return _failed(spec, normalize(error, origin=spec.name))
    finally:
        cancelled.cancel()
        if not handler.done():
            handler.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await handler


def _doubt(spec: ToolSpec) -> MutationState:
    return "unknown" if spec.mutates else "none"


def _cut_short(spec: ToolSpec) -> ToolOutcome:
    return ToolOutcome(ok=False, content="[cancelled]", error=CANCELLED, cancelled=True, mutation_state=_doubt(spec))


def _failed(spec: ToolSpec, error: AgentError) -> ToolOutcome:
    return ToolOutcome(
        ok=False,
        content=f"{spec.name} failed: {error.message}",
        error=error,
        cancelled=error.kind == "cancelled",
        mutation_state=_doubt(spec),
    )


def _normalise(
    call_id: str, spec: ToolSpec, outcome: ToolOutcome, context: ToolContext, duration_s: float
) -> ToolResult:
    cut_by_person = outcome.cancelled or (context.is_cancelled() and not outcome.ok)
    state = outcome.mutation_state
    if cut_by_person and state == "none" and outcome.error is not None and outcome.error.kind == "internal":
        state = _doubt(spec)
    content, omitted = _bounded(clean_text(outcome.content))
    metadata: ToolMetadata = msgspec.structs.replace(
        outcome.metadata,
        duration_s=outcome.metadata.duration_s or round(duration_s, 4),
        omitted_chars=outcome.metadata.omitted_chars + omitted,
    )
    return ToolResult(
        call_id=call_id,
        ok=outcome.ok,
        content=content or "[no output]",
        error=outcome.error,
        cancelled=cut_by_person,
        mutation_state=state,
        metadata=metadata,
    )


def _bounded(content: str) -> tuple[str, int]:
    if len(content) <= MODEL_TEXT_LIMIT:
        return content, 0
    note = f"\n[… the whole result has {len(content)} characters; its middle is left out …]\n"
    half = (MODEL_TEXT_LIMIT - len(note)) // 2
    return content[:half] + note + content[-half:], len(content) - 2 * half
