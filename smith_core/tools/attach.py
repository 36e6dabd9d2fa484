"""Files that a prompt mentions as `@path`: their content goes along with it, in the form in which `read` shows it."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from smith_core.cancel import CancelToken
from smith_core.patterns import later
from smith_core.plainfile import NotRegularFileError
from smith_core.tools.file_access import PathRefusedError, resolve_path
from smith_core.tools.read import MAX_READ_BYTES, ReadArguments, read_lines

MOST_FILES = 20
FILE_CHARS = 40_000
"""Most characters of one file that go along; the model reads the rest by itself."""
ALL_CHARS = 80_000
"""Most characters of all files together: they are part of a prompt, which is never elided."""

# A mention begins a word: an address or a decorator inside of one is none.
_MENTION = later(r"""(?<![^\s(\[{,;])@(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'@][^\s@]*))""")
_BEHIND_A_WORD = ".,;:!?)]}"


class Attached(msgspec.Struct, frozen=True):
    """What goes along with a prompt, "" for nothing; paths: of the files in it. problems: sentences for the person."""

    text: str = ""
    paths: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def mentions(text: str) -> Iterator[str]:
    """Yield the paths that a prompt mentions, each once, without the marks around them."""
    seen: set[str] = set()
    for match in _MENTION.finditer(text):
        path = match[1] or match[2] or match[3]
        if path not in seen:
            seen.add(path)
            yield path


def attach(text: str, cwd: Path, token: CancelToken) -> Attached:
    """Return the files that a prompt mentions; what is no file is not meant as one, so nothing is said of it.

    Raises AgentFailure when the token is cancelled.
    """
    parts: list[str] = []
    paths: list[str] = []
    problems: list[str] = []
    room = ALL_CHARS
    for mentioned in mentions(text):
        path = _file_of(mentioned, cwd)
        if path is None or path in paths:
            continue
        if len(paths) == MOST_FILES or room < FILE_CHARS // 10:
            problems.append(f"@{mentioned} was not attached: it is too much for one prompt; Smith can read it himself")
            continue
        try:
            outcome = read_lines(ReadArguments(path=path), Path(cwd, path), cwd, token, min(FILE_CHARS, room))
        except NotRegularFileError as error:
            problems.append(f"@{mentioned} was not attached: it is {error.what}")
            continue
        except OSError as error:
            problems.append(f"@{mentioned} was not attached: {(error.strerror or 'it cannot be read').lower()}")
            continue
        if not outcome.ok:
            problems.append(f"@{mentioned} was not attached: it is larger than {MAX_READ_BYTES >> 20} MB")
            continue
        paths.append(path)
        parts.append(f"[attached file]\n{outcome.content}")
        room -= len(outcome.content)
    return Attached("\n\n".join(parts), tuple(paths), tuple(problems))


def _file_of(mentioned: str, cwd: Path) -> str | None:
    """Return the path of the file that is meant, without what stands behind it in the sentence, None for no file."""
    for candidate in (mentioned, mentioned.rstrip(_BEHIND_A_WORD)):
        try:
            path = resolve_path(candidate, cwd)
            if path.exists() and not path.is_dir():
                return str(path)
        except (PathRefusedError, OSError, ValueError):
            continue
    return None
