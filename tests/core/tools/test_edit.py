import asyncio
import os
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.cancel import new_root
from smith_core.linediff import MAX_DIFF_CHARS, diff_lines
from smith_core.tools.edit import EDIT, MAX_EDIT_BYTES
from tests.support.file_tools import apply_diff, assert_refused, edit, names, ordinary_user_folder, read, sha256, write


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


async def test_hash_may_be_written_in_other_ways(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    for form in ("sha256:{}", " {}\n"):
        target.write_text("1\n")
        assert (await edit(tmp_path, "f.txt", "delete", 1, hash=form.format(sha256(target).upper()))).ok
    assert_refused(await edit(tmp_path, "f.txt", "insert", 0, text="x", hash=""), "changed", sha256(target))


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
        assert_refused(await edit(tmp_path, "f", operation, start, end, text=text), "2 lines")
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
        assert_refused(await edit(tmp_path, path, "insert", 0, text="x", hash="0" * 64), word)


async def test_read_only_file_and_folder_are_refused_in_clear_words() -> None:
    with ordinary_user_folder() as folder:
        (folder / "f").write_text("1\n")
        (folder / "f").chmod(0o444)
        assert_refused(await edit(folder, "f", "delete", 1), "read-only", "chmod")
        (folder / "f").chmod(0o644)
        folder.chmod(0o555)
        assert_refused(await edit(folder, "f", "delete", 1), "permission")
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
    assert_refused(await edit(tmp_path, "f", "delete", 1, hash="0" * 64), "bash")


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
