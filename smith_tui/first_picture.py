"""The picture that a start begins with: where it is kept, what it belongs to, and whether it still holds.

It imports next to nothing, for it stands before the first ink. A file holds the lengths of its three parts, the start
that it belongs to, the files that the picture depends on with their marks, and the picture.
"""

import os
import sys
from binascii import crc32
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

MAX_BYTES = 1 << 20
"""More than any screen needs."""
_FORMAT = "1"
_FOR_COLORS = ("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "TMUX", "STY", "INSIDE_EMACS")
_FOR_LETTERS = ("UNICODE_VERSION", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONUTF8", "PYTHONIOENCODING")
_VARIABLES = (*_FOR_COLORS, *_FOR_LETTERS, "HOME", "XDG_CONFIG_HOME")
_PREFIXES = ("SMITH_", "TEXTUAL")


class StartKey:
    """What a picture belongs to, and the file that it is kept in."""

    __slots__ = ("path", "text")

    def __init__(self, text: bytes, path: str) -> None:
        self.text = text
        self.path = path


def start_key(arguments: Sequence[str], screen: int, environ: Mapping[str, str] = os.environ) -> StartKey | None:
    """Return the key of a start on the terminal of descriptor `screen`.

    It is made of the size, the arguments and all variables that colours, letters and settings depend on. None where
    that cannot be said for sure: a size that is set by variables, settings in a relative place, no cache folder.
    Raises OSError when the descriptor is no terminal.
    """
    if environ.get("COLUMNS") or environ.get("LINES"):
        return None
    settings = [value for word, value in pairwise(arguments) if word == "--config"]
    settings.append(environ.get("SMITH_CONFIG", ""))
    home, cache = environ.get("HOME", ""), environ.get("XDG_CACHE_HOME", "")
    if not home.startswith("/") or any(path and not path.startswith("/") for path in settings):
        return None
    size = os.get_terminal_size(screen)
    values = [f"{name}={environ[name]}" for name in _VARIABLES if name in environ]
    values += sorted(f"{name}={value}" for name, value in environ.items() if name.startswith(_PREFIXES))
    program = (_FORMAT, f"{size.columns}x{size.lines}", sys.version, sys.prefix, __file__)
    text = "\0".join((*program, *arguments, "", *values)).encode("utf-8", "surrogateescape")
    folder = cache if cache.startswith("/") else f"{home}/.cache"
    return StartKey(text, f"{folder}/smith/pictures/{crc32(text):08x}")


def mark(path: str) -> str:
    """Return what changes whenever a file does; "-" for one that is not there."""
    try:
        state = os.stat(path)  # noqa: PTH116 - pathlib takes longer to import than all of this
    except OSError:
        return "-"
    return f"{state.st_mtime_ns}:{state.st_size}:{state.st_ino}"


def read_picture(key: StartKey) -> bytes | None:
    """Return the picture of a start, None when there is none or something that it depends on has changed."""
    try:
        descriptor = os.open(key.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        state = os.fstat(descriptor)
        if state.st_uid != os.getuid() or state.st_size > MAX_BYTES:
            return None
        data = os.read(descriptor, MAX_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return _checked(data, key)


def picture_file(key: StartKey, dependencies: Iterable[str], picture: bytes) -> bytes:
    """Return the content of the file that keeps a picture; dependencies: absolute paths, which need not exist."""
    marks = "\0".join(part for path in dependencies for part in (path, mark(path))).encode("utf-8", "surrogateescape")
    return b"%d %d %d\n" % (len(key.text), len(marks), len(picture)) + key.text + marks + picture


def _checked(data: bytes, key: StartKey) -> bytes | None:
    head, _, rest = data.partition(b"\n")
    try:
        key_length, marks_length, picture_length = map(int, head.split())
    except ValueError:
        return None
    marks_end = key_length + marks_length
    if len(rest) != marks_end + picture_length or rest[:key_length] != key.text:
        return None
    marks = rest[key_length:marks_end].decode("utf-8", "surrogateescape").split("\0")
    if any(mark(path) != then for path, then in zip(marks[::2], marks[1::2], strict=True)):
        return None
    return rest[marks_end:]
