"""The command line as its parser describes it: every subcommand with its options."""

import argparse
from collections.abc import Iterator

import msgspec

from docs.generate.tables import table
from smith_tui.command_line import build_parser


class Option(msgspec.Struct, frozen=True):
    """One option or argument as a person writes it, and its help."""

    words: str
    help: str


class Subcommand(msgspec.Struct, frozen=True):
    """One command: its words, what it does, and what it takes besides the settings for a start."""

    words: str
    summary: str
    options: tuple[Option, ...]


def program() -> argparse.ArgumentParser:
    """Return the parser of the whole program."""
    return build_parser()


def subcommands(parser: argparse.ArgumentParser | None = None) -> Iterator[Subcommand]:
    """Yield the program itself and all subcommands that do something, in the order of the help."""
    parser = parser or program()
    common = {option for action in parser._actions for option in action.option_strings}
    yield Subcommand("smith-tui", "open the app", tuple(_options(parser, frozenset())))
    yield from _below(parser, frozenset(common))


def _below(parser: argparse.ArgumentParser, common: frozenset[str]) -> Iterator[Subcommand]:
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, inner in action.choices.items():
            if any(isinstance(deeper, argparse._SubParsersAction) for deeper in inner._actions):
                yield from _below(inner, common)
            else:
                yield Subcommand(inner.prog, helps[name], tuple(_options(inner, common)))


def _options(parser: argparse.ArgumentParser, known: frozenset[str]) -> Iterator[Option]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or known.intersection(action.option_strings):
            continue
        yield Option(_words(action), (action.help or "").replace("%%", "%"))


def _words(action: argparse.Action) -> str:
    taken = _taken(action)
    if not action.option_strings:
        return taken
    shown = ", ".join(action.option_strings)
    return f"{shown} {taken}" if taken else shown


def _taken(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if isinstance(action.metavar, str):
        name = action.metavar
    else:
        name = "|".join(map(str, action.choices)) if action.choices else action.dest.upper()
    return f"[{name}]" if action.nargs == "?" else name


def command_line() -> str:
    """Return all subcommands with their options, as Markdown."""
    sections = []
    for command in subcommands():
        rows = [(f"`{option.words}`", option.help) for option in command.options]
        text = f"### {command.words}\n\n{command.summary[:1].upper()}{command.summary[1:]}."
        sections.append(f"{text}\n\n{table(('argument', 'what for'), rows)}" if rows else text)
    return "\n\n".join(sections)
