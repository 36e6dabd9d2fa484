from pathlib import Path

import pytest

from smith_core.commands.custom import CommandFolder, command_folders, expand, load_custom, parse_template


@pytest.mark.parametrize(
    ("text", "arguments", "prompt"),
    [
        ("Review $ARGUMENTS now", "a.py b.py", "Review a.py b.py now"),
        ("From $1 to $2", "'one two' three", "From one two to three"),
        ("Only $2", "one", "Only "),
        ("Costs $$5 and $1", "$ARGUMENTS", "Costs $5 and $ARGUMENTS"),
        ("Nothing taken", "extra words", "Nothing taken\n\nextra words"),
        ("Price $10", "x", "Price $10\n\nx"),
        ("Unbalanced $1", "it's", "Unbalanced it's"),
    ],
)
def test_arguments_are_put_in_once(text: str, arguments: str, prompt: str) -> None:
    assert expand(text, arguments) == prompt


def test_the_head_gives_summary_and_usage() -> None:
    template = parse_template('---\ndescription: "Look for leaks"\nargument-hint: FILE\n---\nFind leaks in $1.\n')
    assert (template.summary, template.usage, template.text) == ("Look for leaks", "FILE", "Find leaks in $1.")


def test_a_rule_inside_the_text_is_no_head() -> None:
    assert parse_template("One\n---\ntwo: three\n---\n").text == "One\n---\ntwo: three\n---"


def test_own_files_win_over_those_of_the_project_and_none_over_ours(tmp_path: Path) -> None:
    own, project = command_folders(tmp_path / "config", tmp_path / "project")
    for folder, text in ((own, "mine"), (project, "theirs")):
        folder.path.mkdir(parents=True)
        (folder.path / "check.md").write_text(text)
        (folder.path / "help.md").write_text(text)
    found = load_custom((own, project), frozenset({"help"}))
    assert [(command.name, command.summary) for command in found.commands] == [("check", "mine (yours)")]
    assert len(found.problems) == 2
    assert "/help is a command of Smith" in found.problems[0]


def test_what_is_no_command_is_named_and_the_rest_is_used(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("do it")
    (tmp_path / "Bad Name.md").write_text("x")
    (tmp_path / "empty.md").write_text("---\ndescription: x\n---\n")
    (tmp_path / "large.md").write_text("x" * 100_001)
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "notes.txt").write_text("no command")
    found = load_custom((CommandFolder(tmp_path, "yours"),), frozenset())
    assert [command.name for command in found.commands] == ["good", "latin"]
    assert len(found.problems) == 4


def test_a_missing_folder_is_no_problem(tmp_path: Path) -> None:
    assert load_custom((CommandFolder(tmp_path / "none", "yours"),), frozenset()).problems == ()
