import errno
import os
import resource
import stat
import struct
import time
from pathlib import Path

import pytest

from smith_core.atomic import ReadOnlyFileError, follow_links, write_atomically
from smith_core.plainfile import NotRegularFileError
from tests.support.file_tools import NOBODY, names, ordinary_user_folder


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o640, 0o664, 0o4755, 0o400])
def test_b11_mode_is_kept(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "f"
    target.write_text("old")
    target.chmod(mode)
    if mode == 0o400 and os.geteuid():
        pytest.skip("only root may write it")
    write_atomically(target, b"new")
    assert (target.read_bytes(), _mode(target), names(tmp_path)) == (b"new", mode, ["f"])


def test_b11_attributes_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("old")
    try:
        os.setxattr(target, "user.note", b"mine")
    except OSError:
        pytest.skip("no attributes on this file system")
    # Version 2: owner rw, user 1234 r, group none, mask r, others none (acl(5), linux/posix_acl_xattr.h).
    entries = [(1, 6, -1), (2, 4, 1234), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    os.setxattr(target, "system.posix_acl_access", acl)
    write_atomically(target, b"new")
    assert os.getxattr(target, "user.note") == b"mine"
    assert os.getxattr(target, "system.posix_acl_access") == acl
    assert _mode(target) == 0o640


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_b11_new_file_gets_what_the_umask_leaves(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "a" / "b" / "f", b"x")
    finally:
        os.umask(before)
    assert _mode(tmp_path / "a" / "b" / "f") == mode


def test_b11_links_are_followed_to_the_last_file(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "one").symlink_to("real")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "three").symlink_to("../two")
    write_atomically(follow_links(tmp_path / "deep" / "three"), b"new")
    assert (tmp_path / "real").read_bytes() == b"new"
    assert not (tmp_path / "real").is_symlink()
    assert all((tmp_path / name).is_symlink() for name in ("one", "two", "deep/three"))


def test_b11_dangling_link_has_its_target_created(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("not/yet/there")
    write_atomically(follow_links(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "not/yet/there").read_bytes() == b"new"


def test_b11_loop_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    started = time.monotonic()
    with pytest.raises(OSError) as caught:
        follow_links(tmp_path / "a")
    assert caught.value.errno == errno.ELOOP
    assert time.monotonic() - started < 1


def test_hard_links_stay_one_file(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("a long old content")
    two.hardlink_to(one)
    write_atomically(one, b"short")
    assert two.read_bytes() == b"short"
    write_atomically(two, b"something much longer than before")
    assert one.read_bytes() == b"something much longer than before"
    assert one.samefile(two)


def test_reader_of_the_old_file_keeps_the_old_bytes(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("old")
    with target.open() as stream:
        write_atomically(target, b"new")
        assert stream.read() == "old"


def test_refusal_at_the_last_moment_leaves_all_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("old")
    (tmp_path / "g").hardlink_to(tmp_path / "f")
    (tmp_path / "h").write_text("old")

    def confirm() -> None:
        raise InterruptedError

    for path in (target, tmp_path / "h", tmp_path / "new" / "folder" / "f"):
        with pytest.raises(InterruptedError):
            write_atomically(path, b"new", confirm=confirm)
    assert names(tmp_path) == ["f", "g", "h"]
    assert target.read_text() == (tmp_path / "h").read_text() == "old"


@pytest.mark.parametrize("links", [1, 2])
def test_full_disk_leaves_the_old_content_and_nothing_else(tmp_path: Path, links: int) -> None:
    target = tmp_path / "f"
    target.write_text("old")
    if links == 2:
        (tmp_path / "g").hardlink_to(target)
    before = names(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, hard))
    try:
        for path in (target, tmp_path / "new" / "f"):
            with pytest.raises(OSError):
                write_atomically(path, bytes(200 * 1024))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (target.read_text(), names(tmp_path)) == ("old", before)


@pytest.mark.parametrize("name", ["x" * 256, "a/b/" + "x" * 256, "/".join(["d" * 200] * 30)], ids=len)
def test_name_that_is_too_long_leaves_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError) as caught:
        write_atomically(tmp_path / name, b"new")
    assert caught.value.errno == errno.ENAMETOOLONG
    assert names(tmp_path) == []


def test_name_of_full_length_is_written(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 255)
    write_atomically(target, b"1")
    write_atomically(target, b"2")
    assert target.read_bytes() == b"2"


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_left_alone(tmp_path: Path, make: object) -> None:
    make(tmp_path / "f")  # type: ignore[operator]
    with pytest.raises(NotRegularFileError):
        write_atomically(tmp_path / "f", b"new")
    assert names(tmp_path) == ["f"]


def test_read_only_file_and_folder_are_refused() -> None:
    with ordinary_user_folder() as folder:
        target = folder / "f"
        target.write_text("old")
        target.chmod(0o444)
        with pytest.raises(ReadOnlyFileError):
            write_atomically(target, b"new")
        target.chmod(0o644)
        folder.chmod(0o555)
        for path in (target, folder / "g", folder / "h" / "g"):
            with pytest.raises(PermissionError):
                write_atomically(path, b"new")
        assert (target.read_text(), names(folder)) == ("old", ["f"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_owner_is_kept_by_root_and_by_a_guest() -> None:
    with ordinary_user_folder() as folder:
        os.seteuid(0)
        target = folder / "f"
        target.write_text("old")
        os.chown(target, 1234, 2345)
        target.chmod(0o666)
        write_atomically(target, b"by root")
        assert (target.stat().st_uid, target.stat().st_gid) == (1234, 2345)
        os.seteuid(NOBODY)
        write_atomically(target, b"by a guest")
        assert target.read_bytes() == b"by a guest"
        assert (target.stat().st_uid, target.stat().st_gid, _mode(target)) == (1234, 2345, 0o666)
