"""The guide and the README against the program: generated parts, command lines, commands, settings, keys and links."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generate.man import man_page
from docs.generate.options import subcommands
from docs.generate.pages import GUIDE, MAN_PAGE, PARTS, ROOT, renewed
from docs.generate.tables import keys_by_place
from smith_core.commands.table import COMMANDS
from smith_core.config.patch import merge_overrides, parse_override
from smith_core.config.schema import Problem, validate
from smith_core.config.settings import SETTINGS, TABLES, find_setting
from smith_tui.command_line import build_parser
from smith_tui.keys import KEY_ACTIONS, key_label, resolve_keys

GUIDE_PAGES = {path.name: path.read_text("utf-8") for path in sorted(GUIDE.glob("*.md"))}
PAGES = {**GUIDE_PAGES, "the README of the project": (ROOT / "README.md").read_text("utf-8")}
STALE = "the code says something else by now; run `make docs`"
OTHER_KEYS = {"Esc", "Enter", "Tab", "Space"}

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"/([a-z]+)(?: .*)?")
_KEY = re.compile(r"\b(?:(?:Ctrl|Alt|Shift)\+)+(?:[A-Z][a-z]+|[^\s`.,;:|)]+)|\bF\d+\b")


def snippets(page: str) -> Iterator[str]:
    """Yield every line of a code block, and every piece of code inside a sentence."""
    for block in _FENCE.finditer(page):
        yield from (line.strip() for line in block[3].splitlines())
    yield from (match[1] for match in _CODE.finditer(_FENCE.sub("", page)))


def command_lines(page: str) -> Iterator[list[str]]:
    """Yield the arguments of every call of smith-tui, without what the shell takes for itself.

    `smith-tui run` alone, inside a sentence, names the command and is no call.
    """
    names = [command.words.split() for command in subcommands()]
    for snippet in snippets(page):
        for part in re.split(r"\s\|\s|\s#\s|&&", snippet):
            words = shlex.split(part, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words.pop(0)
            if words[:1] == ["smith-tui"] and words not in names:
                yield words[1 : words.index(">") if ">" in words else None]


@pytest.mark.parametrize("name", GUIDE_PAGES)
def test_generated_parts_are_what_the_code_says(name: str) -> None:
    assert renewed(GUIDE_PAGES[name]) == GUIDE_PAGES[name], STALE


def test_the_manual_page_is_what_the_code_says() -> None:
    assert MAN_PAGE.read_text("utf-8") == man_page(), STALE


def test_every_part_has_its_place() -> None:
    used = re.findall(r"<!-- generated: ([a-z-]+) -->", "".join(GUIDE_PAGES.values()))
    assert sorted(used) == sorted(PARTS)


@pytest.mark.parametrize("name", PAGES)
def test_the_parser_takes_every_command_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in command_lines(PAGES[name]):
        try:
            parsed = build_parser().parse_args(arguments)
        except SystemExit as ended:
            assert ended.code == 0, f"{arguments}: {capsys.readouterr().err}"
            continue
        pairs = [parse_override(text) for text in (*parsed.overrides, *getattr(parsed, "more_overrides", ()))]
        settings = merge_overrides([pair for pair in pairs if not isinstance(pair, Problem)])
        assert not any(isinstance(pair, Problem) for pair in pairs)
        assert validate(settings) == (), arguments


@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_the_app_is_one(name: str) -> None:
    known = {command.name for command in COMMANDS}
    for snippet in snippets(PAGES[name]):
        found = _COMMAND.fullmatch(snippet)
        assert found is None or found[1] in known, snippet
        if snippet.startswith("/config set "):
            _, _, path, value = snippet.split(" ", 3)
            assert validate(merge_overrides([parse_override(f"{path}={value}")])) == (), snippet


@pytest.mark.parametrize("name", PAGES)
def test_every_setting_is_one(name: str) -> None:
    tables = {path.partition(".")[0] for path in TABLES}
    for snippet in snippets(PAGES[name]):
        if re.fullmatch(r"[a-z_]+(\.[a-z_<>]+)+", snippet) and snippet.partition(".")[0] in tables:
            assert snippet in SETTINGS or snippet in TABLES or find_setting(snippet) is not None, snippet


@pytest.mark.parametrize("name", PAGES)
def test_settings_files_are_valid(name: str) -> None:
    for block in _FENCE.finditer(PAGES[name]):
        if block[2] == "json":
            settings = json.loads(block[3])
            assert validate(settings) == ()
            assert resolve_keys(settings.get("keys", {}))[1] == ()


@pytest.mark.parametrize("name", PAGES)
def test_every_key_is_one(name: str) -> None:
    labels = {key_label(key) for action in KEY_ACTIONS for key in action.keys} | OTHER_KEYS
    by_hand = re.sub(r"<!-- generated.*?<!-- end -->", "", PAGES[name], flags=re.DOTALL)
    for found in _KEY.finditer(by_hand):
        assert found[0] in labels, found[0]


@pytest.mark.parametrize("name", GUIDE_PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", GUIDE_PAGES[name]):
        assert (GUIDE / target).exists(), target


def test_every_page_is_listed() -> None:
    assert set(re.findall(r"\]\(([^)]+)\)", GUIDE_PAGES["README.md"])) == set(GUIDE_PAGES) - {"README.md"}


def test_every_make_target_that_is_named_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", Path(ROOT, "Makefile").read_text(), re.MULTILINE))
    named = {
        target for page in PAGES.values() for target in re.findall(r"(?:^|`)make ([a-z][a-z-]+)", page, re.MULTILINE)
    }
    assert named <= targets


def test_every_key_stands_in_one_place() -> None:
    listed = [action.name for _, actions in keys_by_place() for action in actions]
    assert sorted(listed) == sorted(action.name for action in KEY_ACTIONS)
