"""Events as lines: what a person follows on standard error, and what `--json` prints."""

import json

import pytest

from smith_core.events import (
    AnyEvent,
    ChildEnded,
    ChildEvent,
    ChildStarted,
    RequestStarted,
    TextDelta,
    ToolEnded,
    ToolOutput,
    ToolStarted,
)
from smith_core.messages import ToolMetadata, ToolResult
from smith_core.report import DispatchResult
from smith_tui.progress import json_line, progress_text

RESULT = DispatchResult(job_id="abcdef", role="explorer", status="partial", summary="some\nof it")


def inside(event: AnyEvent) -> ChildEvent:
    return ChildEvent(job_id="abcdef", role="explorer", event=event)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (ChildStarted(job_id="abcdef", call_id="c", role="explorer", task="find\nx"), "▸ Link abcd begins: find x"),
        (inside(RequestStarted(turn_id="t", model="m")), "  [Link abcd] · asking m"),
        (inside(ToolStarted(call_id="c", name="bash", arguments="{}")), "  [Link abcd] ▸ bash {}"),
        (inside(TextDelta(text="hm")), ""),
        (
            ChildEnded(job_id="abcdef", call_id="c", result=RESULT, duration_s=1.25, tool_calls=1),
            "✓ Link abcd partial after 1.2 s, 1 tool call: some of it",
        ),
        (
            ToolEnded(
                name="dispatch",
                result=ToolResult(call_id="c", ok=True, content="{}", metadata=ToolMetadata(job_id="abcdef")),
            ),
            "",
        ),
        (ToolEnded(name="dispatch", result=ToolResult(call_id="c", ok=False, content="no task")), "  ✗ no task"),
    ],
)
def test_what_a_child_does_is_one_plain_line(event: AnyEvent, line: str) -> None:
    assert progress_text(event) == line


def test_a_childs_events_are_json_with_its_output_as_text() -> None:
    output = json.loads(json_line(inside(ToolOutput(call_id="c", chunk=b"caf\xc3\xa9\xff"))))
    assert output == {
        "type": "child_event",
        "job_id": "abcdef",
        "role": "explorer",
        "event": {"type": "tool_output", "call_id": "c", "text": "café\ufffd"},
    }
    delta = json.loads(json_line(inside(TextDelta(text="hm"))))
    assert delta["event"] == {"type": "text_delta", "text": "hm"}
    ended = json.loads(json_line(ChildEnded(job_id="abcdef", call_id="c", result=RESULT)))
    assert (ended["type"], ended["result"]["status"]) == ("child_ended", "partial")
