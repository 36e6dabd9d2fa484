"""Which names below some folders the system has seen change (inotify(7)), so that not all of them need be looked at."""

import ctypes
import os
import struct
from typing import NamedTuple

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _OVERFLOW, _IGNORED, _IS_FOLDER = 0x100, 0x200, 0x4000, 0x8000, 0x40000000
_ONLY_FOLDERS, _NO_LINKS = 0x01000000, 0x02000000
_WANTED = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLY_FOLDERS | _NO_LINKS
_EVENT = struct.Struct("iIII")
_BUFFER_BYTES = 1 << 20


class Touched(NamedTuple):
    """Names relative to the watched root: files, folders that came or were made, and folders that went."""

    files: set[str]
    new_folders: set[str]
    lost_folders: set[str]


class Notifier:
    """Watches single folders; OSError where the system has no such thing, or no more of it."""

    def __init__(self, root: str) -> None:
        self._root = root
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            self._add, self._remove = libc.inotify_add_watch, libc.inotify_rm_watch
            descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError as error:
            raise OSError("the system has no inotify") from error
        if descriptor < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._descriptor: int = descriptor
        self._folders: dict[int, str] = {}
        self._watched: set[str] = set()

    def watch(self, folder: str) -> None:
        """Watch a folder, "" for the root; one that has gone meanwhile is passed over. Raises OSError."""
        if folder in self._watched:
            return
        number = self._add(self._descriptor, os.fsencode(os.path.join(self._root, folder)), _WANTED)  # noqa: PTH118
        if number >= 0:
            self._folders[number] = folder
            self._watched.add(folder)
        elif not _is_gone(ctypes.get_errno()):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def touched(self) -> Touched | None:
        """Return what has changed since the last call, None when too much has: then anything may have."""
        found = Touched(set(), set(), set())
        is_whole = True
        while data := self._read():
            start = 0
            while start < len(data):
                number, mask, _, length = _EVENT.unpack_from(data, start)
                start += _EVENT.size
                name = os.fsdecode(data[start : start + length].rstrip(b"\0"))
                start += length
                is_whole = is_whole and not mask & _OVERFLOW
                self._note(number, mask, name, found)
        return found if is_whole else None

    def close(self) -> None:
        """Watch nothing any more."""
        os.close(self._descriptor)

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _BUFFER_BYTES)
        except BlockingIOError:
            return b""

    def _note(self, number: int, mask: int, name: str, found: Touched) -> None:
        folder = self._folders.get(number)
        if folder is None:
            return
        if mask & _IGNORED:
            del self._folders[number]
            self._watched.discard(folder)
            return
        if not name:
            return
        path = f"{folder}/{name}" if folder else name
        if not mask & _IS_FOLDER:
            found.files.add(path)
        elif mask & (_CREATE | _MOVED_TO):
            found.new_folders.add(path)
        elif mask & (_DELETE | _MOVED_FROM):
            found.lost_folders.add(path)
            self._forget(path)

    def _forget(self, folder: str) -> None:
        """Let go of a folder that has another name now, with all below it."""
        gone = [number for number, name in self._folders.items() if name == folder or name.startswith(f"{folder}/")]
        for number in gone:
            self._watched.discard(self._folders.pop(number))
            self._remove(self._descriptor, number)


def _is_gone(error: int) -> bool:
    import errno

    return error in (errno.ENOENT, errno.ENOTDIR, errno.EACCES)
