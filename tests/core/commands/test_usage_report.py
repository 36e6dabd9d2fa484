from smith_core.commands.usage_report import bar, format_cost, format_seconds, render_usage, usage_rows
from smith_core.errors import normalize
from smith_core.events import (
    ChildEvent,
    MessageAdded,
    RequestStarted,
    RetryWaiting,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from smith_core.llm.model_table import Prices
from smith_core.messages import Message, ToolResult, TurnResult, Usage
from smith_core.session.spending import Spending, TimeSpent


def spent_turn() -> Spending:
    spending = Spending()
    spending.note(TurnStarted(turn_id="t", conversation_id="c", role="orchestrator", text="x"), 10.0)
    spending.note(RequestStarted(turn_id="t", model="m1"), 11.0)
    spending.note(RetryWaiting(layer="transport", attempt=2, max_attempts=3, wait_s=2, error=normalize("x")), 13.0)
    spending.note(RequestStarted(turn_id="t", model="m1", attempt=2), 15.0)
    spending.note(UsageReported(usage=Usage(input_tokens=1000, output_tokens=100, cached_tokens=400, requests=2)), 19.0)
    spending.note(MessageAdded(message=Message(role="assistant", content="")), 19.0)
    for call in ("a", "b"):
        spending.note(ToolStarted(call_id=call, name="dispatch", arguments="{}"), 20.0)
    for job in ("job-1", "job-2"):
        spending.note(ChildEvent(job_id=job, role="explorer", event=RequestStarted(turn_id="t", model="m2")), 21.0)
        usage = Usage(input_tokens=10, output_tokens=5, requests=1)
        spending.note(ChildEvent(job_id=job, role="explorer", event=UsageReported(usage=usage)), 22.0)
    for call, end in (("a", 24.0), ("b", 27.0)):
        spending.note(ToolEnded(name="dispatch", result=ToolResult(call_id=call, ok=True, content="")), end)
    result = TurnResult(turn_id="t", conversation_id="c", role="orchestrator", stop_reason="completed")
    spending.note(TurnEnded(result=result), 28.0)
    return spending


def test_time_is_counted_where_it_goes() -> None:
    assert spent_turn().time == TimeSpent(model=2.0 + 4.0, tools=7.0, waiting=2.0)


def test_children_have_rows_below_their_role_and_prices_count_where_they_are_known() -> None:
    prices = {"m1": Prices(input=1e-3, output=1e-2, cached=1e-4), "m2": None}
    rows = usage_rows(spent_turn().tokens, prices)
    assert [(row.name, row.depth, row.usage.input_tokens) for row in rows] == [
        ("orchestrator", 0, 1000),
        ("explorer", 0, 20),
        ("child job-1", 1, 10),
        ("child job-2", 1, 10),
        ("all together", 0, 1020),
    ]
    assert round(rows[0].cost or 0, 6) == round(600 * 1e-3 + 400 * 1e-4 + 100 * 1e-2, 6)
    assert rows[1].cost is None
    assert rows[-1].cost == rows[0].cost


def test_the_report_is_a_table_with_straight_columns() -> None:
    text = render_usage(usage_rows(spent_turn().tokens, {}), TimeSpent(model=6, tools=7, waiting=2))
    table = text.split("\n\n")[0].splitlines()
    ends = [line.rstrip("█▏▎▍▌▋▊▉ ") for line in table[1:]]
    assert len({len(end) for end in ends}) == 1
    assert "waiting  2.0 s  13 %" in text


def test_nothing_spent_is_said() -> None:
    assert render_usage((), TimeSpent()) == "nothing was asked of a model yet"


def test_small_shares_are_seen_and_none_is_none() -> None:
    assert bar(0.0001) == "▏"
    assert bar(0.0) == ""
    assert bar(1.0) == "█" * 20
    assert (format_cost(0.00123), format_cost(12.3), format_cost(None)) == ("$0.0012", "$12.30", "")
    assert (format_seconds(59.94), format_seconds(61)) == ("59.9 s", "1 min 01 s")
