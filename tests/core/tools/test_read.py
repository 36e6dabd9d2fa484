import asyncio
import hashlib
import os
import re
import time
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from smith_core.cancel import new_root
from smith_core.tools.attach import attach
from smith_core.tools.base import MODEL_TEXT_LIMIT
from smith_core.tools.read import MAX_READ_BYTES, READ
from tests.support.file_tools import names, ordinary_user_folder, read, sha256


def _shown(content: str) -> list[str]:
    return re.findall(r"^ *\d+\t(.*)$", content, re.MULTILINE)


async def test_lines_come_with_numbers_range_count_and_hash(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(b"one\ntwo\nthree\nfour\n")
    outcome = await read(tmp_path, "f.txt")
    assert outcome.ok and outcome.mutation_state == "none"
    assert _shown(outcome.content) == ["one", "two", "three", "four"]
    assert "     3\tthree" in outcome.content.splitlines()
    assert "lines 1-4 of 4" in outcome.content
    assert hashlib.sha256(b"one\ntwo\nthree\nfour\n").hexdigest() in outcome.content
    assert (outcome.metadata.lines, outcome.metadata.path) == (4, str(tmp_path / "f.txt"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"start_line": 3}, ["three", "four"]),
        ({"end_line": 2}, ["one", "two"]),
        ({"start_line": 2, "end_line": 3}, ["two", "three"]),
        ({"start_line": 4, "end_line": 900}, ["four"]),
        ({"start_line": 2, "end_line": 2}, ["two"]),
        ({"start_line": None, "end_line": None}, ["one", "two", "three", "four"]),
    ],
)
async def test_range_is_shown_and_the_hash_is_of_the_whole(
    tmp_path: Path, arguments: dict, expected: list[str]
) -> None:
    (tmp_path / "f.txt").write_bytes(b"one\ntwo\nthree\nfour\n")
    outcome = await read(tmp_path, "f.txt", **arguments)
    assert _shown(outcome.content) == expected
    assert sha256(tmp_path / "f.txt") in outcome.content
    assert "of 4" in outcome.content


async def test_range_behind_the_end_says_how_many_lines_there_are(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("one\ntwo\n")
    outcome = await read(tmp_path, "f.txt", start_line=3)
    assert not outcome.ok
    assert "2 lines" in outcome.content


@pytest.mark.parametrize("arguments", [{"start_line": 3, "end_line": 2}, {"start_line": 0}, {"end_line": -1}])
def test_impossible_range_is_a_schema_error(arguments: dict) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"start_line 3 is greater|_line"):
        msgspec.convert({"path": "f", **arguments}, READ.arguments)


@pytest.mark.parametrize(
    ("data", "facts", "lines"),
    [
        (b"a\r\nb\r\n", ["line endings: CRLF"], ["a", "b"]),
        (b"a\rb\r", ["line endings: CR", "2 of 2"], ["a", "b"]),
        (b"a\r\nb\nc\rd\n", ["mixed (2 LF + 1 CRLF + 1 CR)"], ["a", "b", "c", "d"]),
        (b"a\nb", ["no newline at the end"], ["a", "b"]),
        (b"\xef\xbb\xbfalpha\n", ["UTF-8 with BOM"], ["alpha"]),
        ("\ufeffgr\u00fcn\r\n".encode("utf-16-le"), ["UTF-16 LE with BOM", "CRLF"], ["gr\u00fcn"]),
        ("\ufeffgr\u00fcn\n".encode("utf-16-be"), ["UTF-16 BE with BOM", "LF"], ["gr\u00fcn"]),
        (b"caf\xe9\n", ["Latin-1"], ["caf\u00e9"]),
        ("a\u2028b\x0bc\x0cd\x85e\n".encode(), ["1-1 of 1"], ["a\u2028b\x0bc\x0cd\x85e"]),
        (b"", ["empty", "0 lines", hashlib.sha256(b"").hexdigest()], []),
    ],
)
async def test_b10_encoding_and_endings_are_named_and_not_shown(
    tmp_path: Path, data: bytes, facts: list[str], lines: list[str]
) -> None:
    (tmp_path / "f").write_bytes(data)
    outcome = await read(tmp_path, "f")
    assert outcome.ok
    assert [fact for fact in facts if fact not in outcome.content] == []
    assert _shown(outcome.content) == lines
    assert "\ufeff" not in outcome.content and "\r" not in outcome.content


@pytest.mark.parametrize("name", ["x.png", "d" * 250])
async def test_b04_binary_file_is_named_with_its_size_and_not_shown(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n\0" + bytes(range(256)) * 3 + bytes(247))
    outcome = await read(tmp_path, name)
    assert outcome.ok
    assert "binary" in outcome.content and "1024 bytes" in outcome.content
    assert len(outcome.content) <= 300
    assert outcome.content.isprintable() or "\n" in outcome.content
    assert sha256(tmp_path / name) in outcome.content


async def test_b04_odd_bytes_come_out_as_text_that_can_be_stored(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("\u00e9\u00e9\u00e9 ".encode() + b"\xff\n" + b"x" * 9000 + b"\n\0\n")
    outcome = await read(tmp_path, "f")
    outcome.content.encode("utf-8")
    assert "\0" not in outcome.content
    assert _shown(outcome.content)[0] == "\u00e9\u00e9\u00e9 \ufffd"


async def test_b18_endless_line_is_cut_with_its_full_length(tmp_path: Path) -> None:
    (tmp_path / "big.js").write_text("x" * 600_000)
    outcome = await read(tmp_path, "big.js")
    assert outcome.ok
    assert len(outcome.content) <= MODEL_TEXT_LIMIT
    assert "600000" in outcome.content
    assert outcome.metadata.lines == 1


@pytest.mark.parametrize("line", ["y" * 600_000, "\U0001f600" * 9_000, "short", ""], ids=len)
async def test_b18_many_lines_are_cut_and_the_next_page_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "big.txt").write_text((line + "\n") * 30_000 if len(line) < 10 else (line + "\n") * 40)
    numbers: list[int] = []
    arguments: dict = {}
    for _ in range(4):
        outcome = await read(tmp_path, "big.txt", **arguments)
        assert len(outcome.content) <= MODEL_TEXT_LIMIT
        numbers += [int(number) for number in re.findall(r"^ *(\d+)\t", outcome.content, re.MULTILINE)]
        following = re.search(r"start_line (\d+)", outcome.content)
        if following is None:
            break
        arguments = {"start_line": int(following[1])}
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 30


async def test_lines_that_fill_the_page_exactly_are_never_over_the_limit(tmp_path: Path) -> None:
    for length in (7_999, 8_000, 8_001):
        (tmp_path / "f").write_text(("z" * length + "\n") * 13)
        outcome = await read(tmp_path, "f")
        assert 80_000 < len(outcome.content) <= MODEL_TEXT_LIMIT
        assert ("cut" in outcome.content) == (length > 8_000)


async def test_big_file_is_not_held_in_memory_and_can_be_cancelled(tmp_path: Path) -> None:
    big = tmp_path / "big.log"
    with big.open("wb") as stream:
        for _ in range(40):
            stream.write(b"a line of a log file with some text\n" * 30_000)
    tracemalloc.start()
    outcome = await read(tmp_path, "big.log", start_line=1_199_999)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert _shown(outcome.content) == ["a line of a log file with some text"] * 2
    assert sha256(big) in outcome.content
    assert peak < 8_000_000
    token = new_root()
    token.request()
    cancelled = await read(tmp_path, "big.log", token=token)
    assert cancelled.cancelled and not cancelled.ok


async def test_missing_file_names_near_ones(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("")
    outcome = await read(tmp_path, "confg.json")
    assert not outcome.ok and outcome.error is not None
    assert outcome.error.code == "not_found"
    assert "config.json" in outcome.content
    (tmp_path / "dangling").symlink_to("nowhere")
    assert "link to nowhere" in (await read(tmp_path, "dangling")).content


async def test_what_is_no_text_file_is_refused_without_hanging(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    started = time.monotonic()
    for path, word in [
        ("pipe", "FIFO"),
        (".", "folder"),
        ("/dev/zero", "device"),
        ("/dev/stdin", "cannot"),
        ("loop", "loop"),
        ("file/x", "not a folder"),
        ("x" * 300, "too long"),
        ("", "empty"),
        ("a\0b", "NUL"),
        ("file:///etc/passwd%00", "NUL"),
    ]:
        outcome = await asyncio.wait_for(read(tmp_path, path), 2)
        if path != "/dev/stdin":  # it may be a plain file under a test runner
            assert not outcome.ok and word in outcome.content, path
            assert "Traceback" not in outcome.content and "Errno" not in outcome.content
    assert time.monotonic() - started < 3


async def test_file_without_permission_is_refused_clearly() -> None:
    with ordinary_user_folder() as folder:
        (folder / "secret").write_text("x")
        (folder / "secret").chmod(0)
        outcome = await read(folder, "secret")
        assert not outcome.ok and "permission" in outcome.content
        assert names(folder) == ["secret"]


async def test_folder_of_another_place_and_home_are_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "f").write_text("text\n")
    (tmp_path / "sub").mkdir()
    for path in ("../f", "~/f", str(tmp_path / "f")):
        assert _shown((await read(tmp_path / "sub", path)).content) == ["text"]


async def test_b18_a_file_whose_hash_would_take_minutes_is_refused_at_once(tmp_path: Path) -> None:
    with (tmp_path / "disk.img").open("wb") as file:
        file.truncate(MAX_READ_BYTES + 1)
    outcome = await read(tmp_path, "disk.img")
    assert not outcome.ok and str(MAX_READ_BYTES + 1) in outcome.content and "bash" in outcome.content
    attached = attach("look at @disk.img", tmp_path, new_root())
    assert attached.paths == () and "larger than" in attached.problems[0]
