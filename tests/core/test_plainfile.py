import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from smith_core.plainfile import FileBusyError, NotRegularFileError, exclusively, read_regular


def test_special_files_are_named_and_never_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # a socket's path has at most 108 bytes
        server.bind("socket")
        started = time.monotonic()
        for name, what in [("pipe", "FIFO"), ("folder", "folder"), ("link", "FIFO"), ("socket", "socket")]:
            with pytest.raises(NotRegularFileError, match=what):
                read_regular(tmp_path / name)
        with pytest.raises(NotRegularFileError, match="character device"):
            read_regular(Path("/dev/zero"))
    assert time.monotonic() - started < 1


def test_files_that_claim_no_size_are_read() -> None:
    assert b"smith" in read_regular(Path("/proc/self/environ")) + b"smith"
    assert read_regular(Path("/proc/self/status")).startswith(b"Name:")


def test_changes_of_one_file_wait_for_each_other(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("0")

    def count() -> None:
        for _ in range(40):
            with exclusively(target):
                value = int(target.read_text())
                new = target.with_name(f"new-{threading.get_ident()}")
                new.write_text(str(value + 1))
                new.replace(target)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_text() == "160"


def _entering(target: Path) -> tuple[threading.Thread, threading.Event]:
    entered = threading.Event()

    def enter() -> None:
        with exclusively(target):
            entered.set()

    thread = threading.Thread(target=enter)
    thread.start()
    return thread, entered


def test_hard_links_share_the_lock(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("")
    two.hardlink_to(one)
    with exclusively(one):
        thread, entered = _entering(two)
        assert not entered.wait(0.1)
    assert entered.wait(3)
    thread.join()


def test_lock_of_a_file_that_was_replaced_meanwhile_is_not_enough(tmp_path: Path) -> None:
    target, successor = tmp_path / "f", tmp_path / "new"
    target.write_text("")
    successor.write_text("")
    with target.open() as old, successor.open() as new:
        fcntl.flock(old, fcntl.LOCK_EX)
        fcntl.flock(new, fcntl.LOCK_EX)
        thread, entered = _entering(target)
        assert not entered.wait(0.1)
        successor.replace(target)
        fcntl.flock(old, fcntl.LOCK_UN)
        assert not entered.wait(0.1)
    assert entered.wait(3)
    thread.join()


def test_other_process_with_the_lock_is_waited_for_but_not_for_ever(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl,sys; f=open(sys.argv[1]); fcntl.flock(f,2); print(1,flush=1); input()",
            target,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None and holder.stdout.readline()
    with pytest.raises(FileBusyError), exclusively(target, wait_s=0.1):
        pass
    holder.communicate(b"\n")
    with exclusively(target), target.open() as stream, pytest.raises(BlockingIOError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_missing_file_is_locked_within_the_process(tmp_path: Path) -> None:
    with exclusively(tmp_path / "new"):
        thread, entered = _entering(tmp_path / "new")
        assert not entered.wait(0.1)
    assert entered.wait(3)
    thread.join()
    assert list(tmp_path.iterdir()) == []
