"""Asks the model within its window, and with less when the endpoint finds even that too long.

Each request after such an answer is at least a quarter smaller, and there are three at most. The transport layer never
repeats what is too long, so nothing multiplies these.
"""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from smith_core.errors import AgentError
from smith_core.llm.context_sizes import ContextSizes, sizes_in
from smith_core.llm.retry import CompletionOutcome
from smith_core.messages import Message
from smith_core.weighing import Weights
from smith_core.window import FittedWindow, WindowLimits, estimate_tokens, fit, message_chars

MOST_REQUESTS = 3
"""Requests for one round, the first included."""

MOST_LEFT = 0.75
"""The share of a refused request that the next one may have."""

TOO_LONG_CODES = frozenset({"context_too_long", "too_large"})
"""What an endpoint answers to a request that a smaller one would not get."""

_MOST_TRIES = 16
_MESSAGE_FRAME = 60
_CALL_FRAME = 110
"""Characters of JSON around the content of a message and around a call."""

Ask = Callable[[tuple[Message, ...]], Awaitable[CompletionOutcome]]


async def ask_within_window(
    messages: Sequence[Message],
    limits: WindowLimits,
    ask: Ask,
    notice: Callable[[str], None],
    weights: Weights | None = None,
) -> tuple[CompletionOutcome, WindowLimits]:
    """Send what fits and return how it ended, with the limits that hold from now on: tighter ones if that helped.

    notice: takes a sentence for the person whenever a smaller request follows. weights: those of the turn.
    """
    fitted = fit(messages, limits, weights)
    if not fitted.fits and limits.most_tokens is not None:
        # One refusal of one request is no reason to ask nothing any more.
        limits = msgspec.structs.replace(limits, most_tokens=None)
        fitted = fit(messages, limits)
    if not fitted.fits:
        return CompletionOutcome(error=_cannot_fit(fitted, limits)), limits
    requests, tighter = 1, limits
    while True:
        outcome = await ask(fitted.messages)
        error = outcome.error
        if error is None or error.code not in TOO_LONG_CODES or outcome.partial_text:
            return outcome, tighter
        smaller = smaller_fit(messages, fitted, tighter, sizes_in(error.data)) if requests < MOST_REQUESTS else None
        if smaller is None:
            return msgspec.structs.replace(outcome, error=_still_too_long(error, fitted, limits, requests)), limits
        fitted, tighter = smaller
        requests += 1
        notice(
            "the endpoint takes less than expected: the request is made again with about "
            f"{fitted.tokens:,} tokens, without the oldest messages (they stay in the conversation)"
        )


def smaller_fit(
    messages: Sequence[Message], refused: FittedWindow, limits: WindowLimits, told: ContextSizes
) -> tuple[FittedWindow, WindowLimits] | None:
    """Return what to send after a refusal and the limits that it keeps to; None when too little would be left out.

    What the endpoint told of its size counts where it leaves room for the parts that must stay.
    """
    if not limits.enabled:
        return None
    whole = refused.tokens + limits.tool_tokens
    share = int(whole * MOST_LEFT) - limits.tool_tokens
    tries = [min(share, _told_limit(limits, told, whole)), share]
    # Where messages are small, most of a request is what stands around them.
    tries += [int(refused.tokens * MOST_LEFT**further) for further in range(1, _MOST_TRIES)]
    for most in tries:
        tighter = msgspec.structs.replace(limits, most_tokens=max(0, most))
        fitted = fit(messages, tighter)
        is_prompt_alone = not fitted.fits and refused.messages[-1].role == "user"
        if (fitted.fits or is_prompt_alone) and _is_a_quarter_smaller(fitted, refused):
            return fitted, tighter
    return None


def _is_a_quarter_smaller(fitted: FittedWindow, refused: FittedWindow) -> bool:
    return (
        fitted.tokens <= refused.tokens * MOST_LEFT
        and _wire_chars(fitted.messages) <= _wire_chars(refused.messages) * MOST_LEFT
    )


def _wire_chars(messages: Sequence[Message]) -> int:
    """Return about how many characters messages have as JSON."""
    calls = sum(len(message.tool_calls) for message in messages)
    return sum(map(message_chars, messages)) + _MESSAGE_FRAME * len(messages) + _CALL_FRAME * calls


def _told_limit(limits: WindowLimits, told: ContextSizes, whole: int) -> int:
    """Return the limit by the endpoint's own word, in tokens as they are estimated here."""
    if told.limit is None:
        return limits.token_limit
    window = told.limit if told.counted is None else told.limit * whole // max(told.counted, whole)
    return msgspec.structs.replace(limits, context_window=window, most_tokens=None).token_limit


def _cannot_fit(fitted: FittedWindow, limits: WindowLimits) -> AgentError:
    system = estimate_tokens([message for message in fitted.messages if message.role == "system"])
    advice = "shorten it, or put the text into a file and name the file"
    if system > limits.token_limit // 2:
        advice = f"the system prompt alone takes {system} (see /prompt): name a shorter index_file, or choose a model "
        advice += "with a larger window"
    message = (
        f"the message is too long for the model: about {fitted.tokens} tokens with the system prompt, and "
        f"{limits.token_limit} are allowed; {advice}"
    )
    if fitted.tokens <= limits.token_limit:
        message = (
            f"no room is left for the results of the last calls: system prompt and message take about {fitted.tokens} "
            f"of {limits.token_limit} tokens; start anew with /new, or choose a model with a larger window "
            "with /model or --model"
        )
    return AgentError(kind="policy", code="context_too_long", message=message, origin="turn")


def _still_too_long(error: AgentError, refused: FittedWindow, limits: WindowLimits, requests: int) -> AgentError:
    if not limits.enabled:
        hint = "nothing is left out while context_management.enabled is false"
    elif requests < MOST_REQUESTS:
        hint = "what is left cannot be made smaller: shorten the message, or put the text into a file"
    else:
        hint = f"{requests} requests were made, the last with about {refused.tokens:,} tokens; "
        hint += "a lower context_management.trim_threshold_pct leaves more out from the start"
    return msgspec.structs.replace(error, message=f"{error.message}; {hint}")
