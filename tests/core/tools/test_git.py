"""The git tool on real repositories: what it shows, what it refuses, and that it leaves no trace."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.tools.base import MODEL_TEXT_LIMIT
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_core.tools.git import GIT
from smith_core.tools.registry import ToolRegistry
from tests.support.git_calls import GitPlace


@pytest.fixture
def repo(tmp_path: Path) -> GitPlace:
    return GitPlace(tmp_path)


async def test_each_subcommand_shows_the_repository(repo: GitPlace) -> None:
    assert "modified:   a.txt" in (await repo("status")).content
    assert [line[8:] for line in (await repo("log", "--oneline")).content.splitlines()] == [
        "second: a number",
        "first: begin",
    ]
    assert "-2\n+3\n" in (await repo("diff")).content
    assert (await repo("show", "HEAD:a.txt")).content == "one\n2\n"
    assert "Not Committed Yet" in (await repo("blame", "a.txt")).content
    assert (await repo("diff", "HEAD~1", "HEAD", "--", "a.txt")).content.endswith("-two\n+2\n")


async def test_a_command_line_as_one_text_is_understood(repo: GitPlace) -> None:
    assert (await repo("git log --oneline -1")).content.endswith("second: a number\n")
    assert (await repo("log", args="--oneline --grep 'a number'")).content.endswith("second: a number\n")


async def test_nothing_to_show_is_said_in_words(repo: GitPlace) -> None:
    (repo.folder / "a.txt").write_text("one\n2\n")
    assert (await repo("diff")).content == "[no differences]"
    assert (await repo("status", "-s")).content == "[nothing to commit, working tree clean]"
    assert (await repo("log", "--author", "nobody")).content == "[no commit matches]"


@pytest.mark.parametrize(
    ("words", "kind", "says"),
    [
        (("push",), "schema", "this tool only looks"),
        (("-c", "core.pager=x", "log"), "schema", "subcommand is one of"),
        (("log", "--output=x"), "schema", "does not take --output here; it takes"),
        (("log", "--author", "a\0b"), "schema", "NUL"),
        (("log", "\ud800"), "schema", "surrogate"),
        (("diff", "/etc/hostname", "/etc/passwd"), "tool", "outside of the repository"),
        (("diff", "--", "../../x/../.."), "tool", "outside of the repository"),
        (("show", "nope"), "tool", "unknown revision"),
        (("log", "'"), "tool", "unknown revision"),
    ],
)
async def test_refusals_say_what_to_do(repo: GitPlace, words: tuple[str, ...], kind: str, says: str) -> None:
    outcome = await repo(*words)
    assert not outcome.ok
    assert outcome.error is not None
    assert outcome.error.kind == kind
    assert says in outcome.content
    assert not (repo.folder / "x").exists()


async def test_no_repository_no_git_and_no_folder_are_words(repo: GitPlace, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    path, repo.env["PATH"] = repo.env["PATH"], f"bin:{tmp_path}/bin"
    assert "install it or put it on PATH" in (await repo("status")).content
    repo.env["PATH"] = path
    shutil.rmtree(repo.folder / ".git")
    assert "in no git repository" in (await repo("status")).content
    shutil.rmtree(repo.folder)
    assert "is gone" in (await repo("status")).content


async def test_the_repository_is_the_same_byte_for_byte_afterwards(repo: GitPlace) -> None:
    repo.commit("b.txt", "b\n", "third: another")
    # Times that differ from the index make git want to refresh it.
    os.utime(repo.folder / "b.txt", (1_000_000_000, 1_000_000_000))
    before = repo.stored()
    for words in (["status"], ["diff"], ["diff", "--cached"], ["log", "-p"], ["show"], ["blame", "a.txt"]):
        outcome = await repo(*words)
        assert outcome.ok
        assert "b.txt" not in outcome.content or words[0] in ("log", "show")
    assert repo.stored() == before
    assert list(repo.spill_dir.iterdir()) == []
    repo.git("diff", "--stat")
    assert repo.stored() != before  # as plain git does


async def test_a_file_changed_in_the_second_of_its_commit_is_seen(repo: GitPlace) -> None:
    repo.commit("c.txt", "abc", "c: same size")
    (repo.folder / "c.txt").write_text("abd")
    assert "-abc" in (await repo("diff", "--", "c.txt")).content


async def test_foreign_bytes_become_plain_text(repo: GitPlace) -> None:
    (repo.folder / "a.txt").write_bytes(
        b"\x1b[31mred\x1b[0m \x1b]0;title\x07 lone\rreturn \xff\x9b caf\xc3\xa9\r\nend\n"
    )
    content = (await repo("diff")).content
    assert "+red  lone␍return �� café\n+end\n" in content
    repo.commit("bytes.bin", "\0\1\2" * 50, "d: binary")
    assert (await repo("show", "HEAD:bytes.bin")).content == "[binary content, 150 bytes; it is not shown]"
    repo.commit("[red]ünï.txt", "x\n", "e: [/] \x1b[31mname")
    shown = (await repo("show", "--stat")).content
    assert "[red]ünï.txt" in shown
    assert "e: [/] name" in shown


async def test_b18_a_huge_diff_keeps_every_file_and_says_its_size(repo: GitPlace) -> None:
    for number in range(4):
        (repo.folder / f"f{number}.txt").write_text("".join(f"{number} line {n}\n" for n in range(9000)))
    (repo.folder / "small.txt").write_text("the one that matters\n")
    repo.git("add", ".")
    outcome = await repo("diff", "--cached")
    assert len(outcome.content) <= MODEL_TEXT_LIMIT
    whole = len(repo.git("diff", "--cached"))
    assert f"The whole output has {whole} characters" in outcome.content
    assert outcome.metadata.omitted_chars > whole - MODEL_TEXT_LIMIT
    for number in range(4):
        assert f"+++ b/f{number}.txt" in outcome.content
        assert f"+{number} line 8999" in outcome.content
    assert "+the one that matters" in outcome.content
    assert Path(outcome.metadata.full_output_path).read_text() == repo.git("diff", "--cached")


async def test_b18_one_endless_line_is_cut_at_both_ends(repo: GitPlace) -> None:
    repo.commit("big.js", "x" * 600_000 + "END", "big")
    outcome = await repo("show", "HEAD:big.js")
    assert len(outcome.content) <= MODEL_TEXT_LIMIT
    assert "600003 characters" in outcome.content
    assert outcome.content.endswith("END")


async def test_b27_git_gets_no_variable_of_git_but_ours(repo: GitPlace, tmp_path: Path) -> None:
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nenv >>"{tmp_path}/seen"\nexec {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    repo.env |= {
        "PATH": f"{wrapper.parent}:{repo.env['PATH']}",
        "GIT_EXTERNAL_DIFF": f"touch {tmp_path}/ran",
        "GIT_SSH_COMMAND": "evil",
        "GIT_DIR": "/nowhere",
        "GIT_TRACE": f"{tmp_path}/trace",
        "MY_VAR": "1",
    }
    assert (await repo("diff")).ok
    seen = (tmp_path / "seen").read_text()
    assert "MY_VAR=1" in seen
    assert "GIT_OPTIONAL_LOCKS=0" in seen
    assert not any(name in seen for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_DIR", "GIT_TRACE="))
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "trace").exists()


async def test_cancel_ends_git_and_all_it_started_within_a_second(repo: GitPlace, tmp_path: Path) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\ntrap '' TERM\necho $$ >{tmp_path}/pid.tmp; mv {tmp_path}/pid.tmp {tmp_path}/pid\n"
                    "while :; do sleep 1; done\n")  # fmt: skip
    slow.chmod(0o755)
    repo.env["PATH"] = f"{slow.parent}:{repo.env['PATH']}"
    token = new_root()
    running = asyncio.create_task(repo("status", token=token))
    while not (tmp_path / "pid").exists():
        await asyncio.sleep(0.01)
    token.request()
    outcome = await asyncio.wait_for(running, 1)
    assert outcome.cancelled
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_only_the_orchestrator_has_git() -> None:
    registry = ToolRegistry(BUILTIN_TOOLS)
    roles = [role for role in ("direct", "orchestrator", "worker", "explorer") if GIT in registry.list(role)]
    assert roles == ["orchestrator"]
