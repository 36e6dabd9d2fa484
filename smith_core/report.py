"""What a child agent reports: the one schema of the `report` tool and of the result that its parent gets."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from smith_core.errors import AgentError
from smith_core.messages import MutationState, Usage
from smith_core.text import clean_text

ReportStatus = Literal["ok", "partial", "blocked"]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `report`. Workers fill changes and verification, explorers findings and evidence."""

    status: Annotated[
        ReportStatus,
        msgspec.Meta(description="ok: all of the task is done. partial: some of it is. blocked: it could not be done."),
    ]
    summary: Annotated[str, msgspec.Meta(description="What came of the task, in one to three sentences.")]
    changes: Annotated[
        tuple[str, ...], msgspec.Meta(description="Worker: each file that was changed, and what changed in it.")
    ] = ()
    verification: Annotated[
        tuple[str, ...], msgspec.Meta(description="Worker: each check that was run, and what came of it.")
    ] = ()
    findings: Annotated[
        tuple[str, ...], msgspec.Meta(description="Explorer: short statements that answer the task.")
    ] = ()
    evidence: Annotated[
        tuple[str, ...],
        msgspec.Meta(
            description="Explorer: where each finding was seen, as file and lines, command or address. Required with "
            "findings."
        ),
    ] = ()
    limitations: Annotated[
        tuple[str, ...], msgspec.Meta(description="What was not done, not looked at or not checked.")
    ] = ()


class DispatchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the parent gets of a child: its report, or an honest account of why there is none.

    recall_key: where the scratchpad has it, "" when it could not be kept. mutation_state: whether its commands and
    edits may have changed something, unknown when one of them was cut off.
    """

    job_id: str
    role: str
    status: ReportStatus
    summary: str
    changes: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    cancelled: bool = False
    error: AgentError | None = None
    usage: Usage = Usage()
    mutation_state: MutationState = "none"
    recall_key: str = ""


LIST_FIELDS: tuple[str, ...] = ("changes", "verification", "findings", "evidence", "limitations")
"""The fields of a report that are lists of short texts."""

_STATUS_WORDS: dict[ReportStatus, frozenset[str]] = {
    "ok": frozenset({"ok", "okay", "success", "successful", "succeeded", "done", "complete", "completed", "finished",
                     "pass", "passed", "true"}),
    "partial": frozenset({"partial", "partially", "partial success", "partially completed", "partially done", "mixed",
                          "incomplete", "in progress", "unfinished", "warning"}),
    "blocked": frozenset({"blocked", "fail", "failed", "failure", "error", "impossible", "unable", "cannot",
                          "cancelled", "false"}),
}  # fmt: skip
_WRAPPERS = frozenset({"report", "arguments", "result", "parameters"})


def coerce_report(raw: Any) -> Any:
    """Return what a model sent as `report` in the form that `Report` takes; what is no object comes back as it is.

    A bare text becomes a list of one, other values become texts, missing fields get their defaults. A status that
    says nothing counts as partial, with a limitation that names it: no report is made better than it is.
    """
    if not isinstance(raw, Mapping):
        return raw
    if len(raw) == 1 and next(iter(raw)) in _WRAPPERS:
        inner = _decoded(next(iter(raw.values())))
        raw = inner if isinstance(inner, Mapping) else raw
    status = status_of(raw.get("status"))
    fields: dict[str, Any] = {name: texts_of(raw.get(name)) for name in LIST_FIELDS}
    if status is None:
        named = text_of(raw.get("status"))
        fields["limitations"] += (f"the report gave {named!r} as its status" if named else "the report gave no status",)
    return {"status": status or "partial", "summary": text_of(raw.get("summary")), **fields}


def status_of(value: Any) -> ReportStatus | None:
    """Return the status that a word means, None when it means none."""
    word = " ".join(text_of(value).lower().replace("_", " ").replace("-", " ").split()).rstrip(".!")
    return next((status for status, words in _STATUS_WORDS.items() if word in words), None)


def texts_of(value: Any) -> tuple[str, ...]:
    """Return a list of texts for a value of any form; blank entries are left out."""
    value = _decoded(value)
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(text for item in items if (text := text_of(item)))


def text_of(value: Any) -> str:
    """Return a value as text: an object as its fields, a list as its items, anything else as JSON writes it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean_text(value).strip()
    if isinstance(value, Mapping):
        fields = (f"{clean_text(str(name)).strip()}: {text}" for name, item in value.items() if (text := text_of(item)))
        return "; ".join(fields)
    if isinstance(value, list | tuple):
        return ", ".join(text for item in value if (text := text_of(item)))
    import json

    return json.dumps(value, ensure_ascii=False)


def problem_of_report(report: Report, role: str) -> AgentError | None:
    """Return what has to be mended before a report of that role counts, None when nothing has to."""
    if not report.summary:
        return _incomplete("summary is empty; say in one to three sentences what came of the task, and report again")
    if role == "explorer" and report.findings and not report.evidence:
        return _incomplete(
            "there are findings without evidence; give at least one entry of evidence (file and lines, command or "
            "address where you saw it), and leave out every finding that you did not see in a source"
        )
    return None


def _incomplete(why: str) -> AgentError:
    return AgentError(kind="schema", code="incomplete_report", message=f"not reported: {why}", origin="report")


def _decoded(value: Any) -> Any:
    """Return what a text holds when it is a JSON list or object, as some models send lists; else the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return value
    return value
