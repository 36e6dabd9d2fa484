import json

import pytest

from smith_core.errors import AgentError
from smith_core.linediff import unified_diff
from smith_core.messages import ToolMetadata, ToolResult
from smith_tui.transcript.cards import DIFF_ROWS, PREVIEW_ROWS, ToolCard, has_gap_after
from smith_tui.transcript.diffs import DiffLine, count_changes, parse_diff
from smith_tui.transcript.summaries import format_duration, summarize
from tests.support.markdown_examples import FOREIGN
from tests.support.transcript_rows import INK, texts

DIFF = """\
--- a/x
+++ b/x
@@ -9,4 +9,4 @@
 same
-old
+new
+more
-- sql
@@ -40 +40 @@
-a
+b
\\ No newline at end of file
"""


def _card(name: str = "bash", arguments: str = '{"command": "make test"}', **fields: object) -> ToolCard:
    card = ToolCard(name, arguments, "green")
    if fields:
        card.end(ToolResult(call_id="1", **{"ok": True, "content": "", **fields}))  # type: ignore[arg-type]
    return card


def _shown(card: ToolCard, width: int = 60) -> list[str]:
    return texts(card.rows(width, INK))


def test_a_running_call_shows_its_last_output() -> None:
    card = _card()
    card.show_output("\n".join(str(number) for number in range(100)))
    rows = _shown(card)
    assert rows[0] == "  ● bash  make test" + " " * 33 + "running"
    assert rows[1:] == [f"  │ {number}" for number in range(94, 100)]


def test_a_failed_command_says_how() -> None:
    card = _card(ok=False, content="boom", metadata=ToolMetadata(exit_code=2, duration_s=3.21))
    assert _shown(card) == ["  ✗ bash  make test" + " " * 27 + "exit 2  3.2 s", "  │ boom"]


def test_b18_the_end_of_long_output_is_what_is_seen() -> None:
    content = "\n".join(str(number) for number in range(300_000)) + "\nFAILED"
    rows = _shown(_card(ok=False, content=content, metadata=ToolMetadata(exit_code=3)))
    assert "exit 3" in rows[0]
    assert rows[1] == "  │ … 299,991 lines above"
    assert rows[-1] == "  │ FAILED"
    assert len(rows) == PREVIEW_ROWS["bash"] + 2


def test_the_exit_code_is_said_once() -> None:
    error = AgentError(kind="tool", code="exit_status", message="its output says why")
    card = _card(ok=False, content="boom\n[exit code 2]\n", error=error, metadata=ToolMetadata(exit_code=2))
    assert _shown(card)[1:] == ["  │ boom"]
    silent = _card(ok=False, content="[exit code 2]", error=error, metadata=ToolMetadata(exit_code=2))
    assert _shown(silent)[1:] == ["  │ its output says why"]
    assert _shown(_card(content="[exit code 0]", metadata=ToolMetadata(exit_code=0))) == ["  ✓ bash  make test"]


def test_cancelled_and_timed_out_calls_say_so() -> None:
    assert "⊘ bash" in _shown(_card(ok=False, cancelled=True))[0]
    assert "cancelled" in _shown(_card(ok=False, cancelled=True))[0]
    assert "timed out" in _shown(_card(ok=False, metadata=ToolMetadata(timed_out=True)))[0]


def test_a_failure_without_output_shows_its_message() -> None:
    error = AgentError(kind="tool", code="missing", message="x.py does not exist")
    rows = _shown(_card("read", '{"path": "x.py"}', ok=False, content="", error=error))
    assert rows == ["  ✗ read  x.py", "  │ x.py does not exist"]


def test_an_edit_shows_its_diff_with_line_numbers() -> None:
    card = _card(
        "edit",
        '{"path": "x", "operation": "replace", "start_line": 9, "end_line": 10}',
        content="ok",
        metadata=ToolMetadata(diff=DIFF),
    )
    assert _shown(card, 40) == [
        "  ✓ edit  x:9-10  replace        +3  −3",
        "  │   9   same",
        "  │  10 - old",
        "  │  10 + new",
        "  │  11 + more",
        "  │  11 - - sql",
        "  │     ⋯",
        "  │  40 - a",
        "  │  40 + b",
    ]


def test_a_diff_is_counted_without_its_headers() -> None:
    assert count_changes(DIFF) == ("3", "3")
    assert parse_diff(DIFF)[0] == DiffLine(" ", 9, "same")
    assert parse_diff("") == parse_diff("--- a\n+++ b\n") == []


def test_an_unfolded_card_shows_arguments_and_everything() -> None:
    card = _card("read", '{"path": "x.py", "start_line": 3}', content="one\ntwo")
    assert card.can_fold
    assert _shown(card) == ["  ✓ read  x.py:3"]
    card.is_expanded = True
    assert _shown(card) == ["  ✓ read  x.py:3", "  │ path: x.py", "  │ start_line: 3", "  │ one", "  │ two"]


@pytest.mark.parametrize("text", FOREIGN)
def test_b19_foreign_text_is_literal_in_every_part_of_a_card(text: str) -> None:
    quoted = text.replace("\\", "\\\\")
    card = ToolCard(text, f'{{"command": "{quoted}"}}', "green")
    card.show_output(text)
    assert _shown(card, 90)[1] == f"  │ {text}"
    card.end(ToolResult(call_id="1", ok=False, content=text))
    rows = _shown(card, 90)
    assert f"✗ {text}  command={text}" in rows[0]
    assert rows[1] == f"  │ {text}"


@pytest.mark.parametrize("width", [1, 2, 3, 8, 11, 12, 13, 20, 33])
def test_b22_cards_fit_any_width(width: int) -> None:
    card = _card(
        "bash",
        '{"command": "echo 漢字 👩‍💻"}',
        ok=False,
        content="漢字\t👩‍💻 e\u0301",
        metadata=ToolMetadata(exit_code=1),
    )
    diff = _card("edit", '{"path": "漢字"}', metadata=ToolMetadata(diff=DIFF))
    for shown in (card, diff):
        assert all(line.cells <= max(2, width) for line in shown.rows(width, INK))


@pytest.mark.parametrize(
    ("name", "arguments", "summary"),
    [
        ("bash", '{"command": "a\\n\\n  b\\tc"}', "a ↵ b\tc"),
        ("read", '{"path": "x", "start_line": 1, "end_line": 9}', "x:1-9"),
        ("code_grep", '{"pattern": "p", "path": "src", "glob": "*.py"}', "p  in src *.py"),
        ("git", '{"subcommand": "log", "args": ["-n", "3"]}', "log -n 3"),
        ("git", '{"subcommand": "log", "args": ["--format=%h %s", "--", ""]}', "log '--format=%h %s' -- ''"),
        ("git", '{"subcommand": "diff", "args": "--stat main"}', "diff --stat main"),
        ("git", '{"subcommand": "status"}', "status"),
        ("web_search", '{"query": "what is [/x]?", "max_results": 3}', "what is [/x]?  at most 3"),
        ("web_search", '{"query": "q"}', "q"),
        ("web_fetch", '{"url": "https://example.org/[red]"}', "https://example.org/[red]"),
        ("dispatch", '{"role": "worker", "task": "do it"}', "worker: do it"),
        ("code_map", "{}", "."),
        ("code_files", '{"query": "usr", "path": "src"}', "usr  in src"),
        ("code_symbols", '{"query": "execute", "kind": "function"}', "execute  function"),
        ("code_symbols", '{"query": "execute", "kind": null}', "execute"),
        ("code_outline", '{"path": "a.py"}', "a.py"),
        ("other", '{"a": 1, "b": [true], "c": "d"}', "a=1  b=[true]  c=d"),
        ("bash", '{"command": ["a"]}', '["a"]'),
        ("bash", "not json", "not json"),
        ("bash", "[1]", "[1]"),
        ("bash", "", ""),
    ],
)
def test_summaries_say_what_matters(name: str, arguments: str, summary: str) -> None:
    assert summarize(name, arguments) == summary


def test_a_title_names_the_file_however_much_is_written_to_it() -> None:
    arguments = json.dumps({"content": "text\n" * 100_000, "path": "~/.profile"})
    assert summarize("write", arguments) == "~/.profile"
    assert "~/.profile" in _shown(_card("write", arguments))[0]


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        (0, 9_000, ("9000", "0")),
        (9_000, 0, ("0", "9000")),
        (300, 9_001, ("4848…", "300…")),
    ],
)
def test_lines_that_a_diff_leaves_out_are_counted_too(old: int, new: int, counts: tuple[str, str]) -> None:
    before, after = [f"old {number}\n" for number in range(old)], [f"new {number}\n" for number in range(new)]
    diff = unified_diff(before, after, "f")
    assert count_changes(diff) == counts
    card = _card("write", "{}", metadata=ToolMetadata(diff=diff))
    assert f"{old + new - DIFF_ROWS:,} more lines" in _shown(card)[-1]


def test_durations_are_readable() -> None:
    assert [format_duration(seconds) for seconds in (0.004, 0.9999, 3.21, 59.96, 125)] == [
        "4 ms",
        "1.0 s",
        "3.2 s",
        "1 m 00 s",
        "2 m 05 s",
    ]


def test_single_rows_stand_close_together() -> None:
    assert not has_gap_after("read", "read")
    assert has_gap_after("bash", "read")
    assert has_gap_after("read", "edit")
