"""Reading of files that may be anything: it neither waits nor raises."""

import os
from pathlib import Path

import pytest

from smith_core.regular_file import FileRead, read_regular_file


def test_reads_up_to_the_limit_and_tells_the_whole_size(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_regular_file(path, 10) == FileRead(data=b"x" * 10, size=100)
    assert read_regular_file(str(path), 1000) == FileRead(data=b"x" * 100, size=100)


def test_a_pipe_is_refused_without_waiting_for_a_writer_or_waking_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert read_regular_file(pipe, 10).problem == "it is a named pipe (FIFO)"
    with pytest.raises(OSError, match="No such device"):  # still no reader
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)


@pytest.mark.parametrize("name", ["none", "none/inner", "file/inner"])
def test_a_missing_file_is_no_problem(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    assert read_regular_file(tmp_path / name, 10) == FileRead(is_missing=True)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000])
def test_an_impossible_name_is_a_problem_and_no_exception(tmp_path: Path, name: str) -> None:
    assert read_regular_file(f"{tmp_path}/{name}", 10).problem


def test_a_link_is_followed_only_when_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    link = tmp_path / "link"
    link.symlink_to("file")
    assert read_regular_file(link, 10).data == b"text"
    assert read_regular_file(link, 10, follow_symlink=False).problem


def test_a_file_without_read_permission_is_refused_even_to_root(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    path.chmod(0o000)
    assert read_regular_file(path, 10).problem == "you have no permission to read it"
