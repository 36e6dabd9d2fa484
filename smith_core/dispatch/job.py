"""A validated order for a child: the strict edges of delegation, as a pure function of the call's arguments."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from smith_core.cancel import CancelToken
from smith_core.errors import AgentFailure, failure
from smith_core.patterns import later
from smith_core.report import text_of, texts_of
from smith_core.tools.dispatch import DispatchArguments

MAX_FILES = 200
"""Most paths of one job; a child that needs more is to look for them itself."""

_TRANSCRIPT_NAMES = ("transcript", "raw_transcript", "messages", "history")
_FLAG = "allow_transcript"
_CHAT_ROLES = frozenset({"system", "user", "assistant", "tool"})
_TURN_FIELDS = frozenset({"content", "tool_calls"})
# Several lines of more than one speaker are a transcript, fewer may be a quotation.
_SPEAKER = later(r"^\s*(user|human|assistant|ai|tool|system)\s*:", re.IGNORECASE | re.MULTILINE)
_FEWEST_SPEAKER_LINES = 4


class JobContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a child is told beside its task; `transcript` is set only when the call allowed one."""

    user_request_summary: str = ""
    role_instructions: str = ""
    transcript: str = ""


class DispatchJob(msgspec.Struct, frozen=True, kw_only=True):
    """One order; files are sorted and without doubles, cancel_token hangs below that of the parent turn."""

    job_id: str
    parent_turn_id: str
    target_role: str
    task: str
    context: JobContext
    files: tuple[str, ...]
    model: str | None
    cancel_token: CancelToken


def build_job(arguments: DispatchArguments, job_id: str, parent_turn_id: str, parent_token: CancelToken) -> DispatchJob:
    """Return the job that a call asks for, whose role was found to be allowed; AgentFailure of kind schema if not."""
    task = text_of(arguments.task)
    if not task:
        raise _refused("no_task", "task is empty; write the whole task for someone who sees nothing of this talk")
    context = context_of(arguments.context)
    return DispatchJob(
        job_id=job_id,
        parent_turn_id=parent_turn_id,
        target_role=target_role_of(arguments),
        task=task,
        context=context,
        files=files_of(arguments.files),
        model=text_of(arguments.model) or None,
        cancel_token=parent_token.new_child(),
    )


def target_role_of(arguments: DispatchArguments) -> str:
    """Return the name of the role that a call asks for; whether there is one of that name is not looked at."""
    return text_of(arguments.role).lower()


def context_of(raw: Any) -> JobContext:
    """Return a call's context in its fixed form; AgentFailure of kind schema for a transcript that is not flagged."""
    if raw is None or isinstance(raw, str):
        raw = _decoded(raw or "")
    if is_transcript(raw):
        raise _transcript_refused()
    if isinstance(raw, str):
        return JobContext(user_request_summary=text_of(raw))
    if not isinstance(raw, Mapping):
        return JobContext(user_request_summary="\n".join(texts_of(raw)))
    transcripts = [raw[name] for name in _TRANSCRIPT_NAMES if raw.get(name)]
    is_allowed = raw.get(_FLAG) is True
    told = {name: text_of(raw.get(name)) for name in ("user_request_summary", "role_instructions")}
    if not is_allowed and (transcripts or any(map(is_transcript, raw.values()))):
        raise _transcript_refused()
    known = {*told, *_TRANSCRIPT_NAMES, _FLAG}
    others = text_of({name: value for name, value in raw.items() if name not in known})
    return JobContext(
        user_request_summary="\n".join(filter(None, (told["user_request_summary"], others))),
        role_instructions=told["role_instructions"],
        transcript="\n\n".join("\n".join(texts_of(item)) for item in transcripts),
    )


def is_transcript(value: Any) -> bool:
    """Say whether a value is a conversation as it was, instead of words about it."""
    if isinstance(value, str):
        speakers = [match.lower() for match in _SPEAKER.findall(value)]
        return len(speakers) >= _FEWEST_SPEAKER_LINES and len(set(speakers)) > 1
    if isinstance(value, Sequence):
        return any(
            isinstance(item, Mapping)
            and str(item.get("role")) in _CHAT_ROLES
            and ("content" in item or "tool_calls" in item)
            for item in value
        )
    return False


def files_of(raw: Any) -> tuple[str, ...]:
    """Return the paths, sorted and without doubles; AgentFailure of kind schema for what cannot be a path."""
    files = tuple(sorted(set(texts_of(raw))))
    bad = next((path for path in files if not path.isprintable()), None)
    if bad is not None:
        raise _refused("bad_file", f"files holds {bad[:80]!r}, which is no path; give one path an entry")
    if len(files) > MAX_FILES:
        raise _refused("too_many_files", f"files has {len(files)} paths, {MAX_FILES} are taken; name a folder instead")
    return files


def job_prompt(job: DispatchJob) -> str:
    """Return what the child reads: its task, and behind it the parts that have content, each with a heading."""
    context = job.context
    parts = (
        ("What the user asked for", context.user_request_summary),
        ("What you have to keep to", context.role_instructions),
        ("Files to look at first", "\n".join(f"- {path}" for path in job.files)),
        ("The conversation so far, as material", context.transcript),
    )
    sections = [f"## {title}\n{text}" for title, text in parts if text]
    return "\n\n".join([job.task, *sections, "End by calling `report`."])


def _decoded(text: str) -> Any:
    if text.lstrip()[:1] in ("[", "{"):
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return text
    return text


def _transcript_refused() -> AgentFailure:
    return _refused(
        "raw_transcript",
        "context holds a raw transcript; say in your own words what the child has to know, as user_request_summary and "
        f"role_instructions, or set context.{_FLAG} to true if it really needs the words themselves",
    )


def _refused(code: str, why: str) -> AgentFailure:
    return failure("schema", code, f"not dispatched: {why}", origin="dispatch")
