"""The report: one schema, liberal in what it takes, and strict about an empty summary and ungrounded findings."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.messages import ToolCall
from smith_core.report import LIST_FIELDS, Report, coerce_report, problem_of_report, status_of
from smith_core.tools.executor import decode_arguments
from smith_core.tools.report import REPORT

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def decoded(arguments: Any) -> Report:
    report = decode_arguments(msgspec.json.encode(arguments).decode(), REPORT)
    assert isinstance(report, Report), report
    return report


def test_the_schema_is_generated_from_the_struct() -> None:
    schema = REPORT.schema
    assert list(schema["properties"]) == list(Report.__struct_fields__)
    assert schema["required"] == ["status", "summary"]
    assert sorted(schema["properties"]["status"]["enum"]) == ["blocked", "ok", "partial"]
    assert all(schema["properties"][name]["items"] == {"type": "string"} for name in LIST_FIELDS)


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ("one finding", ("one finding",)),
        (["a", 3, None, "  ", True], ("a", "3", "true")),
        ([{"file": "a.py", "lines": [1, 2]}], ("file: a.py; lines: 1, 2",)),
        ({"claim": "x", "where": {"file": "a.py"}}, ("claim: x; where: file: a.py",)),
        ('["a", "b"]', ("a", "b")),
        ("[a.py] is broken", ("[a.py] is broken",)),
        (None, ()),
    ],
)
def test_lists_are_taken_in_any_form(sent: Any, taken: tuple[str, ...]) -> None:
    report = decoded({"status": "ok", "summary": "s", "findings": sent, "evidence": "a.py:1"})
    assert report.findings == taken
    assert report.changes == report.verification == report.limitations == ()


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("OK", "ok"), ("Completed.", "ok"), ("partially_completed", "partial"), ("in-progress", "partial"),
        ("failed", "blocked"), (False, "blocked"), (True, "ok"), ("great", None), (None, None),
    ],
)  # fmt: skip
def test_other_words_for_a_status(word: Any, status: str | None) -> None:
    assert status_of(word) == status


def test_a_status_that_says_nothing_makes_no_report_better_than_it_is() -> None:
    report = decoded({"status": "great", "summary": "s"})
    assert report.status == "partial"
    assert "great" in report.limitations[0]
    assert decoded({"report": {"status": "done", "summary": " s "}}) == Report(status="ok", summary="s")


@pytest.mark.parametrize("summary", [None, "", "  \n"])
def test_a_summary_is_needed(summary: Any) -> None:
    problem = problem_of_report(decoded({"status": "ok", "summary": summary}), "worker")
    assert problem is not None
    assert "summary" in problem.message


def test_findings_of_an_explorer_need_evidence_and_nobody_elses_do() -> None:
    findings = {"status": "ok", "summary": "s", "findings": "x calls y"}
    problem = problem_of_report(decoded(findings), "explorer")
    assert problem is not None
    assert "evidence" in problem.message
    assert problem_of_report(decoded({**findings, "evidence": [" "]}), "explorer") is not None
    assert problem_of_report(decoded({**findings, "evidence": "x.py:3"}), "explorer") is None
    assert problem_of_report(decoded(findings), "worker") is None
    assert problem_of_report(decoded({"status": "blocked", "summary": "s"}), "explorer") is None


@given(st.dictionaries(st.sampled_from([*Report.__struct_fields__, "report", "more"]), _JSON))
def test_any_object_becomes_a_report_and_stays_the_same_when_it_is_one(sent: dict[str, Any]) -> None:
    report = msgspec.convert(coerce_report(sent), Report)
    assert msgspec.convert(coerce_report(msgspec.to_builtins(report)), Report) == report
    msgspec.json.encode(report)


def test_what_is_no_object_is_refused_with_the_names_of_the_fields() -> None:
    error = decode_arguments(ToolCall("c", "report", "[1]").arguments, REPORT)
    assert "status, summary, changes?" in error.message
