"""Slash commands as data: names, usage and handlers, from which help, completion and the palette are made."""

from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property
from typing import Any

import msgspec


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One slash command; `handler` takes the runtime's command context and the text behind the name.

    usage: the arguments as help shows them. while_running: whether it may be used while a turn runs.
    """

    name: str
    summary: str
    handler: Callable[[Any, str], Awaitable[None]]
    usage: str = ""
    while_running: bool = False


class CommandTable:
    """The handle `command`: our own commands by name, and behind them those that the person has written."""

    def __init__(self, load_own: Callable[[], tuple[Command, ...]]) -> None:
        self._load_own = load_own
        self._custom: dict[str, Command] = {}

    @cached_property
    def _own(self) -> dict[str, Command]:
        # Their handlers are a tenth of the engine's code, and a task without the screen uses none of them.
        return {command.name: command for command in self._load_own()}

    @cached_property
    def _commands(self) -> dict[str, Command]:
        return {**self._own, **self._custom}

    @property
    def own_names(self) -> frozenset[str]:
        """The names that nobody else's command can have."""
        return frozenset(self._own)

    def use_custom(self, commands: Iterable[Command]) -> None:
        """Have these commands beside our own, in place of those that were there before."""
        self._custom = {command.name: command for command in commands if command.name not in self._own}
        self._commands = {**self._own, **self._custom}

    def list(self) -> tuple[Command, ...]:
        """Return all commands in the order of the table."""
        return tuple(self._commands.values())

    def get(self, name: str) -> Command | None:
        """Return the command of that name, without its slash."""
        return self._commands.get(name)

    def nearest(self, name: str) -> str | None:
        """Return the known name that looks most like a mistyped one."""
        import difflib

        matches = difflib.get_close_matches(name, self._commands, n=1, cutoff=0.5)
        return matches[0] if matches else None


def split_command(line: str) -> tuple[str, str]:
    """Split "/name rest" into its name, in lower case, and the rest without blanks around it."""
    name, _, rest = line[1:].partition(" ")
    return name.strip().lower(), rest.strip()
