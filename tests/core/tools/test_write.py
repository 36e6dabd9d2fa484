import time
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.linediff import diff_lines
from tests.support.file_tools import apply_diff, assert_refused, edit, names, ordinary_user_folder, read, sha256, write


async def test_new_file_is_created_with_its_folders(tmp_path: Path) -> None:
    outcome = await write(tmp_path, "a/b/f.txt", "one\ntwo\n")
    target = tmp_path / "a/b/f.txt"
    assert outcome.ok and outcome.mutation_state == "attempted"
    assert target.read_bytes() == b"one\ntwo\n"
    assert outcome.metadata.new_hash == sha256(target)
    assert f"new_hash: {sha256(target)}" in outcome.content
    assert sha256(target) in (await read(tmp_path, "a/b/f.txt")).content
    assert (outcome.metadata.lines, outcome.metadata.line_delta, outcome.metadata.path) == (2, 2, str(target))
    assert "created" in outcome.content


@pytest.mark.parametrize(
    "content", ["", "x", "a\r\nb\rc\n", "\ufeffmark", "nul \0 byte", "gr\u00fc\u00df \U0001f600\u2028", "tab\t\x1b[0m"]
)
async def test_content_is_stored_as_it_is(tmp_path: Path, content: str) -> None:
    assert (await write(tmp_path, "f", content)).ok
    assert (tmp_path / "f").read_bytes() == content.encode()


async def test_halves_of_a_character_are_joined_or_refused(tmp_path: Path) -> None:
    assert (await write(tmp_path, "f", "x\ud83d\ude00")).ok
    assert (tmp_path / "f").read_text() == "x\U0001f600"
    assert_refused(await write(tmp_path, "f", "line\nx\ud83d"), "line 2", "surrogate")
    assert (tmp_path / "f").read_text() == "x\U0001f600"


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\nb\nc\n", "a\nB\nc\nd\n"), ("a\nb", "a\nb\n"), ("a\r\nb\r\n", "a\nb\n"), ("", "x\n"), ("x\n", "")],
)
async def test_overwriting_gives_the_diff(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "f").write_bytes(old.encode())
    outcome = await write(tmp_path, "f", new)
    assert apply_diff(diff_lines(old), outcome.metadata.diff) == diff_lines(new)
    assert "overwritten" in outcome.content
    assert outcome.metadata.line_delta == len(diff_lines(new)) - len(diff_lines(old))


async def test_binary_and_huge_files_are_overwritten_without_a_diff(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\0\1\2")
    outcome = await write(tmp_path, "f", "text\n")
    assert outcome.ok and outcome.metadata.diff == ""
    started = time.monotonic()
    outcome = await write(tmp_path, "f", "another line\n" * 500_000)
    assert outcome.ok and outcome.metadata.diff == ""
    assert outcome.metadata.lines == 500_000
    assert time.monotonic() - started < 3


async def test_read_only_file_and_folder_are_refused_in_clear_words() -> None:
    with ordinary_user_folder() as folder:
        (folder / "f").write_text("old")
        (folder / "f").chmod(0o444)
        assert_refused(await write(folder, "f", "new"), "read-only", "chmod")
        folder.chmod(0o555)
        assert_refused(await write(folder, "g", "new"), "permission")
        assert_refused(await write(folder, "new/g", "new"), "permission")
        assert (names(folder), (folder / "f").read_text()) == (["f"], "old")


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="there is no /proc")
async def test_what_lies_where_no_file_can_be_made_is_refused_in_true_words(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc/self/comm")
    for path in ("/proc/self/comm", "/proc/no-such-file", str(tmp_path / "link")):
        assert_refused(await write(tmp_path, path, "new"), "takes no new files", "bash")
    edited = await edit(tmp_path, "/proc/self/comm", "replace", 1, text="new\n")
    assert_refused(edited, "takes no new files")


async def test_write_only_file_is_overwritten() -> None:
    with ordinary_user_folder() as folder:
        (folder / "f").write_text("old")
        (folder / "f").chmod(0o200)
        assert (await write(folder, "f", "new")).ok
        (folder / "f").chmod(0o600)
        assert (folder / "f").read_text() == "new"


async def test_cancelled_call_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    token = new_root()
    token.request()
    for path in ("f", "new/g"):
        outcome = await write(tmp_path, path, "new", token=token)
        assert outcome.cancelled and outcome.mutation_state == "none"
    assert (names(tmp_path), (tmp_path / "f").read_text()) == (["f"], "old")


async def test_file_outside_of_the_working_folder_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "repo").mkdir()
    assert (await write(tmp_path / "repo", "../other/f", "1")).ok
    assert (await write(tmp_path / "repo", "~/f", "2")).ok
    assert (tmp_path / "other/f").read_text() + (tmp_path / "home/f").read_text() == "12"
