import asyncio
import os
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.cancel import CancelToken, new_root
from smith_core.linediff import MAX_DIFF_CHARS, diff_lines
from smith_core.tools.base import ToolOutcome
from smith_core.tools.edit import EDIT, MAX_EDIT_BYTES
from tests.support.edit_rounds import edit_rounds
from tests.support.file_tools import apply_diff, edit, names, ordinary_user_folder, read, sha256, write

ROOT = Path(__file__).parents[3]


def _assert_refused(outcome: ToolOutcome, *words: str) -> None:
    assert not outcome.ok and outcome.error is not None
    assert outcome.mutation_state == "none"
    assert [word for word in words if word not in outcome.content] == []


async def test_outcome_tells_what_became_of_the_file(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    target.write_text("".join(f"line {number}\n" for number in range(1, 13)))
    outcome = await edit(tmp_path, "f.txt", "replace", 6, 7, text="SIX\nSEVEN\nAND A HALF")
    assert outcome.ok and outcome.mutation_state == "attempted"
    assert outcome.metadata.new_hash == sha256(target)
    assert (outcome.metadata.line_delta, outcome.metadata.lines) == (1, 13)
    for part in ("lines 6-7", "lines 6-8", "+1", "13 lines", f"new_hash: {sha256(target)}", "     8\tAND A HALF"):
        assert part in outcome.content
    assert "     3\tline 3" in outcome.content and "line 2" not in outcome.content
    assert "    11\tline 10" in outcome.content and "line 11" not in outcome.content
    assert outcome.metadata.diff.startswith("--- f.txt\n+++ f.txt\n@@ -3,8 +3,9 @@\n line 3\n")
    assert sha256(target) in (await read(tmp_path, "f.txt")).content


async def test_b09_line_endings_of_other_lines_stay(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"one\r\ntwo\nthree\r\nfour\n")
    outcome = await edit(tmp_path, "f", "replace", 2, 2, text="TWO")
    assert target.read_bytes() == b"one\r\nTWO\nthree\r\nfour\n"
    assert (outcome.metadata.line_delta, outcome.metadata.new_hash) == (0, sha256(target))
    target.write_bytes(b"a\r\nb\r\nc\r\n")
    outcome = await edit(tmp_path, "f", "insert", 1, text="x")
    assert target.read_bytes() == b"a\r\nx\r\nb\r\nc\r\n"
    assert outcome.metadata.line_delta == 1
    outcome = await edit(tmp_path, "f", "delete", 2, hash=outcome.metadata.new_hash)
    assert target.read_bytes() == b"a\r\nb\r\nc\r\n"
    assert outcome.metadata.line_delta == -1
    target.write_bytes(b"a\rb\r")
    assert (await edit(tmp_path, "f", "replace", 1, text="A")).ok
    assert target.read_bytes() == b"A\rb\r"


async def test_b10_byte_order_mark_stays_once(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"\xef\xbb\xbfalpha\nbeta\n")
    assert "\ufeff" not in (await read(tmp_path, "f")).content
    assert (await edit(tmp_path, "f", "replace", 1, 1, text="ALPHA")).ok
    assert (await edit(tmp_path, "f", "replace", 2, 2, text="BETA\n")).ok
    assert target.read_bytes() == b"\xef\xbb\xbfALPHA\nBETA\n"
    assert (await edit(tmp_path, "f", "insert", 0, text="\ufefftop")).ok
    assert target.read_bytes() == b"\xef\xbb\xbftop\nALPHA\nBETA\n"


async def test_b10_other_encodings_are_kept_or_refused(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"caf\xe9\nok\n")
    assert (await edit(tmp_path, "f", "replace", 2, 2, text="\u00fcber")).ok
    assert target.read_bytes() == b"caf\xe9\n\xfcber\n"
    _assert_refused(await edit(tmp_path, "f", "replace", 2, 2, text="\u4e2d"), "Latin-1")
    _assert_refused(await edit(tmp_path, "f", "replace", 2, 2, text="\ufffd"), "U+FFFD")
    assert target.read_bytes() == b"caf\xe9\n\xfcber\n"
    target.write_bytes("\ufeffone\r\ntwo\r\n".encode("utf-16-le"))
    assert (await edit(tmp_path, "f", "replace", 2, 2, text="\u4e2d")).ok
    assert target.read_bytes() == "\ufeffone\r\n\u4e2d\r\n".encode("utf-16-le")
    target.write_bytes(b"\0\1\2")
    _assert_refused(await edit(tmp_path, "f", "replace", 1, 1, text="x"), "binary")


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
    _assert_refused(await edit(tmp_path, "loop", "replace", 1, text="x", hash="0" * 64), "loop")
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
    _assert_refused(bad, "changed", good.metadata.new_hash)
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
    _assert_refused(outcome, "changed", sha256(target))
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
    _assert_refused(outcome, "changed", sha256(target))
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


async def test_hash_may_be_written_in_other_ways(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    for form in ("sha256:{}", " {}\n"):
        target.write_text("1\n")
        assert (await edit(tmp_path, "f.txt", "delete", 1, hash=form.format(sha256(target).upper()))).ok
    _assert_refused(await edit(tmp_path, "f.txt", "insert", 0, text="x", hash=""), "changed", sha256(target))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"operation": "replace", "start_line": 3, "end_line": 2, "text": "x"}, "start_line 3 is greater"),
        ({"operation": "replace", "start_line": 0, "text": "x"}, "from 1"),
        ({"operation": "delete", "start_line": 0}, "from 1"),
        ({"operation": "replace", "start_line": 1}, "text"),
        ({"operation": "insert", "start_line": 1}, "text"),
        ({"operation": "insert", "start_line": 1, "text": ""}, "text"),
        ({"operation": "delete", "start_line": 1, "text": "x"}, "replace"),
        ({"operation": "append", "start_line": 1}, "operation"),
        ({"operation": "insert", "start_line": -1, "text": "x"}, "start_line"),
    ],
)
def test_what_no_file_could_make_good_is_a_schema_error(arguments: dict, word: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=word):
        msgspec.convert({"path": "f", "hash": "0" * 64, **arguments}, EDIT.arguments)


async def test_optional_arguments_are_taken_as_models_give_them(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("1\n2\n3\n")
    assert (await edit(tmp_path, "f", "insert", 3, 1, text="4")).ok, "an insert ignores end_line"
    assert (await edit(tmp_path, "f", "delete", 2, None, text="")).ok
    assert (await edit(tmp_path, "f", "replace", 1, 2, text="")).ok, "an empty text removes the lines"
    assert target.read_text() == "4\n"


async def test_range_outside_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1\n2\n")
    for operation, start, end in [("replace", 2, 3), ("delete", 3, 3), ("insert", 3, None)]:
        text = "" if operation == "delete" else "x"
        _assert_refused(await edit(tmp_path, "f", operation, start, end, text=text), "2 lines")
    assert (tmp_path / "f").read_text() == "1\n2\n"


async def test_edit_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("1\n2\n")
    before = target.stat()
    outcome = await edit(tmp_path, "f", "replace", 2, text="2")
    assert outcome.ok and outcome.mutation_state == "none" and outcome.metadata.diff == ""
    assert (target.stat().st_ino, target.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_missing_and_special_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "main.py").write_text("")
    for path, word in [("pipe", "FIFO"), ("mian.py", "main.py"), (".", "folder"), ("/dev/null", "device")]:
        _assert_refused(await edit(tmp_path, path, "insert", 0, text="x", hash="0" * 64), word)


async def test_read_only_file_and_folder_are_refused_in_clear_words() -> None:
    with ordinary_user_folder() as folder:
        (folder / "f").write_text("1\n")
        (folder / "f").chmod(0o444)
        _assert_refused(await edit(folder, "f", "delete", 1), "read-only", "chmod")
        (folder / "f").chmod(0o644)
        folder.chmod(0o555)
        _assert_refused(await edit(folder, "f", "delete", 1), "permission")
        assert (names(folder), (folder / "f").read_text()) == (["f"], "1\n")


async def test_cancelled_edit_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1\n")
    token = new_root()
    token.request()
    outcome = await edit(tmp_path, "f", "delete", 1, token=token)
    assert outcome.cancelled and not outcome.ok and outcome.mutation_state == "none"
    assert (names(tmp_path), (tmp_path / "f").read_text()) == (["f"], "1\n")


async def test_size_of_outcome_and_of_file_are_bounded(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("x" * 600_000 + "\n" + "line\n" * 100_000)
    outcome = await edit(tmp_path, "f", "delete", 2, 90_000)
    assert outcome.ok and len(outcome.content) < 10_000 and len(outcome.metadata.diff) < MAX_DIFF_CHARS + 100
    outcome = await edit(tmp_path, "f", "insert", 1, text="another line of text\n" * 20_000)
    assert outcome.ok and len(outcome.content) < 10_000 and "left out" in outcome.content
    os.truncate(target, MAX_EDIT_BYTES + 1)
    _assert_refused(await edit(tmp_path, "f", "delete", 1, hash="0" * 64), "bash")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b\r\n", "c\n", "d\r", "\u00fc\n", "\n"]), min_size=1, max_size=6),
    st.data(),
)
def test_new_hash_and_diff_agree_with_what_read_gives(parts: list[str], data: st.DataObject) -> None:
    old = "".join(parts)
    operation = data.draw(st.sampled_from(["replace", "insert", "delete"]))
    start = data.draw(st.integers(1, len(diff_lines(old))))
    text = "" if operation == "delete" else data.draw(st.sampled_from(["x", "y\nz\n", "\n", "\u00e9\r\n\r\n"]))

    async def round_trip(folder: Path) -> None:
        assert (await write(folder, "f", old)).ok
        outcome = await edit(folder, "f", operation, start, text=text)
        if outcome.ok:
            seen = await read(folder, "f")
            assert outcome.metadata.new_hash in seen.content
            assert outcome.metadata.lines == seen.metadata.lines
            assert outcome.metadata.line_delta == seen.metadata.lines - len(diff_lines(old))
            new = (folder / "f").read_bytes().decode()
            assert apply_diff(diff_lines(old), outcome.metadata.diff) == diff_lines(new)
        else:
            assert "join" in outcome.content
            assert (folder / "f").read_bytes() == old.encode()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(round_trip(Path(folder)))
