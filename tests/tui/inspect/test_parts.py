"""The pure parts of the inspect view: filter, marks, rows, jumping, and programs outside."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from smith_core.errors import AgentFailure
from smith_core.messages import Message, ToolCall, ToolMetadata
from smith_core.store.interface import StoredMessage
from smith_tui.inspect.jumping import place_of_message
from smith_tui.inspect.matching import keep_matching
from smith_tui.inspect.pieces import blocks_of_message, blocks_of_record, pretty_arguments
from smith_tui.inspect.state import InspectState
from smith_tui.inspect.table import Facts, head_line, kind_of, message_row
from smith_tui.outside import edit_text, page_text, program
from smith_tui.theme import DARK
from smith_tui.transcript.blocks import Notice
from smith_tui.transcript.history import blocks_of
from smith_tui.transcript.ink import make_ink
from smith_tui.widgets.result_list import Frame
from tests.support.edited_history import messages
from tests.support.widget_app import MARKUP, ODD_WIDTHS

INK = make_ink(DARK, "green")
ENTRIES = [StoredMessage(number, message) for number, message in enumerate(messages(), 1)]


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("role:you", [1, 6]),
        ("role:user", [1, 6]),
        ("role:t", [3, 4, 8]),
        ("tool:bash", [2, 4]),
        ("role:agent tool:edit", [7]),
        ("PARSER folded", [1, 2, 5]),
        ("role: tool:", list(range(1, 10))),
        ("漢字 [/]", [6]),
        ("absent", []),
    ],
)
def test_a_filter_keeps_what_has_all_its_parts(query: str, kept: list[int]) -> None:
    assert [entry.sequence for entry in keep_matching(ENTRIES, query)] == kept


def test_marks_and_ranges() -> None:
    state = InspectState(selected=4)
    state.toggle(2)
    state.switch_range(4, range(1, 10))
    state.selected = 6
    assert state.marks(range(1, 10)) == {2, 4, 5, 6}
    # What a filter hides is not touched.
    assert state.marks([2, 5]) == {2, 5}
    state.switch_range(6, range(1, 10))
    assert state.anchor is None and state.marked == {2, 4, 5, 6}
    state.keep_marks({2, 6, 7})
    assert state.marked == {2, 6} and state.forget_marks() and not state.forget_marks()


@pytest.mark.parametrize("width", [1, 2, 12, 30, 56, 63, 64, 80, 90, 200])
def test_rows_are_never_wider_than_their_list(width: int) -> None:
    for text in (*MARKUP, *ODD_WIDTHS, "x" * 300, "漢" * 300):
        message = Message(role="tool", content=text, name=text[:20], ok=False, created_at=1.0)
        row = message_row(message, Facts("12345678", "elided", True, now=2.0), 8, Frame(width, INK, True))
        assert row.cells <= max(width, 60)
        assert head_line(width, 8, INK).cells <= max(width, 100)
    if width >= 90:
        assert row.cells < width


def test_foreign_text_is_shown_to_the_letter() -> None:
    for text in MARKUP:
        message = Message(role="assistant", content="", tool_calls=(ToolCall(text, text, f'{{"a": "{text}"}}'),))
        shown = "\n".join(line.text for block in blocks_of_message(message, "green") for line in block.rows(200, INK))
        raw = "\n".join(line.text for block in blocks_of_record(message, "green") for line in block.rows(200, INK))
        assert f"call {text}" in shown and text.replace("\\", "\\\\") in raw


def test_arguments_that_are_no_json_are_shown_as_they_stand() -> None:
    assert pretty_arguments('{"b":1,"a":"漢"}') == '{\n  "b": 1,\n  "a": "漢"\n}'
    assert pretty_arguments("{broken") == "{broken"


def test_a_message_is_found_between_notices_and_in_a_shorter_transcript() -> None:
    conversation = messages()
    blocks = [Notice("info", "hello"), *blocks_of(conversation, "green"), Notice("info", "late")]
    blocks.insert(3, Notice("warning", "between"))
    found = [blocks[place_of_message(blocks, conversation, index).block] for index in range(len(conversation))]
    assert [type(block).__name__ for block in found] == [
        "Prompt", "Reasoning", "ToolCard", "ToolCard", "Prose", "Prompt", "ToolCard", "ToolCard", "Prose",
    ]  # fmt: skip
    assert [found[index].name for index in (2, 3, 6, 7)] == ["read", "bash", "edit", "edit"]
    tail = blocks_of(conversation[5:], "green")
    assert [place_of_message(tail, conversation, index).block for index in (5, 7, 8)] == [0, 1, 2]
    assert place_of_message([], conversation, 3).block == 0


def test_a_line_for_the_shell_is_no_prompt() -> None:
    line = Message(role="user", content="!make\n\nok", metadata=ToolMetadata(command="make", exit_code=0))
    conversation = (*messages()[:6], line, messages()[8])
    blocks = blocks_of(conversation, "green")
    found = [blocks[place_of_message(blocks, conversation, index).block] for index in (5, 6, 7)]
    assert [type(block).__name__ for block in found] == ["Prompt", "ToolCard", "Prose"]
    assert kind_of(line) == "shell line"


# Programs outside


class Owner:
    def __init__(self) -> None:
        self.suspended = 0

    def suspend(self) -> "nullcontext[None]":
        self.suspended += 1
        return nullcontext()

    def take_signals(self) -> None:
        self.suspended += 10


@contextmanager
def script(folder: Path, text: str) -> Iterator[dict[str, str]]:
    path = folder / "editor with blank"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    yield {"EDITOR": f"'{path}' --flag", "PAGER": f"'{path}'", "PATH": "/usr/bin:/bin", "TMPDIR": str(folder)}


async def test_an_editor_gets_a_private_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = f'stat -c %a "$2" > {seen}; echo "$2" >> {seen}; cat "$2" >> {seen}; printf "new\\ntext [/x]\\n" > "$2"'
    with script(tmp_path, command) as environ:
        assert edit_text(Owner(), "old\r\ntext", ".json", environ) == "new\ntext [/x]"
    mode, path, *text = seen.read_bytes().decode().split("\n")
    assert stat.S_IMODE(int(mode, 8)) == 0o600 and path.endswith(".json")
    assert "\n".join(text) == "old\r\ntext" and not Path(path).exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [("exit 3", "ended with status 3; nothing was changed"), ('printf "\\377" > "$2"', "left no readable text")],
)
async def test_an_editor_that_fails_says_so(tmp_path: Path, command: str, words: str) -> None:
    with script(tmp_path, command) as environ, pytest.raises(AgentFailure, match=words):
        edit_text(Owner(), "old", ".md", environ)


async def test_a_text_with_its_own_last_newline_keeps_it(tmp_path: Path) -> None:
    with script(tmp_path, "true") as environ:
        assert edit_text(Owner(), "a\n", ".md", environ) == "a\n"
        assert edit_text(Owner(), "a", ".md", environ) == "a"


async def test_programs_that_cannot_be_had(tmp_path: Path) -> None:
    with pytest.raises(AgentFailure, match=r"set \$VISUAL to a program"):
        program({"PATH": str(tmp_path)}, ("VISUAL", "EDITOR"), ("vi",))
    with pytest.raises(AgentFailure, match=r"\$EDITOR cannot be read"):
        program({"EDITOR": "'open"}, ("VISUAL", "EDITOR"), ())
    with pytest.raises(AgentFailure, match="cannot be started"):
        page_text(Owner(), "x", {"PAGER": str(tmp_path / "absent")})


def test_a_failed_call_is_told_in_any_width_of_the_kind() -> None:
    result = Message(role="tool", name="web_search", content="x", ok=False)
    rows = [message_row(result, Facts(number="1"), 2, Frame(width, INK, is_selected=False)).text for width in (90, 60)]
    assert all("✗ web_sear" in row or "✗ web_se…" in row for row in rows), rows
    bash = Message(role="tool", name="bash", content="x", ok=False, cancelled=True)
    assert "⊘ bash" in message_row(bash, Facts(number="1"), 2, Frame(56, INK, is_selected=False)).text
