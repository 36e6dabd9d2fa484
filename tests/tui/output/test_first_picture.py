"""The picture of the first screen: it comes back only for exactly the start that it was kept of."""

import os
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_tui.command_line import build_parser
from smith_tui.early_terminal import is_app_start
from smith_tui.first_picture import StartKey, mark, picture_file, read_picture, start_key
from smith_tui.start_arguments import read_app_start

PICTURE = b"\x1b[1;1H> Type a task"


@pytest.fixture
def terminal() -> Iterator[int]:
    master, slave = os.openpty()
    yield slave
    os.close(master)
    os.close(slave)


def environ(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "TERM": "xterm-256color", **more}


def kept(tmp_path: Path, *dependencies: tuple[str, str]) -> StartKey:
    key = StartKey(b"a start", str(tmp_path / "picture"), (80, 24))
    Path(key.path).write_bytes(picture_file(key, dependencies, PICTURE))
    return key


def test_it_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    key = kept(tmp_path, (str(tmp_path / "config.json"), ""), (str(tmp_path / "absent"), ""))
    assert read_picture(key) == PICTURE


def test_a_change_of_the_size_a_colour_or_an_argument_is_another_start(tmp_path: Path, terminal: int) -> None:
    def key(*arguments: str, **more: str) -> StartKey:
        found = start_key(arguments, terminal, environ(tmp_path, **more))
        assert found is not None
        return found

    keys = [key(), key("--role", "orchestrator"), key(NO_COLOR="1"), key(COLORTERM="truecolor"), key(TERM="screen")]
    keys += [key(SMITH_CONFIG="/c.json"), key(LC_ALL="C"), key(TEXTUAL_COLOR_SYSTEM="standard")]
    termios.tcsetwinsize(terminal, (30, 100))
    keys.append(key())
    assert len({(one.text, one.path) for one in keys}) == len(keys)
    assert keys[-1].size == (100, 30) and key().text == keys[-1].text
    Path(keys[0].path).parent.mkdir(parents=True)
    Path(keys[0].path).write_bytes(picture_file(keys[0], (), PICTURE))
    # Even at the same place: a name is only a short sum of what it stands for.
    assert [read_picture(StartKey(one.text, keys[0].path, one.size)) for one in keys] == [PICTURE, *[None] * 8]


def test_a_key_among_arguments_or_variables_is_not_kept(tmp_path: Path, terminal: int) -> None:
    secret = "sk-0123456789abcdef"
    arguments = ("--set", f"llm_config.api_url=https://me:{secret}@models.test/v1")
    key = start_key(arguments, terminal, environ(tmp_path, SMITH_TEST_KEY=secret))
    assert key is not None
    assert secret.encode() not in picture_file(key, (), PICTURE) and secret not in key.path
    other = start_key(arguments, terminal, environ(tmp_path, SMITH_TEST_KEY=secret[:-1] + "0"))
    assert other is not None and other.text != key.text


@pytest.mark.parametrize("more", [{"COLUMNS": "80"}, {"LINES": "24"}, {"SMITH_CONFIG": "relative.json"}, {"HOME": ""}])
def test_a_start_that_cannot_be_told_for_sure_has_none(tmp_path: Path, terminal: int, more: dict[str, str]) -> None:
    assert start_key((), terminal, environ(tmp_path) | more) is None
    assert start_key(("--config", "relative.json"), terminal, environ(tmp_path)) is None


def test_anything_that_it_depends_on_makes_it_invalid(tmp_path: Path) -> None:
    settings, absent = tmp_path / "config.json", tmp_path / "absent.json"
    settings.write_text("{}")
    key = kept(tmp_path, (str(settings), ""), (str(absent), ""))
    os.utime(settings, ns=(1, 1))
    assert read_picture(key) is None
    key = kept(tmp_path, (str(settings), ""), (str(absent), ""))
    absent.touch()
    assert read_picture(key) is None


def test_of_a_journal_only_the_newest_settings_count(tmp_path: Path) -> None:
    journal = tmp_path / "global.jrnl"
    journal.write_bytes(b"1 config runtime_overrides\t{}\n2 conversation x\t{}\n")
    key = kept(tmp_path, (str(journal), " config runtime_overrides\t"))
    journal.write_bytes(journal.read_bytes() + b"3 conversation y\t{}\n")
    assert read_picture(key) == PICTURE
    journal.write_bytes(journal.read_bytes() + b"4 config runtime_overrides\t{1}\n")
    assert read_picture(key) is None
    assert mark(str(journal), "nothing like it") == mark(str(journal), "nor like that")


def test_what_was_cut_short_or_is_no_file_of_ours_is_not_shown(tmp_path: Path) -> None:
    key = kept(tmp_path)
    whole = Path(key.path).read_bytes()
    for length in (0, 3, len(whole) // 2, len(whole) - 1):
        Path(key.path).write_bytes(whole[:length])
        assert read_picture(key) is None
    Path(key.path).write_bytes(whole + b"more")
    assert read_picture(key) is None
    Path(key.path).unlink()
    assert read_picture(key) is None
    (tmp_path / "elsewhere").write_bytes(whole)
    Path(key.path).symlink_to(tmp_path / "elsewhere")
    assert read_picture(key) is None


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("", True),
        ("--new --role direct --set a=b --model m --config /c", True),
        ("--resume ID", True),
        ("--resume", False),
        ("--resume --new", False),
        ("--mod m", False),
        ("--model", False),
        ("--help", False),
        ("--version", False),
        ("run task", False),
        ("setup", False),
        ("tour", False),
        ("--model m doctor", False),
    ],
)
def test_only_a_plain_start_of_the_app_touches_the_terminal(line: str, opens: bool) -> None:
    assert is_app_start(line.split()) is opens


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--new --role direct --set a=b --model m --config /c --set c=d --model n",
        "--resume ID",
        "--role orchestrator",
    ],
)
def test_a_plain_start_is_read_as_the_whole_parser_reads_it(line: str) -> None:
    arguments = read_app_start(line.split())
    assert arguments is not None
    assert vars(arguments) == vars(build_parser().parse_args(line.split()))


@pytest.mark.parametrize("line", ["--role tank", "--new --resume ID"])
def test_what_the_whole_parser_refuses_is_left_to_it(line: str) -> None:
    assert is_app_start(line.split()) and read_app_start(line.split()) is None
