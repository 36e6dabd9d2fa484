"""Figures of the window policy: how long the conversation of 20,000 messages takes before each call of the model."""

import base64
import random

from smith_core.messages import Message, ToolCall
from smith_core.window import WindowLimits, fit
from tests.bench.reading import Reading
from tests.bench.timing import median, timed

MESSAGES = 20_000
_RANDOM = random.Random(1)
_TEXTS = {
    "words": lambda number: f"{number} " + "word " * 190,
    "short words": lambda number: f"{number} ok",
    "Chinese": lambda number: f"{number} " + "上下文窗口管理" * 40,
    "base64": lambda number: base64.b64encode(_RANDOM.randbytes(750)).decode(),
}
WINDOWS = (128_000, 1_000_000)


def _conversation(kind: str) -> list[Message]:
    messages = [Message(role="system", content="You are a test. " * 200)]
    while len(messages) < MESSAGES:
        number = len(messages)
        call = ToolCall(f"c{number}", "bash", '{"command":"ls"}')
        messages.append(Message(role="user", content=f"prompt {number}"))
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", tool_call_id=call.id, content=_TEXTS[kind](number)))
        messages.append(Message(role="assistant", content=_TEXTS["words"](number)))
    return messages


def fit_window(rounds: int = 11) -> tuple[Reading, ...]:
    """Fitting 20,000 messages: the median of the slowest of several kinds of text and sizes of the window."""
    medians = {}
    for kind in _TEXTS:
        messages = _conversation(kind)
        for window in WINDOWS:
            limits = WindowLimits(context_window=window)
            times = [timed(lambda messages=messages, limits=limits: fit(messages, limits)) for _ in range(rounds)]
            medians[kind, window] = median(times)
    (kind, window), slowest = max(medians.items(), key=lambda item: item[1])
    told = f"{kind}, {window:,}; words, 128,000: {medians['words', 128_000] * 1000:.1f} ms"
    return (Reading(slowest * 1000, told),)
