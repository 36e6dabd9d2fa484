"""What the facade lets a small model say: nothing but what exists, and no edit of a file that was not read."""

from pathlib import Path
from typing import Any

import pytest

from smith_core.embedded.facade.actions import (
    next_actions,
    offered_tools,
    wire_call,
    wire_step,
)
from smith_core.embedded.facade.checks import honest_ending, objection_to, reason_to_stop
from smith_core.embedded.facade.edits import UnusableActionError, replaceable
from smith_core.embedded.facade.prompt import build_messages
from smith_core.embedded.facade.situation import read_situation
from tests.support.facade_requests import REPORT_TOOL, edit_result, our_tools, read_result, request

SOURCE = "def add(a, b):\n    return a - b\n\n\nprint(add(1, 2))\n"
READ = ("read", {"path": "calc.py"}, read_result("calc.py", SOURCE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "calc.py").write_text(SOURCE)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "notes.md").write_text("x\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("")
    return tmp_path


def actions(asked: dict[str, Any], **how: bool) -> list[dict[str, Any]]:
    return next_actions(read_situation(asked), offered_tools(asked), **how)


def named(schemas: list[dict[str, Any]]) -> set[str]:
    return {schema["properties"]["tool"]["const"] for schema in schemas}


def the(schemas: list[dict[str, Any]], tool: str) -> dict[str, Any]:
    return next(schema["properties"] for schema in schemas if schema["properties"]["tool"]["const"] == tool)


def test_a_path_to_read_is_one_that_exists_and_what_the_task_names_comes_first(folder: Path) -> None:
    found = actions(request(folder, "what is in sub/notes.md and in missing.txt?"))
    assert the(found, "read")["path"] == {"enum": ["sub/notes.md", "calc.py"]}


def test_there_is_no_edit_before_the_file_was_read_in_this_turn(folder: Path) -> None:
    assert not named(actions(request(folder, "fix calc.py"))) & {"replace", "append", "rewrite", "insert", "delete"}
    after = actions(request(folder, "fix calc.py", READ))
    assert named(after) >= {"replace", "append", "rewrite", "insert", "delete", "answer"}
    assert the(after, "rewrite")["from"]["enum"][1] == "2|    return a - b"


def test_a_command_that_may_change_files_makes_what_was_read_stale(folder: Path) -> None:
    looked = actions(request(folder, "fix calc.py", READ, ("bash", {"command": "ls"}, "calc.py\n[exit code 0]")))
    changed = actions(request(folder, "fix calc.py", READ, ("bash", {"command": "sed -i s/a/b/ *"}, "[exit code 0]")))
    assert "rewrite" in named(looked)
    assert "rewrite" not in named(changed)
    assert "calc.py" in the(changed, "read")["path"]["enum"]


def test_an_answer_about_a_file_comes_only_after_a_look(folder: Path) -> None:
    assert "answer" not in named(actions(request(folder, "what does calc.py do?")))
    assert "answer" in named(actions(request(folder, "what is a decorator?")))


def test_a_child_role_ends_by_its_report(folder: Path) -> None:
    tools = [*our_tools(), REPORT_TOOL]
    assert "answer" not in named(actions(request(folder, "look at calc.py", READ, tools=tools)))
    ended = actions(request(folder, "look at calc.py", READ, tools=tools), only_end=True)
    assert named(ended) == {"report"}
    assert ended[0]["required"] == ["tool", "status", "summary"]


def test_tools_beside_the_common_ones_come_when_the_task_names_them_or_there_is_no_shell(folder: Path) -> None:
    web = {"function": {"name": "web_search", "parameters": {"type": "object", "properties": {"query": {}}}}}
    assert "web_search" not in named(actions(request(folder, "fix calc.py", tools=[*our_tools(), web])))
    assert "web_search" in named(actions(request(folder, "search the web", tools=[*our_tools(), web])))
    assert "web_search" in named(actions(request(folder, "fix calc.py", tools=[web])))


def test_no_tool_may_be_called_when_the_request_forbids_it(folder: Path) -> None:
    assert named(actions(request(folder, "fix calc.py", tool_choice="none"))) == {"answer"}


def test_a_new_file_gets_the_name_that_the_task_gives_it(folder: Path) -> None:
    assert the(actions(request(folder, "write test_calc.py")), "write")["path"] == {"enum": ["test_calc.py"]}
    assert "write" not in named(actions(request(folder, "what is wrong in calc.py?")))


def test_an_edit_carries_the_hash_and_the_lines_of_the_last_read(folder: Path) -> None:
    situation = read_situation(request(folder, "fix calc.py", READ))
    call = wire_call(
        {"tool": "rewrite", "from": "2|    return a - b", "to": 2, "text": ["    return a + b"]}, situation
    )
    assert call == (
        "edit",
        {
            "path": "calc.py",
            "operation": "replace",
            "start_line": 2,
            "end_line": 2,
            "text": "    return a + b\n",
            "hash": "a" * 64,
        },
    )


def test_an_edit_takes_the_hash_and_the_lines_that_the_edit_before_left(folder: Path) -> None:
    arguments = {"path": "calc.py", "operation": "insert", "start_line": 0, "text": "# top\n", "hash": "a" * 64}
    situation = read_situation(request(folder, "fix", READ, ("edit", arguments, edit_result("calc.py"))))
    _, call = wire_call({"tool": "replace", "old": "    return a - b", "new": "return a + b"}, situation)
    assert (call["start_line"], call["text"], call["hash"]) == (3, "    return a + b\n", "b" * 64)


def test_a_rewritten_block_takes_its_old_lines_with_it(folder: Path) -> None:
    situation = read_situation(request(folder, "fix calc.py", READ))
    text = ["1|def add(a, b):", "2|    return a + b"]
    _, call = wire_call({"tool": "rewrite", "from": "1|def add(a, b):", "to": 1, "text": text}, situation)
    assert (call["start_line"], call["end_line"]) == (1, 2)
    assert call["text"] == "def add(a, b):\n    return a + b\n"


def test_a_name_is_replaced_wherever_it_stands_and_only_as_a_whole_word(folder: Path) -> None:
    text = "def run():\n    return rerun\n\n\nrun()\nend\n"
    situation = read_situation(request(folder, "rename run", ("read", {"path": "a.py"}, read_result("a.py", text))))
    _, call = wire_call({"tool": "replace", "old": "run", "new": "go"}, situation)
    assert (call["start_line"], call["end_line"]) == (1, 5)
    assert call["text"] == "def go():\n    return rerun\n\n\ngo()\n"
    with pytest.raises(UnusableActionError):
        wire_call({"tool": "replace", "old": "nowhere", "new": "go"}, situation)


def test_what_the_task_quotes_is_offered_for_replacement(folder: Path) -> None:
    situation = read_situation(request(folder, "", READ))
    view = situation.views["calc.py"]
    quoted = replaceable(view, "in calc.py change `a - b` to `a + b`")
    assert quoted == [({"enum": ["a - b"]}, {"enum": ["a + b"]})]
    ((names, new_name),) = replaceable(view, "Rename the function add to total in calc.py")
    assert (names, new_name["pattern"][0]) == ({"enum": ["add"]}, "^")
    ((lines, _),) = replaceable(view, "fix it")
    assert lines == {"enum": ["    return a - b", "print(add(1, 2))"]}


def test_steps_are_told_back_in_the_models_own_words(folder: Path) -> None:
    arguments = {"path": "calc.py", "operation": "replace", "start_line": 2, "text": "    return a + b\n", "hash": "-"}
    situation = read_situation(request(folder, "fix", READ, ("edit", arguments, edit_result("calc.py"))))
    assert [wire_step(step) for step in situation.steps] == [
        '{"tool":"read","path":"calc.py"}',
        '{"tool":"rewrite","path":"calc.py","from":"2|    return a - b","to":2,"text":["    return a + b"]}',
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "verdict"),
    [
        ("read", {"path": "calc.py"}, "repeated"),
        ("write", {"path": "calc.py", "content": "x\n"}, "mistaken"),
        ("write", {"path": "sub/notes.md", "content": "x\n"}, "unread"),
        ("write", {"path": "new.py", "content": "def (\n"}, "mistaken"),
        ("edit", {"path": "calc.py", "operation": "delete", "start_line": 2, "end_line": 2}, "mistaken"),
        ("edit", {"path": "calc.py", "operation": "insert", "start_line": 5, "text": "x = 1\n"}, None),
        ("write", {"path": "new.py", "content": "x = 1\n"}, None),
    ],
)
def test_a_call_that_cannot_help_is_objected_to(
    folder: Path, tool: str, arguments: dict[str, Any], verdict: str | None
) -> None:
    objection = objection_to(tool, arguments, read_situation(request(folder, "fix calc.py", READ)))
    assert (objection.verdict if objection else None) == verdict


def test_an_edit_that_undoes_an_earlier_one_ends_the_work(folder: Path) -> None:
    there = {"path": "calc.py", "operation": "replace", "start_line": 2, "text": "    return a + b\n", "hash": "a" * 64}
    back = {**there, "text": "    return a - b\n", "hash": "b" * 64}
    situation = read_situation(request(folder, "fix", READ, ("edit", there, edit_result("calc.py"))))
    objection = objection_to("edit", back, situation)
    assert objection is not None
    assert objection.verdict == "repeated"


def test_going_round_in_circles_ends_with_the_truth(folder: Path) -> None:
    failing = ("bash", {"command": "false"}, "boom\n[exit code 1]")
    assert reason_to_stop(read_situation(request(folder, "run it", failing))) == ""
    situation = read_situation(request(folder, "run it", failing, failing))
    reason = reason_to_stop(situation)
    assert reason
    text = honest_ending(situation, reason)
    assert "could not finish" in text
    assert "I changed no file" in text


def test_a_request_of_odd_form_is_read_without_complaint() -> None:
    odd = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}, {"role": "tool"}, "x"]}
    situation = read_situation(odd)
    assert (situation.task, situation.steps, situation.listing) == ("hi", (), ())


def test_a_long_turn_still_fits_into_the_models_window(folder: Path) -> None:
    text = "\n".join(f"line {number} " + "x" * 150 for number in range(60))
    steps = [("read", {"path": f"f{number}"}, read_result(f"f{number}", text)) for number in range(9)]
    asked = request(folder, "look", *steps)
    messages = build_messages(read_situation(asked), ["bash", "read", "edit", "write"], {})
    assert sum(len(message["content"]) for message in messages) < 20_000
    assert "line 59" in messages[-1]["content"]
    assert "(seen)" in [message["content"] for message in messages]


@pytest.mark.parametrize(
    ("task", "may_edit"),
    [
        ("what is in calc.py?", False),
        ("Explain calc.py", False),
        ("calc.py subtracts, fix it", True),
        ("what is wrong in calc.py? fix it", True),
        ("Can you rename add in calc.py?", True),
    ],
)
def test_a_question_is_not_answered_by_an_edit(folder: Path, task: str, may_edit: bool) -> None:
    assert ("append" in named(actions(request(folder, task, READ)))) == may_edit


def test_what_is_to_be_run_is_not_answered_from_reading_it(folder: Path) -> None:
    ran = ("bash", {"command": "python3 calc.py"}, "-1\n[exit code 0]")
    assert "answer" not in named(actions(request(folder, "Run calc.py and tell me its output", READ)))
    assert "answer" in named(actions(request(folder, "Run calc.py and tell me its output", ran)))


@pytest.mark.parametrize("task", ["fix the code in calc.py", "list the files", "make a map of all symbols"])
def test_code_tools_are_offered_beside_a_shell_only_when_the_task_names_them(folder: Path, task: str) -> None:
    more = request(folder, task)
    tools = [tool for tool in more["tools"] if not tool["function"]["name"].startswith("code_")]
    assert len(tools) == len(more["tools"]) - 5
    asked = {**more, "tools": tools}
    assert named(actions(more)) == named(actions(asked))
    assert build_messages(read_situation(more), offered_tools(more), {}) == build_messages(
        read_situation(asked), offered_tools(asked), {}
    )
    by_name = {**request(folder, f"{task} with code_grep"), "tools": more["tools"]}
    assert "code_grep" in named(actions(by_name))
