"""Assembling a stream of chat-completion chunks into parts and one completion, whatever gateway wrote them.

A chunk is a decoded JSON object, a dict all the way down, of the OpenAI chat-completions stream:
{"choices": [{"delta": {...}, "finish_reason": ...}], "usage": {...}}.
"""

from collections.abc import Mapping
from typing import Any

from smith_core.llm.json_values import whole_number
from smith_core.llm.protocol import AnyStreamPart, Completion, StreamReasoning, StreamText, StreamToolProgress
from smith_core.llm.tool_calls import CallAssembler
from smith_core.messages import Usage
from smith_core.text import REPLACEMENT, clean_text

CHARS_PER_TOKEN = 4
"""The rule of thumb for token counts that an endpoint does not report."""

_TEXT_FIELDS = ("content", "refusal")
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_FIRST_CHOICE = (None, 0)
_NO_MARKER = frozenset({"", "null", "none"})


class DeltaAssembler:
    """Takes chunks in order; `finish_reason` is set once the finish marker has come."""

    def __init__(self) -> None:
        self._text = _TextChannel()
        self._reasoning = _TextChannel()
        self._calls = CallAssembler()
        self._usage: Mapping[str, Any] | None = None
        self.finish_reason = ""
        self.chunks = 0

    @property
    def has_output(self) -> bool:
        """Whether any text, reasoning or call has come."""
        return bool(self._text.pieces or self._reasoning.pieces or self._calls)

    def feed(self, chunk: Mapping[str, Any]) -> list[AnyStreamPart]:
        """Take one chunk and return what it adds, ready to be shown.

        Only the first choice counts, for only one is asked for. Unknown fields are passed over.
        """
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = usage
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return []
        self.chunks += 1
        parts: list[AnyStreamPart] = []
        for choice in choices:
            if isinstance(choice, dict) and choice.get("index") in _FIRST_CHOICE:
                parts += self._feed_choice(choice)
        return parts

    def _feed_choice(self, choice: dict[str, Any]) -> list[AnyStreamPart]:
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason.lower() not in _NO_MARKER:
            self.finish_reason = reason
        delta = choice.get("delta") or choice.get("message")
        return self._feed_delta(delta) if isinstance(delta, dict) else []

    def _feed_delta(self, delta: dict[str, Any]) -> list[AnyStreamPart]:
        parts: list[AnyStreamPart] = []
        content = delta.get("content")
        if len(delta) == 1 and isinstance(content, str):
            # So it is in nearly every chunk of a long answer.
            reasoning, text = "", content
        elif isinstance(content, list):
            reasoning, text = _split_blocks(content)
        else:
            reasoning = _first_text(delta, _REASONING_FIELDS)
            text = _first_text(delta, _TEXT_FIELDS)
        if reasoning and (ready := self._reasoning.add(reasoning)):
            parts.append(StreamReasoning(text=ready))
        if text and (ready := self._text.add(text)):
            parts.append(StreamText(text=ready))
        if len(delta) == 1 and text:
            return parts
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            parts += [_progress(self._calls, fragment) for fragment in calls if isinstance(fragment, dict)]
        if isinstance(legacy := delta.get("function_call"), dict):
            parts.append(_progress(self._calls, {"function": legacy}))
        return parts

    def finish(self) -> list[AnyStreamPart]:
        """Return what was held back for a second half that never came, as U+FFFD."""
        parts: list[AnyStreamPart] = []
        if ready := self._reasoning.finish():
            parts.append(StreamReasoning(text=ready))
        if ready := self._text.finish():
            parts.append(StreamText(text=ready))
        return parts

    @property
    def has_usage(self) -> bool:
        """Whether the endpoint has reported what was used."""
        return read_usage(self._usage) is not None

    def completion(self, input_chars: int = 0) -> Completion:
        """Return the whole answer; call it after `finish`.

        input_chars: length of the request, for an estimate when the endpoint did not report usage.
        """
        calls = self._calls.calls()
        text, reasoning = self._text.value(), self._reasoning.value()
        usage = read_usage(self._usage)
        if usage is None:
            written = len(text) + len(reasoning) + sum(len(call.name) + len(call.arguments) for call in calls)
            usage = estimate_usage(input_chars, written)
        return Completion(
            text=text, reasoning=reasoning, tool_calls=calls, finish_reason=clean_text(self.finish_reason), usage=usage
        )


class _TextChannel:
    """Joins text whose surrogate pairs may be cut in two by the deltas."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._held = ""

    def add(self, text: str) -> str:
        if self._held or not text.isascii() or "\0" in text:
            text, self._held = self._held + text, ""
            if "\ud800" <= text[-1] <= "\udbff":
                text, self._held = text[:-1], text[-1]
            text = clean_text(text)
        return self._keep(text)

    def finish(self) -> str:
        held, self._held = self._held, ""
        return self._keep(REPLACEMENT if held else "")

    def value(self) -> str:
        return "".join(self.pieces)

    def _keep(self, text: str) -> str:
        if text:
            self.pieces.append(text)
        return text


def _progress(calls: CallAssembler, fragment: Mapping[str, Any]) -> StreamToolProgress:
    index, name, argument_chars = calls.add(fragment)
    return StreamToolProgress(index=index, name=name, argument_chars=argument_chars)


def _first_text(delta: Mapping[str, Any], fields: tuple[str, ...]) -> str:
    """Return the first non-empty of several fields; gateways that send two of them send the same text twice."""
    for field in fields:
        value = delta.get(field)
        if isinstance(value, str) and value:
            return value
    return ""


def _split_blocks(blocks: list[Any]) -> tuple[str, str]:
    """Return reasoning and text of a content that is a list of blocks, as Mistral writes it."""
    reasoning, text = "", ""
    for block in blocks:
        if not isinstance(block, Mapping):
            continue
        thinking = block.get("thinking")
        if isinstance(thinking, list):
            reasoning += _split_blocks(thinking)[1]
        elif isinstance(thinking, str):
            reasoning += thinking
        elif isinstance(block.get("text"), str):
            text += block["text"]
    return reasoning, text


def read_usage(usage: Mapping[str, Any] | None) -> Usage | None:
    """Return the token counts of a usage object, or None when it holds none."""
    if not usage:
        return None
    prompt = _count(usage, "prompt_tokens", "input_tokens")
    completion = _count(usage, "completion_tokens", "output_tokens")
    if not prompt and not completion:
        return None
    prompt_details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    completion_details = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
    return Usage(
        input_tokens=prompt,
        output_tokens=completion,
        cached_tokens=_count(prompt_details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens"),
        reasoning_tokens=_count(completion_details, "reasoning_tokens"),
        requests=1,
    )


def _count(table: Any, *names: str) -> int:
    for name in names:
        if number := whole_number(table.get(name) if isinstance(table, Mapping) else None):
            return number
    return 0


def estimate_usage(input_chars: int, output_chars: int) -> Usage:
    """Return token counts guessed from characters, marked as estimated."""
    return Usage(
        input_tokens=-(-input_chars // CHARS_PER_TOKEN),
        output_tokens=-(-output_chars // CHARS_PER_TOKEN),
        requests=1,
        estimated=True,
    )
