"""Replaces a file's content so that every reader sees all of the old bytes or all of the new ones."""

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from smith_core.plainfile import check_regular


class ReadOnlyFileError(Exception):
    """The file's mode does not let this user write to it."""


class PartialWriteError(OSError):
    """Writing into a file in place failed half-way, so its content may be damaged."""


def follow_links(path: Path) -> Path:
    """Return what every link of `path` leads to, which need not exist; raises OSError, for a loop with ELOOP."""
    with contextlib.suppress(FileNotFoundError):
        path.stat()  # realpath would stay silent about loops and forbidden folders
    return Path(os.path.realpath(path))


def write_atomically(
    target: Path, data: bytes, *, confirm: Callable[[], None] = lambda: None, mode: int | None = None
) -> None:
    """Create or replace `target` (links already followed, see `follow_links`); missing folders are made.

    An existing file keeps its mode, owner, access list and user attributes, a new one gets the mode that the umask
    leaves; either has `mode` where one is given.
    `confirm` is called right before the replacement and may raise to call it off. A file with several hard links,
    of an owner that a new file could not be given, or that is itself a mount point is written in place, as a rename
    would break it apart.
    On every failure the old content and nothing else is there; the one exception is PartialWriteError.
    Raises OSError, ReadOnlyFileError, NotRegularFileError and what `confirm` raises.
    """
    try:
        old = check_regular(target)
    except FileNotFoundError:
        old = None
    if old is not None:
        if not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise ReadOnlyFileError(str(target))
        if old.st_nlink > 1 or not _can_give_to_owner(old):
            confirm()
            _overwrite(target, data)
            if mode is not None:
                target.chmod(mode)
            return
    made = _make_folders(target.parent)
    temporary = target.parent / f".smith-{os.urandom(8).hex()}.tmp"
    try:
        _write_new_file(temporary, data, like=old)
        if old is not None:
            _copy_attributes(target, temporary)
        if mode is not None:
            temporary.chmod(mode)  # behind the access list, which sets a mode, too
        confirm()
        _put_in_place(temporary, target, data)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()  # it is gone when it was put in place
        for folder in reversed(made):
            with contextlib.suppress(OSError):
                folder.rmdir()  # only an empty one, after a failure


def _can_give_to_owner(old: os.stat_result) -> bool:
    if os.geteuid() == 0:
        return True
    return old.st_uid == os.geteuid() and (old.st_gid == os.getegid() or old.st_gid in os.getgroups())


def _make_folders(folder: Path) -> list[Path]:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    made: list[Path] = []
    try:
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            made.append(path)
    except OSError:
        for path in reversed(made):
            path.rmdir()
        raise
    return made


def _write_new_file(path: Path, data: bytes, like: os.stat_result | None) -> None:
    # A copy of a private file must not be readable by others for a moment; a new file leaves its mode to the umask.
    mode = 0o666 if like is None else 0o600
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        if like is not None:
            now = os.fstat(descriptor)
            if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
                with contextlib.suppress(OSError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
        os.fsync(descriptor)


def _copy_attributes(source: Path, target: Path) -> None:
    """Copy what hangs on a file beside its mode (xattr(7)); file systems and platforms without them have none."""
    with contextlib.suppress(OSError, AttributeError):
        for name in os.listxattr(source):
            if name.startswith("user.") or name == "system.posix_acl_access":
                os.setxattr(target, name, os.getxattr(source, name))


def _put_in_place(temporary: Path, target: Path, data: bytes) -> None:
    try:
        temporary.replace(target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        _overwrite(target, data)


def _overwrite(target: Path, data: bytes) -> None:
    with target.open("r+b") as stream:
        descriptor = stream.fileno()
        _reserve(descriptor, len(data))
        try:
            stream.write(data)
            stream.truncate()
            stream.flush()
            os.fsync(descriptor)
        except OSError as error:
            raise PartialWriteError(error.errno, error.strerror) from error


def _reserve(descriptor: int, size: int) -> None:
    """Fail for want of space before the first old byte is lost."""
    old_size = os.fstat(descriptor).st_size
    if size <= old_size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, old_size, size - old_size)
    except OSError as error:
        os.ftruncate(descriptor, old_size)
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
