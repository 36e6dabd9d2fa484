"""A child's result that is too long for one tool result: shortened in its fields, and still the JSON of a result."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.report import LIST_FIELDS, DispatchResult
from smith_core.tools.base import MODEL_TEXT_LIMIT
from smith_core.tools.dispatch import outcome_of

_TEXTS = st.lists(st.sampled_from(["short", "x" * 30_000, "日" * 50_000, '"\\\n' * 20_000, "\x01" * 9_000]), max_size=6)


def result(**fields: object) -> DispatchResult:
    return DispatchResult(**{"job_id": "j", "role": "explorer", "status": "ok", "summary": "found it", **fields})  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(lists=st.fixed_dictionaries({name: _TEXTS.map(tuple) for name in LIST_FIELDS}), summary=_TEXTS.map("".join))
def test_b18_whatever_a_child_reports_is_json_within_the_limit(lists: dict[str, tuple[str, ...]], summary: str) -> None:
    content = outcome_of(result(summary=summary, **lists)).content
    assert len(content) <= MODEL_TEXT_LIMIT
    read = msgspec.json.decode(content, type=DispatchResult)
    for name in LIST_FIELDS:
        before, after = lists[name], getattr(read, name)
        assert len(after) - len(before) in ((0, 1) if name == "limitations" else (0,))
        assert all(text in after for text in before if text == "short")


def test_b18_what_fits_is_left_as_it_is() -> None:
    whole = result(findings=("x" * 90_000,))
    outcome = outcome_of(whole)
    assert msgspec.json.decode(outcome.content, type=DispatchResult) == whole
    assert outcome.metadata.omitted_chars == 0


@pytest.mark.parametrize(("key", "words"), [("dispatch/j", 'recall(key="dispatch/j")'), ("", "in a new, smaller task")])
def test_b18_a_shortened_result_says_so_and_where_all_of_it_is(key: str, words: str) -> None:
    outcome = outcome_of(result(findings=("f" * 150_000, "seen in a.py"), evidence=("a.py:1",), recall_key=key))
    read = msgspec.json.decode(outcome.content, type=DispatchResult)
    assert read.findings[0].endswith("[… cut; the whole has 150000 characters]")
    assert (read.findings[1], read.evidence, read.summary) == ("seen in a.py", ("a.py:1",), "found it")
    assert words in read.limitations[-1]
    assert outcome.metadata.omitted_chars > 50_000


def test_b18_a_hundred_thousand_entries_are_counted() -> None:
    content = outcome_of(result(findings=("f",) * 100_000)).content
    read = msgspec.json.decode(content, type=DispatchResult)
    assert len(read.findings) == 201
    assert read.findings[-1] == "[… 99800 more entries …]"
