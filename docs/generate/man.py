"""The manual page smith-tui(1), in the man macros that every system has."""

from collections.abc import Iterable, Iterator

from docs.generate.options import program, subcommands
from docs.generate.tables import keys_by_place
from smith_core.commands.table import COMMANDS
from smith_tui.keys import key_label

_FILES = (
    ("~/.config/smith/config.json", "Settings; $XDG_CONFIG_HOME/smith when that is set."),
    ("~/.config/smith/commands/*.md", "Slash commands of your own: files whose text is sent as a prompt."),
    ("~/.local/share/smith", "Conversations, notes and stored settings; $XDG_DATA_HOME/smith when that is set."),
    ("~/.local/state/smith", "Reports of crashes, and what was asked before; $XDG_STATE_HOME/smith when that is set."),
    ("~/.cache/smith", "What may be deleted at any time; $XDG_CACHE_HOME/smith when that is set."),
)
_STATUS = (
    ("0", "The task was completed."),
    ("1", "An error."),
    ("2", "Wrong usage."),
    ("3", "The tool budget was used up."),
    ("130", "Cancelled."),
)
_VARIABLES = (
    ("LLM_API_KEY", "The key of the endpoint; llm_config.api_key_env names another variable."),
    ("LINKUP_API_KEY", "The key of linkup.so, which searching the web needs."),
    ("SMITH_CONFIG", "Another settings file, like --config."),
    ("SMITH_LOG", "A file for the log, as path or path:level; without it nothing is logged."),
    ("VISUAL, EDITOR", "The editor for messages and long prompts."),
    ("PAGER", "The pager that the whole conversation can be opened in."),
)


def man_page() -> str:
    """Return the page; it bears no date, so that it changes only when the program does."""
    parts = [
        '.TH SMITH\\-TUI 1 "" "smith\\-tui" "User Commands"',
        *_section("NAME", [f"smith\\-tui \\- {_text('a coding agent for people who live in the terminal')}"]),
        *_section("SYNOPSIS", [".B smith\\-tui", ".RI [ options ]", ".RI [ command ]"]),
        *_section("DESCRIPTION", [_text(program().description or ""), ".PP", *_text(_ABOUT).split("\n")]),
        *_commands(),
        *_listed("EXIT STATUS", _STATUS, [_text("Of smith-tui run:")]),
        *_section("KEYS", list(_keys())),
        *_listed(
            "SLASH COMMANDS", ((f"/{command.name} {command.usage}".rstrip(), command.summary) for command in COMMANDS)
        ),
        *_listed("ENVIRONMENT", _VARIABLES),
        *_listed("FILES", _FILES),
    ]
    return "\n".join(parts) + "\n"


_ABOUT = """\
Without a command it opens the app in the folder that you are in, and goes on with the last conversation.
Type a task; Smith reads the code, changes it, runs it, and shows each step. F1 shows all keys, /help all commands."""


def _commands() -> Iterator[str]:
    first, *others = subcommands()
    yield from _listed("OPTIONS", ((option.words, option.help) for option in first.options))
    yield ".SH COMMANDS"
    for command in others:
        yield f".SS {_text(command.words)}"
        yield _text(f"{command.summary[:1].upper()}{command.summary[1:]}.")
        for option in command.options:
            yield from _item(option.words, option.help)


def _keys() -> Iterator[str]:
    for place, actions in keys_by_place():
        yield f".SS {_text(place)}"
        for action in actions:
            yield from _item(", ".join(map(key_label, action.keys)), action.help)


def _section(title: str, lines: list[str]) -> Iterator[str]:
    yield f".SH {title}"
    yield from lines


def _listed(title: str, rows: Iterable[tuple[str, str]], before: Iterable[str] = ()) -> Iterator[str]:
    yield f".SH {title}"
    yield from before
    for words, meaning in rows:
        yield from _item(words, meaning)


def _item(words: str, meaning: str) -> Iterator[str]:
    yield ".TP"
    yield f".B {_text(words)}"
    yield _text(meaning)


def _text(text: str) -> str:
    r"""Return text that roff takes letter for letter: \ and - are escaped, and a line never begins as a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("\u2026", "...")
    escaped = escaped.replace('"', "\\(dq").replace("\u201c", "\\(lq").replace("\u201d", "\\(rq")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in escaped.split("\n"))
