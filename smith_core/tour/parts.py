"""What a scripted answer is made of, and what the script can see of a conversation."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec


class Think(msgspec.Struct, frozen=True):
    """Reasoning that is streamed before the answer."""

    text: str


class Say(msgspec.Struct, frozen=True):
    """Text that is streamed."""

    text: str


class CallTool(msgspec.Struct, frozen=True):
    """A call of a real tool; it is the last part of an answer."""

    name: str
    arguments: dict[str, Any]


Part = Think | Say | CallTool
Answer = tuple[Part, ...]


class Situation(msgspec.Struct, frozen=True):
    """What a request says: the prompt, the tool results since then, and the last result before the prompt."""

    prompt: str
    results: tuple[str, ...] = ()
    earlier_result: str = ""


def read_situation(messages: Sequence[Mapping[str, Any]]) -> Situation:
    """Return what the messages of a chat-completion request amount to."""
    texts = [(str(message.get("role")), text_of(message.get("content"))) for message in messages]
    last_user = max((index for index, (role, _) in enumerate(texts) if role == "user"), default=-1)
    earlier = [text for role, text in texts[: max(last_user, 0)] if role == "tool"]
    # A prompt whose turn was stopped at once is sent again together with the next one.
    prompt = texts[last_user][1].split("\n\n")[-1] if last_user >= 0 else ""
    return Situation(
        prompt=prompt,
        results=tuple(text for role, text in texts[last_user + 1 :] if role == "tool"),
        earlier_result=earlier[-1] if earlier else "",
    )


def text_of(content: Any) -> str:
    """Return the text of a message's content, which is a string or a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def file_hash(result: str) -> str:
    """Return the hash that a result of read gives, or ""."""
    found = re.search(r"^hash: ([0-9a-f]{64})$", result, re.MULTILINE)
    return found[1] if found else ""


def number_of_line(result: str, line: str) -> int:
    """Return the number under which a result of read shows a line, 0 when it does not."""
    found = re.search(rf"^ *(\d+)\t{re.escape(line)}$", result, re.MULTILINE)
    return int(found[1]) if found else 0


def exit_code(result: str) -> int | None:
    """Return the exit code that a result of bash ends with, or None when the command did not end by itself."""
    found = re.search(r"\[exit code (\d+)\]\s*$", result)
    return int(found[1]) if found else None


def output_of(result: str) -> str:
    """Return what the command of a result of bash wrote."""
    return re.sub(r"\n?\[[^\n]*\]\s*$", "", result).strip()


def first_line(result: str) -> str:
    """Return the first line of a result that says something."""
    return next((line.strip() for line in result.splitlines() if line.strip()), "nothing")
