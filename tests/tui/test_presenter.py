"""From events to widgets: every event finds its place, and nothing is shown twice."""

import pytest

from smith_tui.presenter import summarize


@pytest.mark.parametrize(
    ("arguments", "summary"),
    [
        ('{"command": "ls -l", "timeout": 3}', "ls -l"),
        ('{"path": "a.py", "start_line": 2}', "a.py"),
        ('{"other": 1, "more": "x"}', "other=1, more=x"),
        ("", ""),
        ("{}", ""),
        ("[1, 2]", "[1, 2]"),
        ('{"command": ', '{"command": '),
        ('{"command": 5}', "command=5"),
    ],
)
def test_a_call_is_summarized_by_what_says_most(arguments: str, summary: str) -> None:
    assert summarize(arguments) == summary
