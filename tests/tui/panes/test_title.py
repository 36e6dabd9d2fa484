"""The row that says what a child is and does."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.events import ChildStarted
from smith_core.messages import Usage
from smith_core.report import DispatchResult
from smith_tui.panes.child import ChildState, begun, ended, title
from smith_tui.transcript.cells import cell_width
from smith_tui.widgets.status_line import StatusState
from tests.support.widget_app import MARKUP, ODD_WIDTHS

STARTED = ChildStarted(job_id="j", call_id="d", role="worker", task="Mend the sum\nand test it", model="m")
STATE = begun(STARTED, 2, 100.0)
RESULT = DispatchResult(job_id="j", role="worker", status="partial", summary="half done", usage=Usage(input_tokens=5))


def said(state: ChildState, width: int = 80, now: float = 107.0, *, is_strip: bool = False) -> str:
    return "".join(text for text, _ in title(state, now, width, is_strip=is_strip))


def doing(**fields: object) -> ChildState:
    return msgspec.structs.replace(STATE, status=StatusState(**fields))  # type: ignore[arg-type]


def test_a_title_names_the_role_the_task_the_state_tokens_and_time() -> None:
    running = doing(activity="tool", tool_name="bash", tokens_in=1200, tokens_out=30)
    assert " ".join(said(running).split()) == "● 2 Niobe Mend the sum and test it bash ↑1.2k ↓30 7 s"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (STATE, "waiting"),
        (doing(activity="thinking"), "thinking"),
        (doing(activity="streaming"), "writing"),
        (doing(activity="retry", attempt=2, max_attempts=3, retry_at=110.0), "retry 2/3 in 3 s"),
        (ended(STATE, RESULT, 5.0, 107.0), "partial"),
        (ended(STATE, msgspec.structs.replace(RESULT, cancelled=True), 0.0, 107.0), "cancelled"),
    ],
)
def test_each_state_has_its_words(state: ChildState, words: str) -> None:
    assert f"  {words}  " in said(state)


def test_the_end_keeps_the_larger_count_and_stops_the_clock() -> None:
    over = ended(doing(activity="tool", tokens_in=9, tokens_out=4), RESULT, 5.0, 500.0)
    assert (over.status.tokens_in, over.status.tokens_out) == (9, 4)
    assert said(over, now=900.0).endswith("  5 s")
    assert "— half done" in said(over, 100, is_strip=True)


def test_tokens_leave_first_and_the_state_stays() -> None:
    running = doing(activity="thinking", tokens_in=12_000, tokens_out=3_000)
    assert "↑" in said(running, 60)
    assert "↑" not in said(running, 36)
    assert "7 s" not in said(running, 26)
    assert "thinking" in said(running, 26)


@given(st.text(max_size=60), st.integers(0, 200), st.booleans(), st.sampled_from(["worker", "x", "[/]"]))
def test_a_title_takes_exactly_its_width_whatever_the_task(task: str, width: int, is_strip: bool, role: str) -> None:
    state = msgspec.structs.replace(ended(STATE, RESULT, 5.0, 1.0), task=task, summary=task, role=role)
    for each in (state, msgspec.structs.replace(state, outcome="running")):
        text = said(each, width, is_strip=is_strip)
        assert cell_width(text) == width
        assert all(character >= " " and not "\x7f" <= character <= "\x9f" for character in text)


@pytest.mark.parametrize("text", [*MARKUP, *ODD_WIDTHS])
def test_foreign_text_is_literal(text: str) -> None:
    state = msgspec.structs.replace(STATE, task=text, status=StatusState(activity="tool", tool_name=text))
    shown = said(state, 120)
    assert shown.count(text) == 2 or text in ODD_WIDTHS
    assert text.split()[-1].isascii() is False or shown.count(text.split()[-1]) == 2
