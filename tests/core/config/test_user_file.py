"""Reading the person's own file: every bad file gives one clear sentence, and none is ever changed."""

import os
import socket
from pathlib import Path

import pytest

from smith_core.config.layers import ConfigOptions, LoadedConfig, load_effective_config
from smith_core.config.report import render_problems
from smith_core.config.schema import Config
from smith_core.config.user_file import MAX_BYTES, UserFile, decode_value, locate_user_file

BAD_FILES: list[tuple[str, bytes, str]] = [
    ("comma behind the last value", b'{"keys":\n[1, 2,\n ]}', "line 2, column 6: there is a comma too many here"),
    ("comma behind the last entry", b'{"default_model":"m1",}', "line 1, column 22: there is a comma too many here"),
    ("open bracket", b"{", "line 1, column 2: the file ends too early"),
    ("cut in a text", b'{"default_model":"m', "line 1, column 18: the text that starts here"),
    ("cut behind a key", b'{"default_model":', "line 1, column 18: the file ends too early"),
    ("list", b"[]", "it holds [], but must hold a table"),
    ("list of settings", b'[{"default_model":"m1"}]', "but must hold a table"),
    ("null", b"null", "it holds null, but must hold a table"),
    ("number", b"42", "it holds 42"),
    ("text", b'"default_model"', 'it holds "default_model"'),
    ("comment", b'{\n  // mine\n  "default_model":"m1"}', "line 2, column 3: comments are not allowed here"),
    ("single quotes", b"{'default_model':'m1'}", "line 1, column 2: a key in double quotes"),
    ("missing comma", b'{"default_model":"m1"\n "index_file":"x"}', "line 2, column 2: a comma or a closing bracket"),
    ("missing colon", b'{"default_model" "m1"}', 'line 1, column 18: a ":" is missing here'),
    ("bare word", b'{"default_model": m1}', "line 1, column 19: a value is expected here"),
    ("two tables", b"{}\n{}", "line 2, column 1: the settings have ended before this"),
    ("line break in a text", b'{"default_model":"a\nb"}', "line 1, column 20: there is a line break"),
    ("backslash", b'{"index_file":"docs\\x"}', "line 1, column 20: there is a backslash"),
    ("yaml", b"default_model: m1\n", "line 1, column 1: a value is expected here"),
    ("Latin-1", b'{"default_model":"caf\xe9"}', "it is not UTF-8 text (line 1, column 22)"),
    ("UTF-16", '{"default_model":"m1"}'.encode("utf-16"), "it is not UTF-8 text (line 1, column 1)"),
    ("NUL", b"\0\0\0", "line 1, column 1: a value is expected here"),
    ("too deep", b'{"services":' + b"[" * 100_000, "its brackets are nested too deeply"),
    ("too large", b" " * (MAX_BYTES + 1), f"it has {MAX_BYTES + 1} bytes"),
]


def _load(path: Path, *, is_named: bool = True) -> LoadedConfig:
    return load_effective_config(ConfigOptions(user_file=UserFile(path=path, is_named=is_named)))


def _only_message(loaded: LoadedConfig) -> str:
    assert loaded.config == Config()
    assert len(loaded.problems) == 1
    message = render_problems(loaded.problems)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(("content", "words"), [row[1:] for row in BAD_FILES], ids=[row[0] for row in BAD_FILES])
def test_b25_a_bad_file_gives_one_sentence_with_path_and_place(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    message = _only_message(_load(path))
    assert str(path) in message
    assert words in message
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"{}"])
def test_b25_an_empty_file_counts_as_absent(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    loaded = _load(path)
    assert (loaded.config, loaded.problems) == (Config(), ())


def test_b25_a_byte_order_mark_is_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b'\xef\xbb\xbf{"default_model":"m1"}')
    assert _load(path).config.default_model == "m1"
    path.write_bytes(b'\xef\xbb\xbf{"default_model":"m1",}')
    assert "line 1, column 22" in _only_message(_load(path))


@pytest.mark.parametrize("mode", [0o000, 0o200, 0o311])
def test_b25_a_file_that_nobody_may_read(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"default_model":"m1"}')
    path.chmod(mode)
    assert "you have no permission to read it" in _only_message(_load(path))
    assert path.stat().st_mode & 0o777 == mode


def test_b25_what_is_no_regular_file_is_named_and_never_waited_for(tmp_path: Path) -> None:
    folder, pipe, endpoint = tmp_path / "folder", tmp_path / "pipe", tmp_path / "socket"
    folder.mkdir()
    os.mkfifo(pipe)
    link, loop = tmp_path / "link", tmp_path / "loop"
    link.symlink_to(pipe)
    loop.symlink_to(loop)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(endpoint))
        assert "it is a folder" in _only_message(_load(folder))
        assert "it is a named pipe" in _only_message(_load(pipe))
        assert "it is a named pipe" in _only_message(_load(link))
        assert "it is a socket" in _only_message(_load(endpoint))
        assert "too many levels of symbolic links" in _only_message(_load(loop))
        assert "it is a character device" in _only_message(_load(Path("/dev/zero")))


def test_a_missing_file_is_worth_a_word_only_when_it_was_asked_for(tmp_path: Path) -> None:
    missing = tmp_path / "none" / "config.json"
    assert _load(missing, is_named=False).problems == ()
    message = _only_message(_load(missing))
    assert str(missing) in message
    assert "there is no such file" in message
    assert _load(Path(os.devnull)).problems == ()


def test_b25_a_doubled_key_is_named_and_takes_nothing_else_with_it(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(
        '{"models":{"a":"x","a":"y","b":"z"},"active_role":"direct","active_role":"direct","default_model":"m"}'
    )
    loaded = _load(path)
    assert [(problem.path, problem.expected) for problem in loaded.problems] == [
        ("models.a", "given only once"),
        ("active_role", "given only once"),
    ]
    assert dict(loaded.config.models) == {"b": "z"}
    assert loaded.config.default_model == "m"


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "-" + "9" * 400, "true", '"5"']
)
def test_b26_a_number_that_is_none_is_named(tmp_path: Path, number: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(f'{{"llm_config":{{"timeout":{number},"connect_timeout":3}}}}')
    loaded = _load(path)
    assert [problem.path for problem in loaded.problems] == ["llm_config.timeout"]
    assert (loaded.config.llm_config.timeout, loaded.config.llm_config.connect_timeout) == (600.0, 3.0)


@pytest.mark.parametrize(
    ("named", "environ", "path", "is_named"),
    [
        (None, {"HOME": "/h"}, "/h/.config/smith/config.json", False),
        (None, {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/smith/config.json", False),
        (None, {"HOME": "/h", "XDG_CONFIG_HOME": ""}, "/h/.config/smith/config.json", False),
        (None, {"HOME": "/h", "XDG_CONFIG_HOME": "   "}, "/h/.config/smith/config.json", False),
        (None, {"HOME": "/h", "XDG_CONFIG_HOME": "rel/x"}, "/h/.config/smith/config.json", False),
        (None, {"HOME": "/h", "SMITH_CONFIG": "/other.json"}, "/other.json", True),
        (None, {"HOME": "/h", "SMITH_CONFIG": " "}, "/h/.config/smith/config.json", False),
        ("/flag.json", {"HOME": "/h", "SMITH_CONFIG": "/other.json"}, "/flag.json", True),
    ],
)
def test_where_the_file_is_looked_for(named: str | None, environ: dict[str, str], path: str, is_named: bool) -> None:
    assert locate_user_file(named, environ) == UserFile(path=Path(path), is_named=is_named)


def test_a_relative_name_is_taken_from_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate_user_file("mine.json", {}).path == tmp_path / "mine.json"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("80", 80),
        ("1e3", 1000.0),
        ("false", False),
        ("null", None),
        ("[2000,8000]", [2000, 8000]),
        ('"42"', "42"),
        ("openrouter/qwen/qwen3.6-27b", "openrouter/qwen/qwen3.6-27b"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("{", "{"),
        ("01", "01"),
        ("1 2", "1 2"),
        ("", ""),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_typed_value_is_json_or_else_text(text: str, value: object) -> None:
    decoded = decode_value(text)
    assert decoded == value
    assert type(decoded) is type(value)
