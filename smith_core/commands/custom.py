"""Commands of the person's own: markdown files whose text is sent as a prompt, with arguments put in."""

import re
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from smith_core.command_table import Command
from smith_core.commands.context import CommandContext
from smith_core.commands.opening import take_over
from smith_core.errors import failure
from smith_core.regular_file import read_regular_file
from smith_core.session.values import TurnRequest
from smith_core.text import clean_text, shorten

MAX_FILE_BYTES = 100_000
MAX_COMMANDS = 200
"""Most files of one folder that are looked at."""

PROJECT_FOLDER = Path(".smith") / "commands"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_PLACEHOLDER = re.compile(r"\$(?:ARGUMENTS\b|([1-9])(?![0-9])|(\$))")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^([a-z-]+)[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_SUMMARY_CHARACTERS = 80


class CommandFolder(msgspec.Struct, frozen=True):
    """A folder of command files, and what it is called in the help."""

    path: Path
    label: str


class CustomCommands(msgspec.Struct, frozen=True):
    """What was found, and in plain words what could not be used."""

    commands: tuple[Command, ...] = ()
    problems: tuple[str, ...] = ()


class Template(msgspec.Struct, frozen=True):
    """The text of a command file without its head."""

    text: str
    summary: str = ""
    usage: str = ""


def command_folders(config_folder: Path, project_root: Path) -> tuple[CommandFolder, ...]:
    """Return where command files are, the person's own folder before that of the project."""
    return (
        CommandFolder(config_folder / "commands", "yours"),
        CommandFolder(project_root / PROJECT_FOLDER, "of this project"),
    )


def load_custom(folders: Sequence[CommandFolder], taken: frozenset[str]) -> CustomCommands:
    """Read all command files; a name that is taken, or was found in a folder before, is not used again.

    Nothing in a file runs: its text becomes a prompt when the person types the command.
    """
    commands: dict[str, Command] = {}
    problems: list[str] = []
    for folder in folders:
        for path in _files(folder.path):
            name = path.stem.lower()
            if not _NAME.fullmatch(name):
                problems.append(f"{path}: a command's name has letters, digits, - and _ only; rename the file")
            elif name in taken:
                problems.append(f"{path}: /{name} is a command of Smith; rename the file")
            elif name not in commands:
                command = _command(path, name, folder.label)
                if isinstance(command, str):
                    problems.append(f"{path}: {command}")
                else:
                    commands[name] = command
    return CustomCommands(tuple(commands.values()), tuple(problems))


def parse_template(text: str) -> Template:
    """Split a command file into its head (`description`, `argument-hint` between lines of ---) and its text."""
    head = _FRONT_MATTER.match(text)
    fields = dict(_FIELD.findall(head[1])) if head else {}
    body = (text[head.end() :] if head else text).strip()
    summary = fields.get("description", "").strip("\"'") or shorten(body.lstrip("# "), _SUMMARY_CHARACTERS)
    usage = fields.get("argument-hint", "").strip("\"'") or ("[arguments]" if _takes_arguments(body) else "")
    return Template(body, shorten(summary, _SUMMARY_CHARACTERS), shorten(usage, _SUMMARY_CHARACTERS))


def expand(text: str, arguments: str) -> str:
    """Return the prompt: $ARGUMENTS is all of the arguments, $1 to $9 are single ones, $$ is a dollar sign.

    Arguments that the text has no place for stand behind it. What is put in is not expanded again.
    """
    if not _takes_arguments(text):
        arguments, behind = "", arguments
    else:
        behind = ""
    words = _words(arguments)

    def value(match: re.Match[str]) -> str:
        if match[2]:
            return "$"
        if match[1]:
            index = int(match[1]) - 1
            return words[index] if index < len(words) else ""
        return arguments

    expanded = _PLACEHOLDER.sub(value, text)
    return f"{expanded}\n\n{behind}" if behind else expanded


async def run_template(template: Template, context: CommandContext, arguments: str) -> None:
    """Send the text of a command file as a prompt."""
    prompt = expand(template.text, arguments)
    if not prompt.strip():
        raise failure("policy", "empty_command", "this command has no text; write the prompt into its file")
    await take_over(context.session, context.emit)
    await context.session.run_turn(TurnRequest(text=prompt), context.emit)


def _files(folder: Path) -> list[Path]:
    try:
        found = [path for path in folder.iterdir() if path.suffix == ".md"]
    except OSError:
        return []
    return sorted(found)[:MAX_COMMANDS]


def _command(path: Path, name: str, label: str) -> Command | str:
    """Return the command of one file, or why there is none."""
    read = read_regular_file(path, MAX_FILE_BYTES + 1)
    if read.problem or read.is_missing:
        return read.problem or "it is gone"
    if len(read.data) > MAX_FILE_BYTES:
        return f"it is larger than {MAX_FILE_BYTES:,} bytes; shorten it"
    template = parse_template(clean_text(read.data.decode("utf-8-sig", "replace")))
    if not template.text:
        return "it holds no text; write the prompt into it"
    return Command(
        name=name,
        usage=template.usage,
        summary=f"{template.summary} ({label})",
        handler=partial(run_template, template),
    )


def _takes_arguments(text: str) -> bool:
    return any(not match[2] for match in _PLACEHOLDER.finditer(text))


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()
