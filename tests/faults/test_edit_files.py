"""Edit, file-system semantics: links, modes, and edits of others survive (B11, B12)."""

import asyncio
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smith_core.cancel import CancelToken
from tests.support.edit_rounds import edit_rounds
from tests.support.engine import open_engine, run_turn
from tests.support.file_tools import assert_refused, edit, names, sha256, write
from tests.support.model_steps import call_tools
from tests.support.scripted_client import ScriptedClient, calls
from tests.support.seat import Seat

ROOT = Path(__file__).parents[2]


async def test_b11_edit_goes_through_links_and_keeps_the_mode(tmp_path: Path) -> None:
    (tmp_path / "real.sh").write_text("1\n2\n3\n")
    (tmp_path / "real.sh").chmod(0o755)
    (tmp_path / "link.sh").symlink_to("real.sh")
    (tmp_path / "chain").symlink_to("link.sh")
    assert (await edit(tmp_path, "link.sh", "replace", 2, text="two")).ok
    assert (await edit(tmp_path, "chain", "replace", 3, text="three")).ok
    assert (tmp_path / "real.sh").read_text() == "1\ntwo\nthree\n"
    assert stat.S_IMODE((tmp_path / "real.sh").stat().st_mode) == 0o755
    assert (tmp_path / "link.sh").is_symlink() and (tmp_path / "chain").is_symlink()
    assert names(tmp_path) == ["chain", "link.sh", "real.sh"]
    (tmp_path / "loop").symlink_to("loop")
    started = time.monotonic()
    assert_refused(await edit(tmp_path, "loop", "replace", 1, text="x", hash="0" * 64), "loop")
    assert time.monotonic() - started < 1


async def test_b12_second_edit_with_the_same_hash_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    target.write_text("1\n2\n3\n4\n")
    first_hash = sha256(target)
    first, second = await asyncio.gather(
        edit(tmp_path, "f.txt", "replace", 1, 1, text="ONE", hash=first_hash),
        edit(tmp_path, "f.txt", "replace", 3, 3, text="THREE", hash=first_hash),
    )
    good, bad = (first, second) if first.ok else (second, first)
    assert good.ok
    assert_refused(bad, "changed", good.metadata.new_hash)
    assert target.read_text() == ("ONE\n2\n3\n4\n" if first.ok else "1\n2\nTHREE\n4\n")


@pytest.mark.parametrize("keeps_size_and_time", [False, True])
async def test_b12_change_by_an_outsider_is_noticed(tmp_path: Path, keeps_size_and_time: bool) -> None:
    target = tmp_path / "f.txt"
    target.write_text("1\n2\n3\n4\n")
    old_hash, old = sha256(target), target.stat()
    if keeps_size_and_time:
        target.write_text("1\n2\n3\nX\n")
        os.utime(target, ns=(old.st_atime_ns, old.st_mtime_ns))
    else:
        await (await asyncio.create_subprocess_shell("echo 5 >> f.txt", cwd=tmp_path)).wait()
    theirs = target.read_bytes()
    outcome = await edit(tmp_path, "f.txt", "replace", 1, 1, text="ONE", hash=old_hash)
    assert_refused(outcome, "changed", sha256(target))
    assert target.read_bytes() == theirs


class _Outsider(CancelToken):
    """Changes the file when the tool looks at the token, which it does right before the replacement."""

    def __init__(self, target: Path, replaces: bool) -> None:
        super().__init__()
        self.target = target
        self.replaces = replaces

    def check(self) -> None:
        old = self.target.stat()
        if self.replaces:
            self.target.rename(self.target.with_name("away"))
        self.target.write_text("theirs\n")
        os.utime(self.target, ns=(old.st_atime_ns, old.st_mtime_ns))


@pytest.mark.parametrize("replaces", [False, True])
async def test_b12_change_between_check_and_replacement_survives(tmp_path: Path, replaces: bool) -> None:
    target = tmp_path / "f.txt"
    target.write_text("mine 1\n")
    outcome = await edit(tmp_path, "f.txt", "replace", 1, 1, text="new", token=_Outsider(target, replaces))
    assert_refused(outcome, "changed", sha256(target))
    assert target.read_text() == "theirs\n"
    assert set(names(tmp_path)) <= {"f.txt", "away"}


async def test_b12_fifty_rounds_of_two_workers_lose_nothing(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    target.write_text("first\n")
    (left, _), (right, _) = await asyncio.gather(edit_rounds(target, "left", 50), edit_rounds(target, "right", 50))
    lines = target.read_text().splitlines()
    assert sorted(lines) == sorted([*left, *right, "first"])
    assert len(lines) == 101


async def test_b12_two_processes_lose_nothing(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    target.write_text("first\n")
    workers = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.support.edit_rounds", str(target), name, "50", cwd=ROOT, stdout=subprocess.PIPE
        )
        for name in ("left", "right")
    ]
    outputs = [(await worker.communicate())[0].split() for worker in workers]
    assert [output[0] for output in outputs] == [b"50", b"50"]
    lines = target.read_text().splitlines()
    assert len(lines) == len(set(lines)) == 101
    assert names(tmp_path) == ["f.txt"]


async def test_b11_link_stays_a_link_and_the_mode_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real.sh").write_text("old\n")
    (tmp_path / "real.sh").chmod(0o755)
    (tmp_path / "link.sh").symlink_to("real.sh")
    (tmp_path / "chain").symlink_to("link.sh")
    for name in ("link.sh", "chain"):
        assert (await write(tmp_path, name, f"by {name}\n")).ok
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "real.sh").read_text() == f"by {name}\n"
    assert stat.S_IMODE((tmp_path / "real.sh").stat().st_mode) == 0o755
    assert names(tmp_path) == ["chain", "link.sh", "real.sh"]


async def test_b11_dangling_link_creates_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("folder/target")
    assert (await write(tmp_path, "link", "new")).ok
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder/target").read_text() == "new"


async def test_b11_private_file_stays_private(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    (tmp_path / "f").chmod(0o600)
    assert (await write(tmp_path, "f", "new")).ok
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600


async def test_b11_loop_and_what_is_no_file_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    before = names(tmp_path)
    started = time.monotonic()
    for path, word in [
        ("a", "loop"),
        ("folder", "folder"),
        ("newfolder/", "folder"),
        ("file/", "folder"),
        ("pipe", "FIFO"),
        ("/dev/null", "device"),
        ("file/below", "not a folder"),
        ("new/" + "x" * 300, "too long"),
        ("", "empty"),
        ("a\0b", "NUL"),
        ("x\ud83d", "surrogate"),
    ]:
        assert_refused(await write(tmp_path, path, "new"), word)
    assert time.monotonic() - started < 1
    assert names(tmp_path) == before


async def test_b12_two_edits_with_one_hash_in_one_answer(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    target.write_text("1\n2\n3\n4\n")
    import hashlib

    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    edits = [
        (
            "edit",
            {
                "path": "f.txt",
                "operation": "replace",
                "start_line": line,
                "end_line": line,
                "text": text,
                "hash": digest,
            },
        )
        for line, text in ((1, "ONE"), (3, "THREE"))
    ]
    runtime = open_engine(tmp_path, ScriptedClient(calls(*edits), "done"))
    await run_turn(runtime, "go")
    assert target.read_text() == "ONE\n2\n3\n4\n"
    first, second = [message for message in runtime.services.conversation.messages if message.role == "tool"]
    assert first.ok
    assert not second.ok
    assert "changed" in second.content
    assert hashlib.sha256(target.read_bytes()).hexdigest() in second.content


def test_b11_b12_links_modes_and_changes_of_others_survive_the_running_app(seat: Seat) -> None:
    folder = seat.project
    (folder / "real.sh").write_text("1\n2\n3\n")
    (folder / "real.sh").chmod(0o755)
    (folder / "link.sh").symlink_to("real.sh")
    os.link(folder / "real.sh", folder / "second name")
    first = sha256(folder / "real.sh")
    place = {"path": "link.sh", "operation": "replace", "hash": first}
    both = call_tools(
        ("edit", {**place, "start_line": 1, "text": "ONE"}), ("edit", {**place, "start_line": 3, "text": "THREE"})
    )
    seat.ask("edit twice", both)
    assert (folder / "link.sh").is_symlink()
    assert (folder / "real.sh").read_text() == (folder / "second name").read_text() == "ONE\n2\n3\n"
    assert stat.S_IMODE((folder / "real.sh").stat().st_mode) == 0o755
    refusal = seat.results()[1]
    assert "changed" in refusal and sha256(folder / "real.sh") in refusal
    assert "✗ edit" in seat.terminal.text()
    outside = call_tools(
        ("bash", {"command": "echo theirs >> real.sh"}),
        ("edit", {**place, "hash": sha256(folder / "real.sh"), "start_line": 1, "text": "MINE"}),
    )
    seat.ask("edit behind another", outside)
    assert (folder / "real.sh").read_text() == "ONE\n2\n3\ntheirs\n"
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".smith")]
