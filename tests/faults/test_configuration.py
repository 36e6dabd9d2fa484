"""Configuration: what is wrong is named, and nothing else is thrown away for it (B25, B26)."""

import json
import os
import socket
from pathlib import Path

import pytest

from smith_core.config.schema import Config
from smith_core.config.user_file import MAX_BYTES
from smith_core.stored_settings import stored_settings
from tests.core.config.test_user_file import load_file, only_message
from tests.support.place import Place, run
from tests.support.seat import Seat
from tests.support.server_thread import ServerThread

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


def test_b25_a_broken_settings_file_shows_a_banner(place: Place) -> None:
    settings = place.home / ".config" / "smith" / "config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{")
    with ServerThread(["x"]) as server, place.start(server.url, "--model", "m") as terminal:
        # The path is longer than a row, so it is wrapped somewhere.
        terminal.wait_for(lambda text: "config.json" in "".join(text.split()) and "line 1" in text)
        terminal.type("/config set tool_step_budget 9\r")
        terminal.wait_for("tool_step_budget is now 9")
        assert settings.read_text() == "{"


def test_b25_a_broken_settings_file_is_named_and_left_alone(place: Place) -> None:
    settings = place.home / ".config" / "smith" / "config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"default_model":"m1",}')
    with ServerThread(["fine"]) as server:
        done = run(place, server.url, "--model", "m")
    assert (done.returncode, done.stdout) == (0, "fine\n")
    assert f"{settings}" in done.stderr
    assert "line 1" in done.stderr
    assert settings.read_text() == '{"default_model":"m1",}'


def test_b26_all_problems_are_named_at_once(place: Place) -> None:
    settings = place.home / ".config" / "smith" / "config.json"
    settings.parent.mkdir(parents=True)
    wrong = {
        "llm_config": {"retry_max_retries": -1, "api_key_env": "MY_KEY"},
        "contxt_management": {"enabled": False},
        "tool_step_budget": 0,
    }
    settings.write_text(json.dumps(wrong))
    place.environ["MY_KEY"] = "k-from-my-key"
    with ServerThread(["fine"]) as server:
        done = run(place, server.url, "--model", "m")
        assert server.requests[0].key == "k-from-my-key"
    assert done.stdout == "fine\n"
    for path in ("llm_config.retry_max_retries", "contxt_management", "tool_step_budget"):
        assert path in done.stderr


@pytest.mark.parametrize(("content", "words"), [row[1:] for row in BAD_FILES], ids=[row[0] for row in BAD_FILES])
def test_b25_a_bad_file_gives_one_sentence_with_path_and_place(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    message = only_message(load_file(path))
    assert str(path) in message
    assert words in message
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"{}"])
def test_b25_an_empty_file_counts_as_absent(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    loaded = load_file(path)
    assert (loaded.config, loaded.problems) == (Config(), ())


def test_b25_a_byte_order_mark_is_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b'\xef\xbb\xbf{"default_model":"m1"}')
    assert load_file(path).config.default_model == "m1"
    path.write_bytes(b'\xef\xbb\xbf{"default_model":"m1",}')
    assert "line 1, column 22" in only_message(load_file(path))


@pytest.mark.parametrize("mode", [0o000, 0o200, 0o311])
def test_b25_a_file_that_nobody_may_read(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"default_model":"m1"}')
    path.chmod(mode)
    assert "you have no permission to read it" in only_message(load_file(path))
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
        assert "it is a folder" in only_message(load_file(folder))
        assert "it is a named pipe" in only_message(load_file(pipe))
        assert "it is a named pipe" in only_message(load_file(link))
        assert "it is a socket" in only_message(load_file(endpoint))
        assert "too many levels of symbolic links" in only_message(load_file(loop))
        assert "it is a character device" in only_message(load_file(Path("/dev/zero")))


def test_b25_a_doubled_key_is_named_and_takes_nothing_else_with_it(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(
        '{"models":{"a":"x","a":"y","b":"z"},"active_role":"direct","active_role":"direct","default_model":"m"}'
    )
    loaded = load_file(path)
    assert [(problem.path, problem.expected) for problem in loaded.problems] == [
        ("models.a", "given only once"),
        ("active_role", "given only once"),
    ]
    assert dict(loaded.config.models) == {"b": "z"}
    assert loaded.config.default_model == "m"


REFUSED = [
    "context_management.trim_threshold_pct 0", "context_management.trim_threshold_pct 100.1",
    "context_management.trim_threshold_pct NaN", "contxt.enabled false", "index_file ../x",
    "llm_config.retry_backoff_ms []", 'models.a ""', "default_model 42", "tool_step_budget 0x10",
    "tool_step_budget -0", "tool_step_budget 1e400", "tool_step_budget 9999999999999999999999", "llm_config 1",
    "llm_config.api_url file:///etc/passwd", "llm_config.api_url javascript:1", "index_file docs/../../x",
    "index_file \\\\host\\share", "__class__ 1", "tools.permission maybe", "[red]x 1",
    "llm_config.retry_backoff_ms [1,-1]",
]  # fmt: skip


def test_b26_what_is_refused_leaves_nothing_behind(seat: Seat) -> None:
    data = seat.place.home / ".local/share/smith"
    seat.command("/config set llm_config.retry_backoff_ms [0]", "retry_backoff_ms is now")
    seat.command("/config set tool_step_budget 1e3", "tool_step_budget is now 1000")
    before = dict(stored_settings(data))
    assert before["tool_step_budget"] == 1000 and isinstance(before["tool_step_budget"], int)
    for line in REFUSED:
        seat.command(f"/config set {line}")
    seat.ask("still there")
    assert stored_settings(data) == before
