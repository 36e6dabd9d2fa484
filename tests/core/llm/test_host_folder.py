"""The folder of the shared hosts: private, not to be exchanged under our feet, and one starter at a time."""

import os
import socket
import stat
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from smith_core.llm.host_folder import HostFolder, open_host_folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "run").mkdir(mode=0o700)
    return {"HOME": str(tmp_path / "home"), "XDG_RUNTIME_DIR": str(tmp_path / "run")}


@pytest.fixture
def folder(environ: Mapping[str, str]) -> Iterator[HostFolder]:
    with open_host_folder(environ) as opened:
        yield opened


def where(environ: Mapping[str, str]) -> Path:
    with open_host_folder(environ) as opened:
        return Path(f"/proc/self/fd/{opened.descriptor}").readlink()


def test_the_runtime_folder_is_taken_when_it_is_private(environ: dict[str, str], tmp_path: Path) -> None:
    assert where(environ) == tmp_path / "run" / "smith"
    assert stat.S_IMODE((tmp_path / "run" / "smith").stat().st_mode) == 0o700


@pytest.mark.parametrize("spoil", ["open to others", "a link", "missing", "relative", "open inside"])
def test_otherwise_the_state_folder_is(spoil: str, environ: dict[str, str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    match spoil:
        case "open to others":
            run.chmod(0o755)
        case "a link":
            run.rename(tmp_path / "elsewhere")
            run.symlink_to(tmp_path / "elsewhere")
        case "missing":
            run.rmdir()
        case "relative":
            environ["XDG_RUNTIME_DIR"] = "run"
        case "open inside":
            (run / "smith").mkdir()
            (run / "smith").chmod(0o777)
    assert where(environ) == tmp_path / "home" / ".local" / "state" / "smith" / "host"


@pytest.mark.parametrize("spoil", ["a link", "open to others", "a file"])
def test_a_state_folder_that_is_not_private_is_refused(spoil: str, tmp_path: Path) -> None:
    state = tmp_path / "state" / "smith"
    state.mkdir(parents=True)
    match spoil:
        case "a link":
            (tmp_path / "theirs").mkdir(mode=0o700)
            (state / "host").symlink_to(tmp_path / "theirs")
        case "open to others":
            (state / "host").mkdir()
            (state / "host").chmod(0o770)
        case "a file":
            (state / "host").touch()
    with pytest.raises(OSError):
        open_host_folder({"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)})


def test_sockets_are_private_however_long_the_path_and_whatever_the_umask(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 120)
    before = os.umask(0)
    try:
        with open_host_folder({"XDG_STATE_HOME": str(long), "HOME": "/"}) as folder, folder.listen("a.sock"):
            assert stat.S_IMODE((long / "smith" / "host" / "a.sock").stat().st_mode) == 0o600
            assert stat.S_IMODE((long / "smith" / "host").stat().st_mode) == 0o700
            folder.connect("a.sock").close()
    finally:
        os.umask(before)


def test_a_socket_that_was_left_behind_is_replaced(folder: HostFolder) -> None:
    with pytest.raises(FileNotFoundError):
        folder.connect("a.sock")
    folder.listen("a.sock").close()
    with pytest.raises(ConnectionRefusedError):
        folder.connect("a.sock")
    with folder.locked(), folder.listen("a.sock"):
        folder.connect("a.sock").close()


def test_only_ones_own_socket_is_removed(folder: HostFolder) -> None:
    with folder.listen("a.sock"):
        folder.remove("a.sock", folder.inode("a.sock") + 1)
        assert folder.socket_names() == ["a.sock"]
        folder.remove("a.sock", folder.inode("a.sock"))
    assert folder.socket_names() == []
    folder.remove("a.sock", 1)


def test_whoever_listens_as_another_user_gets_no_word(folder: HostFolder) -> None:
    stranger = HostFolder(folder.descriptor, owner=os.geteuid() + 1)
    with folder.listen("a.sock") as listener:
        with pytest.raises(PermissionError):
            stranger.connect("a.sock")
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.recv(1) == b""
            assert folder.admits(accepted) and not stranger.admits(accepted)


def test_connecting_never_waits_for_a_host_that_takes_nobody(folder: HostFolder) -> None:
    with folder.listen("a.sock") as listener:
        listener.listen(0)
        waiting: list[socket.socket] = []
        with pytest.raises(BlockingIOError):
            for _ in range(9):
                waiting.append(folder.connect("a.sock"))
        for channel in waiting:
            channel.close()


def test_one_starter_at_a_time(folder: HostFolder, environ: Mapping[str, str]) -> None:
    inside, most = [0], [0]

    def start() -> None:
        with open_host_folder(environ) as opened, opened.locked():
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            inside[0] -= 1

    with folder.locked():
        starters = [threading.Thread(target=start) for _ in range(4)]
        for starter in starters:
            starter.start()
        assert most == [0]
    for starter in starters:
        starter.join()
    assert most == [1]


def test_the_lock_is_no_way_to_somebody_elses_file(folder: HostFolder, tmp_path: Path) -> None:
    (tmp_path / "target").touch()
    os.symlink(tmp_path / "target", "lock", dir_fd=folder.descriptor)
    with pytest.raises(OSError), folder.locked():
        pass
