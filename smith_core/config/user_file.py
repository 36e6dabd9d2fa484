"""The person's own settings file: where it is, and reading it with one clear sentence for whatever is wrong."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from smith_core.config.schema import TABLE_WORDS, GivenTwice, Problem, short_value
from smith_core.frozen import EMPTY_MAPPING
from smith_core.paths import config_dir
from smith_core.regular_file import read_regular_file

if TYPE_CHECKING:
    from json import JSONDecodeError

FILE_NAME = "config.json"
MAX_BYTES = 1_000_000
_BEGINS_JSON = ' \t\r\n{["-0123456789tfn'

_SYNTAX_WORDS: tuple[tuple[str, str], ...] = (
    ("Expecting property name", 'a key in double quotes, or the closing "}", is expected here'),
    ("Illegal trailing comma", "there is a comma too many here"),
    ("Expecting ':'", 'a ":" is missing here'),
    ("Expecting ','", "a comma or a closing bracket is missing here"),
    ("Expecting value", "a value is expected here"),
    ("Extra data", "the settings have ended before this"),
    ("Unterminated string", "the text that starts here has no closing double quote"),
    ("Invalid control character", "there is a line break or control character inside a text"),
    ("Invalid \\", "there is a backslash that must be doubled"),
)


class UserFile(msgspec.Struct, frozen=True, kw_only=True):
    """The settings file to read; `is_named` when the person asked for it, so that its absence is worth a word."""

    path: Path
    is_named: bool = False


class UserSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the file says, not yet checked, or the problem that keeps the whole file from counting."""

    candidate: Mapping[str, Any] = EMPTY_MAPPING
    problem: Problem | None = None


def locate_user_file(named: str | None = None, environ: Mapping[str, str] | None = None) -> UserFile:
    """Return the file of the flag `--config`, else of SMITH_CONFIG, else `$XDG_CONFIG_HOME/smith/config.json`."""
    choice = named or (os.environ if environ is None else environ).get("SMITH_CONFIG", "")
    if not choice.strip():
        return UserFile(path=config_dir(environ) / FILE_NAME)
    path = Path(choice)
    with contextlib.suppress(OSError, RuntimeError):  # no home folder, or the current folder is gone
        path = path.expanduser().absolute()
    return UserFile(path=path, is_named=True)


def read_user_file(file: UserFile) -> UserSettings:
    """Read and decode the file; it is never written. An absent or empty file says nothing."""
    if str(file.path) == os.devnull:
        return UserSettings()
    content = read_regular_file(file.path, MAX_BYTES + 1)
    if content.is_missing:
        return _unreadable(file, "there is no such file") if file.is_named else UserSettings()
    if content.problem:
        return _unreadable(file, content.problem)
    if len(content.data) > MAX_BYTES:
        return _unreadable(file, f"it has {content.size} bytes, and settings take at most {MAX_BYTES}")
    try:
        text = content.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _unreadable(file, f"it is not UTF-8 text ({_place_of_byte(content.data, error.start)})")
    return _decode(file, text) if text.strip() else UserSettings()


def _decode(file: UserFile, text: str) -> UserSettings:
    import json

    try:
        candidate = json.loads(text, object_pairs_hook=_table, parse_int=_integer)
    except json.JSONDecodeError as error:
        position, words = _syntax_problem(error)
        return _unreadable(file, f"{_place_of_character(error.doc, position)}: {words}")
    except RecursionError:
        return _unreadable(file, "its brackets are nested too deeply")
    if not isinstance(candidate, Mapping):
        return _unreadable(file, f"it holds {short_value(candidate)}, but must hold {TABLE_WORDS}")
    return UserSettings(candidate=candidate)


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        values: dict[str, list[Any]] = {}
        for key, value in pairs:
            values.setdefault(key, []).append(value)
        table = {key: found[0] if len(found) == 1 else GivenTwice(tuple(found)) for key, found in values.items()}
    return table


def _integer(digits: str) -> int | float:
    # Python refuses to read very long integers; as infinity they are rejected with the path of their setting.
    return int(digits) if len(digits) < 1000 else float(digits)


def _syntax_problem(error: "JSONDecodeError") -> tuple[int, str]:
    """Return where the mistake is, as an offset, and what it is."""
    before, after = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    if after.startswith(("//", "/*", "#")):
        return error.pos, "comments are not allowed here"
    # Python points to the comma since version 3.13, and to what stands behind it before.
    if before.endswith(",") and after.startswith(("}", "]")):
        return len(before) - 1, "there is a comma too many here"
    if not after:
        return error.pos, "the file ends too early"
    return error.pos, next((words for start, words in _SYNTAX_WORDS if error.msg.startswith(start)), error.msg)


def _place_of_character(text: str, offset: int) -> str:
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - text.rfind(chr(10), 0, offset)}"


def _place_of_byte(data: bytes, offset: int) -> str:
    line_start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[line_start:offset].decode("utf-8-sig", "replace")) + 1
    line = data[:line_start].count(b"\n") + 1
    return f"line {line}, column {column}"


def _unreadable(file: UserFile, sentence: str) -> UserSettings:
    return UserSettings(problem=Problem(kind="refused", path="", expected=sentence, source=str(file.path)))


def decode_value(text: str) -> Any:
    """Return the JSON value that `text` is, or the text itself when it is none; NaN and Infinity are none."""
    if text[:1] not in _BEGINS_JSON:
        return text
    import json

    try:
        return json.loads(text, object_pairs_hook=_table, parse_int=_integer, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
