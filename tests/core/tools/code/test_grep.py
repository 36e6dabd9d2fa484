import asyncio
import os
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.tools.code.grep_text import PAGE_CHARS
from tests.support.code_tools import explore, fake_program, make_files
from tests.support.file_tools import ordinary_user_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_files(
        tmp_path / "project",
        {
            "src/runner.py": "import os\n\n\ndef execute(call):\n    return call\n",
            "src/turn.py": "from runner import execute\n\nexecute(1)\n",
            "tests/test_runner.py": "def test_it():\n    execute(2)\n",
            "docs/notes.md": "execute is the way\n",
            ".github/ci.yml": "run: execute\n",
            ".gitignore": "*.log\nbuild/\n",
            "out.log": "execute\n",
            "build/gen.py": "execute\n",
            ".git/config": "execute\n",
            "node_modules/x/i.js": "execute\n",
        },
    )


def _files(content: str) -> list[str]:
    return [line for line in content.split("\n")[1:] if line and line[0] not in " [" and ":" not in line]


async def test_definitions_come_first_and_ignored_files_are_left_out(folder: Path) -> None:
    outcome = await explore("code_grep", folder, pattern="execute")
    assert outcome.ok and outcome.mutation_state == "none"
    assert _files(outcome.content) == [
        "src/runner.py",
        "src/turn.py",
        ".github/ci.yml",
        "docs/notes.md",
        "tests/test_runner.py",
    ]
    assert "    4: def execute(call):" in outcome.content
    assert outcome.content.startswith("6 matching lines in 5 files")


@pytest.mark.parametrize("is_git", [True, False])
async def test_version_control_is_never_searched_and_ignore_files_hold_in_git_and_outside(
    folder: Path, is_git: bool
) -> None:
    outcome = await explore("code_grep", folder, pattern="execute", glob="**", is_git=is_git)
    assert "out.log" not in outcome.content and ".git/config" not in outcome.content and "build/" not in outcome.content
    assert ("node_modules" in outcome.content) is is_git


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ({"glob": "*.md"}, ["docs/notes.md"]),
        ({"glob": "*.log"}, []),
        ({"glob": "src/**/t*.py"}, ["src/turn.py"]),
        ({"glob": "!*.py"}, [".github/ci.yml", "docs/notes.md"]),
        ({"path": "src", "glob": "src/*.py"}, ["src/runner.py", "src/turn.py"]),
        ({"path": "docs/notes.md"}, ["docs/notes.md"]),
        ({"path": "build"}, ["build/gen.py"]),
        ({"path": "~no", "glob": ""}, []),
    ],
)
async def test_place_and_glob_narrow_the_search(folder: Path, arguments: dict, files: list[str]) -> None:
    outcome = await explore("code_grep", folder, pattern="execute", **arguments)
    assert sorted(_files(outcome.content)) == files


async def test_a_place_outside_the_project_is_searched_as_read_reads_there(folder: Path, tmp_path: Path) -> None:
    make_files(tmp_path / "other", {"a.txt": "needle\n"})
    outcome = await explore("code_grep", folder, pattern="needle", path=str(tmp_path / "other"))
    assert f"{tmp_path}/other/a.txt\n    1: needle" in outcome.content


async def test_context_is_shown_around_matches(folder: Path) -> None:
    outcome = await explore("code_grep", folder, pattern="def execute", context=1)
    assert "    3- \n    4: def execute(call):\n    5-     return call" in outcome.content


@pytest.mark.parametrize("context", [-5, 0, 10_000, None])
async def test_any_context_is_taken(folder: Path, context: int | None) -> None:
    assert "def execute" in (await explore("code_grep", folder, pattern="def execute", context=context)).content


@pytest.mark.parametrize("text", ["--help", "-e", "--pre=touch PWNED", "-f/etc/passwd", "--", "--files", "!x"])
async def test_no_value_becomes_an_option(folder: Path, text: str) -> None:
    make_files(folder, {"odd.txt": f"a {text} b\n", f"{text.replace('/', '_')}.txt": "found here\n"})
    assert f"    1: a {text} b" in (await explore("code_grep", folder, pattern=text)).content
    inside = await explore("code_grep", folder, pattern="found here", path=f"{text.replace('/', '_')}.txt")
    assert "    1: found here" in inside.content
    assert (await explore("code_grep", folder, pattern="found", glob=text)).content
    assert not (await explore("code_grep", folder, pattern="found", path=f"{text}/x")).ok
    assert not list(folder.rglob("PWNED"))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("call(", "unclosed group"), ("[z", "unclosed character class"), ("(?=x)", "look-around"), ("*", "repetition")],
)
async def test_an_invalid_expression_is_named_and_searched_for_as_text(folder: Path, pattern: str, words: str) -> None:
    make_files(folder, {"f.txt": f"here {pattern} it is\n"})
    outcome = await explore("code_grep", folder, pattern=pattern)
    assert outcome.ok
    assert words in outcome.content and "as plain text" in outcome.content
    assert f"    1: here {pattern} it is" in outcome.content


async def test_an_expression_over_several_lines_matches(folder: Path) -> None:
    for pattern in ("import os\\n\\n", "import os\n\n", r"os\s+def"):
        assert "src/runner.py" in (await explore("code_grep", folder, pattern=pattern)).content or "\\s" in pattern


@pytest.mark.parametrize("pattern", ["", "a\0b", "\ud800", "x" * 10_001])
async def test_a_pattern_that_no_program_can_be_given_is_refused(folder: Path, pattern: str) -> None:
    outcome = await explore("code_grep", folder, pattern=pattern)
    assert outcome.error is not None and outcome.error.kind == "schema"


async def test_the_other_case_is_found_and_said_when_nothing_else_is(folder: Path) -> None:
    outcome = await explore("code_grep", folder, pattern="EXECUTE IS")
    assert "when case is ignored" in outcome.content and "docs/notes.md" in outcome.content
    nothing = await explore("code_grep", folder, pattern="zebra")
    assert nothing.ok and "no line matches 'zebra'" in nothing.content


async def test_an_endless_line_is_cut_around_the_match_and_its_length_is_said(folder: Path) -> None:
    make_files(folder, {"big.js": "x" * 600_000, "mid.js": "y" * 300_000 + "needle" + "é" * 150_000 + "\nend\n"})
    outcome = await explore("code_grep", folder, pattern="x", path="big.js")
    assert "600000 bytes" in outcome.content and len(outcome.content) < 1_000
    outcome = await explore("code_grep", folder, pattern="needle")
    assert "yyyneedleééé" in outcome.content and "600006 bytes" in outcome.content
    assert "\ufffd" not in outcome.content and len(outcome.content) < 1_000


async def test_many_matches_keep_to_the_budget_and_say_what_is_left_out(tmp_path: Path) -> None:
    files = {f"pkg{n % 5}/f{n}.py": "\n".join(f"value_{n}_{k} = needle" for k in range(30)) for n in range(400)}
    folder = make_files(tmp_path / "p", files)
    outcome = await explore("code_grep", folder, pattern="needle")
    assert outcome.content.startswith("12,000 matching lines in 400 files")
    assert len(outcome.content) <= PAGE_CHARS
    assert "more matching lines in this file]" in outcome.content
    assert "left out: " in outcome.content and "narrow the search" in outcome.content
    one_file = await explore("code_grep", folder, pattern="needle", path="pkg0/f0.py")
    assert one_file.content.count("= needle") == 30


async def test_files_with_the_same_lines_are_shown_once(tmp_path: Path) -> None:
    folder = make_files(tmp_path / "p", {f"f{n}.c": "/* License: needle */\n" for n in range(9)})
    outcome = await explore("code_grep", folder, pattern="needle")
    assert outcome.content.count("License") == 1
    assert "[the same lines in f1.c, f2.c, f3.c, f4.c, f5.c and 3 more files]" in outcome.content


async def test_strange_names_and_bytes_are_shown_on_one_line(tmp_path: Path) -> None:
    folder = make_files(
        tmp_path / "p", {"new\nline.txt": "needle\r\n", "esc\x1b[31m.txt": "needle \xff", "n.bin": b"needle\0"}
    )
    Path(os.fsdecode(os.fsencode(folder) + b"/inv\xff.txt")).write_bytes(b"caf\xe9 needle\n")
    outcome = await explore("code_grep", folder, pattern="needle")
    assert outcome.content.endswith("\nnew\\nline.txt\n    1: needle")
    assert "\nesc\\x1b[31m.txt\n" in outcome.content
    assert "\ninv\ufffd.txt\n    1: caf\ufffd needle" in outcome.content
    assert "n.bin" not in outcome.content
    binary = await explore("code_grep", folder, pattern="needle", path="n.bin")
    assert "1 binary file did" in binary.content


async def test_links_in_circles_pipes_and_lost_files_do_no_harm(tmp_path: Path) -> None:
    folder = make_files(tmp_path / "p", {"a/f.txt": "needle\n"})
    (folder / "a" / "loop").symlink_to(folder)
    (folder / "dangling").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    outcome = await explore("code_grep", folder, pattern="needle")
    assert outcome.content.startswith("1 matching line in 1 file")
    for path, words in (("pipe", "named pipe"), ("dangling", "does not exist"), ("nope.txt", "there is no file")):
        refused = await explore("code_grep", folder, pattern="needle", path=path)
        assert not refused.ok and words in refused.content


async def test_what_may_not_be_read_is_passed_over_or_explained() -> None:
    with ordinary_user_folder() as scratch:
        folder = make_files(scratch / "p", {"open.txt": "needle\n", "shut.txt": "needle\n", "locked/x.txt": "needle\n"})
        (folder / "shut.txt").chmod(0)
        (folder / "locked").chmod(0)
        outcome = await explore("code_grep", folder, pattern="needle")
        assert outcome.ok and "open.txt" in outcome.content and "shut" not in outcome.content
        refused = await explore("code_grep", folder, pattern="needle", path="locked")
        assert not refused.ok and "permission denied" in refused.content


async def test_a_working_folder_that_is_gone_is_an_error_in_words(tmp_path: Path) -> None:
    outcome = await explore("code_grep", tmp_path / "gone", pattern="x")
    assert not outcome.ok and "gone" in outcome.content


async def test_cancel_ends_the_program_at_once(folder: Path, tmp_path: Path) -> None:
    env = fake_program(
        tmp_path / "bin", "rg", f"echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; exec sleep 60"
    )
    token = new_root()
    running = asyncio.ensure_future(explore("code_grep", folder, pattern="x", token=token, env=env))
    while not (tmp_path / "pid").exists():
        await asyncio.sleep(0.01)
    token.request()
    outcome = await asyncio.wait_for(running, 5)
    assert outcome.cancelled and not outcome.ok
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_the_program_gets_the_environment_of_children_and_no_other(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-test-SECRET123")
    env = fake_program(tmp_path / "bin", "rg", f"env > {tmp_path}/env; exit 1") | {"MY_VAR": "1"}
    for tool, argument in (("code_grep", "pattern"), ("code_files", "query"), ("code_symbols", "query")):
        await explore(tool, folder, env=env, **{argument: "x"})
        dumped = (tmp_path / "env").read_text()
        assert "SECRET" not in dumped and "MY_VAR=1" in dumped
