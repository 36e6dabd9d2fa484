"""The picture that a start begins with: where it is kept, what it belongs to, and whether it still holds.

It imports next to nothing, for it stands before the first ink. A file holds the lengths of its three parts, sums of
the start that it belongs to, what the picture depends on with its marks, and the picture.
"""

import os
import sys
from binascii import crc32
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

MAX_BYTES = 4 << 20
"""More than any screen needs; and the most that is read of a file that only one line counts of."""
_FORMAT = "2"
NAME_END = f"-{_FORMAT}"
"""How the names of files end that are written in this way."""
_FOR_COLORS = ("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "TMUX", "STY", "INSIDE_EMACS")
_FOR_LETTERS = ("UNICODE_VERSION", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONUTF8", "PYTHONIOENCODING")
_VARIABLES = (*_FOR_COLORS, *_FOR_LETTERS, "HOME", "XDG_CONFIG_HOME")
_PREFIXES = ("SMITH_", "TEXTUAL")


class StartKey:
    """What a picture belongs to: a start on a screen of `size` (columns, rows); path: the file that keeps it.

    text: sums of the arguments and variables, not their values, for one of them may be a key.
    """

    __slots__ = ("path", "size", "text")

    def __init__(self, text: bytes, path: str, size: "tuple[int, int]") -> None:
        self.text = text
        self.path = path
        self.size = size


def start_key(arguments: Sequence[str], screen: int, environ: Mapping[str, str] = os.environ) -> StartKey | None:
    """Return the key of a start on the terminal of descriptor `screen`.

    It is made of the size, the arguments and all variables that colours, letters and settings depend on. None where
    that cannot be said for sure: a size that is set by variables, settings in a relative place, no home.
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
    whole = "\0".join((*program, *arguments, "", *values)).encode("utf-8", "surrogateescape")
    folder = cache if cache.startswith("/") else f"{home}/.cache"
    path = f"{folder}/smith/pictures/{crc32(whole):08x}{NAME_END}"
    # Two sums and the length: one sum of 32 bits alone can be the same for two starts.
    text = b"%08x %08x %x" % (crc32(whole), crc32(whole[::-1]), len(whole))
    return StartKey(text, path, (size.columns, size.lines))


def mark(path: str, needle: str = "") -> str:
    """Return what changes whenever a file does, or the last line that holds `needle` in it.

    "-" for a file or a line that is not there, "" for a file that cannot be judged.
    """
    try:
        state = os.stat(path)  # noqa: PTH116 - pathlib takes longer to import than all of this
    except OSError:
        return "-"
    if not needle:
        return f"{state.st_mtime_ns}:{state.st_size}:{state.st_ino}"
    data = _read(path)
    if data is None:
        return ""
    at = data.rfind(needle.encode())
    if at < 0:
        return "-"
    line = data[data.rfind(b"\n", 0, at) + 1 : data.find(b"\n", at)]
    return f"{crc32(line):08x}:{len(line)}"


def read_picture(key: StartKey) -> bytes | None:
    """Return the picture of a start, None when there is none or something that it depends on has changed."""
    data = _read(key.path)
    if data is None:
        return None
    head, _, rest = data.partition(b"\n")
    try:
        key_length, marks_length, picture_length = map(int, head.split())
    except ValueError:
        return None
    marks_end = key_length + marks_length
    if len(rest) != marks_end + picture_length or rest[:key_length] != key.text:
        return None
    marks = rest[key_length:marks_end].decode("utf-8", "surrogateescape").split("\0") if marks_length else []
    if len(marks) % 3:
        return None
    for path, needle, then in zip(marks[::3], marks[1::3], marks[2::3], strict=True):
        if not then or mark(path, needle) != then:
            return None
    return rest[marks_end:]


def picture_file(key: StartKey, dependencies: Iterable[tuple[str, str]], picture: bytes) -> bytes:
    """Return the content of the file that keeps a picture.

    dependencies: absolute paths, of files that need not exist, each with the needle of the line that counts or "".
    """
    parts = [part for path, needle in dependencies for part in (path, needle, mark(path, needle))]
    marks = "\0".join(parts).encode("utf-8", "surrogateescape")
    return b"%d %d %d\n" % (len(key.text), len(marks), len(picture)) + key.text + marks + picture


def _read(path: str) -> bytes | None:
    """Return the content of a file of this user, None for any other, or one that is too large."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        state = os.fstat(descriptor)
        if state.st_uid != os.getuid() or state.st_size > MAX_BYTES:
            return None
        return os.read(descriptor, MAX_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
