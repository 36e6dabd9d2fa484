"""The card of a dispatch call: who, what for, what came of it, and the way to the child's transcript."""

import json

import pytest

from smith_core.errors import AgentError
from smith_core.messages import Message, ToolCall, ToolMetadata, ToolResult
from smith_tui.theme import DARK
from smith_tui.transcript.dispatch_card import LINK, DispatchCard
from smith_tui.transcript.history import blocks_of, card_after
from smith_tui.transcript.ink import make_ink
from tests.support.transcript_rows import INK, texts
from tests.support.widget_app import MARKUP

ARGUMENTS = json.dumps({"role": "explorer", "task": "Find the rule\nand name it", "files": ["prices.py"]})
REPORT = {
    "job_id": "j1",
    "role": "explorer",
    "status": "partial",
    "summary": "It rounds half up.",
    "findings": ["cart.py cuts off"],
    "evidence": ["cart.py:40"],
}


def card(content: str | None = None, ok: bool = True, cancelled: bool = False, job_id: str = "j1") -> DispatchCard:
    made = card_after([], "dispatch", ARGUMENTS, "amber")
    assert isinstance(made, DispatchCard)
    if content is not None:
        metadata = ToolMetadata(job_id=job_id, duration_s=3.0)
        made.end(ToolResult(call_id="d", ok=ok, content=content, cancelled=cancelled, metadata=metadata))
    return made


def test_a_running_call_names_the_role_and_the_task_in_the_roles_colour() -> None:
    running = card()
    assert texts(running.rows(60, INK))[0].endswith("waiting")
    running.job_id = "j1"
    assert running.palette == "violet"
    (title,) = texts(running.rows(60, INK))
    assert title == "  ● Link  Find the rule ↵ and name it".ljust(52) + "running"
    assert running.link == ""


def test_a_finished_call_shows_status_summary_and_the_way_to_the_transcript() -> None:
    done = card(json.dumps(REPORT))
    title, *body = texts(done.rows(60, INK))
    assert title.split() == ["◐", "Link", "Find", "the", "rule", "↵", "and", "name", "it", "partial", "3.0", "s"]
    assert body == ["  │ It rounds half up.", f"  │ {LINK}"]
    assert done.link == "j1"
    assert "cart.py cuts off" in done.text
    done.is_expanded = True
    whole = "\n".join(texts(done.rows(60, INK)))
    assert "findings\n  │ • cart.py cuts off\n  │ evidence\n  │ • cart.py:40" in whole
    assert whole.endswith(LINK)


@pytest.mark.parametrize(
    ("content", "ok", "cancelled", "word"),
    [
        (json.dumps({**REPORT, "status": "ok"}), True, False, "ok"),
        (json.dumps({**REPORT, "status": "blocked"}), True, False, "blocked"),
        (json.dumps({**REPORT, "status": "blocked", "cancelled": True}), False, True, "cancelled"),
        ("worker may not dispatch to orchestrator", False, False, "failed"),
        ("", False, True, "cancelled"),
        ('{"status": 7}', True, False, "ok"),
        ("[" * 5000, True, False, "ok"),
    ],
)
def test_each_end_has_its_word(content: str, ok: bool, cancelled: bool, word: str) -> None:
    assert word in texts(card(content, ok, cancelled).rows(60, INK))[0]


def test_a_refused_call_says_why_and_opens_nothing() -> None:
    refused = card()
    error = AgentError(kind="policy", code="dispatch_denied", message="worker may not dispatch")
    refused.end(ToolResult(call_id="d", ok=False, content="", error=error))
    assert "worker may not dispatch" in "\n".join(texts(refused.rows(60, INK)))
    assert refused.link == ""


def test_a_stored_call_opens_its_child_too() -> None:
    messages = [
        Message(role="assistant", tool_calls=(ToolCall("d1", "dispatch", ARGUMENTS), ToolCall("d2", "dispatch", "[]"))),
        Message(role="tool", name="dispatch", tool_call_id="d1", content=json.dumps(REPORT),
                metadata=ToolMetadata(job_id="j1")),
    ]  # fmt: skip
    first, second = blocks_of(messages, "green")
    assert (first.link, second.link) == ("j1", "")
    assert not second.has_gap


@pytest.mark.parametrize("text", MARKUP)
def test_b19_foreign_text_is_literal(text: str) -> None:
    foreign = card_after([], "dispatch", json.dumps({"role": text, "task": text}), "green")
    report = {**REPORT, "summary": text, "findings": [text]}
    foreign.end(ToolResult(call_id="d", ok=True, content=json.dumps(report)))
    foreign.is_expanded = True
    assert "\n".join(texts(foreign.rows(100, make_ink(DARK, "green")))).count(text) == 5
