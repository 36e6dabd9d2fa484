"""The command palette's entries: the slash commands, from the table that defines them."""

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from smith_core.command_table import Command

if TYPE_CHECKING:
    from smith_tui.start import SmithHost


class SlashCommands(Provider):
    """Finds commands by name and summary; one that takes arguments is put into the prompt to be completed."""

    async def discover(self) -> Hits:
        """List all commands."""
        for command in self._commands():
            yield DiscoveryHit(f"/{command.name}", self._chosen(command), help=command.summary)

    async def search(self, query: str) -> Hits:
        """List the commands that match, best first."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = matcher.match(f"{command.name} {command.summary}")
            if score > 0:
                yield Hit(score, f"/{command.name}", self._chosen(command), help=command.summary)

    @property
    def _smith(self) -> "SmithHost":
        return cast("SmithHost", self.app)

    def _commands(self) -> tuple[Command, ...]:
        return self._smith.runtime.services.command.list()

    def _chosen(self, command: Command) -> "partial[None]":
        return partial(self._smith.choose_command, command)
