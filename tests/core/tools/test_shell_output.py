"""What is kept of a long output: its two ends for the model, all of it on disk."""

import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.tools.output import HeadAndTail, Spill


@given(st.lists(st.text("ab\n", max_size=40), max_size=40), st.integers(40, 200), st.integers(0, 20))
def test_head_and_tail_are_the_ends_of_the_text(pieces: list[str], limit: int, reserved: int) -> None:
    whole = "".join(pieces)
    kept = HeadAndTail(limit)
    for piece in pieces:
        kept.add(piece)
    excerpt = kept.excerpt(reserved)
    assert kept.length == len(whole)
    assert len(excerpt.head) + len(excerpt.tail) + excerpt.omitted == len(whole)
    assert whole.startswith(excerpt.head)
    assert whole.endswith(excerpt.tail)
    assert len(excerpt.head) + len(excerpt.tail) <= limit - reserved
    assert (excerpt.omitted > 0) == (len(whole) > limit - reserved)


def test_a_cut_falls_between_lines() -> None:
    kept = HeadAndTail(1000)
    for number in range(1000):
        kept.add(f"line {number}\n")
    excerpt = kept.excerpt()
    assert excerpt.head.endswith("\n")
    assert excerpt.tail.startswith("line ")


def test_a_short_output_makes_no_file(tmp_path: Path) -> None:
    spill = Spill(tmp_path, start_at=10)
    spill.add(b"0123456789")
    spill.close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_nobody_wants_is_removed(tmp_path: Path) -> None:
    spill = Spill(tmp_path, start_at=10)
    spill.add(b"0123456789x")
    assert spill.path.read_bytes() == b"0123456789x"
    spill.close()
    assert list(tmp_path.iterdir()) == []


def test_b28_the_file_is_private_and_whole(tmp_path: Path) -> None:
    spill = Spill(tmp_path, start_at=10)
    for _ in range(100):
        spill.add(b"\x1b[31mraw\r\n\0\xff")
    assert str(spill.path) in spill.keep()
    spill.close()
    assert spill.path.read_bytes() == b"\x1b[31mraw\r\n\0\xff" * 100
    assert spill.path.stat().st_mode & 0o777 == 0o600
    assert spill.kept_path == str(spill.path)


def test_b18_the_file_has_a_limit_that_is_named(tmp_path: Path) -> None:
    spill = Spill(tmp_path, start_at=10, limit=1000)
    for _ in range(100):
        spill.add(b"x" * 64)
    note = spill.keep()
    spill.close()
    assert spill.path.stat().st_size == 1000
    assert "the first 1000 of 6400 bytes" in note
    assert "more than 1000 bytes are not kept" in note


@pytest.mark.parametrize(("room", "kept"), [(4096, True), (0, False)])
def test_b18_a_full_disk_ends_the_file_and_not_the_program(tmp_path: Path, room: int, kept: bool) -> None:
    spill = Spill(tmp_path, start_at=10)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        for _ in range(100):
            spill.add(b"x" * 100)
        note = spill.keep()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    spill.close()
    assert "File too large" in note
    assert ("the first 4096 of 10000 bytes" in note) == kept
    assert ("could not be saved" in note) != kept
    assert bool(spill.kept_path) == kept
    assert [path.stat().st_size for path in tmp_path.iterdir()] == [4096] * kept
