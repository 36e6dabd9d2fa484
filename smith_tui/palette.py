"""The command palette's entries: slash commands and actions of the app, from the tables that define them."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from rich.text import Text
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.widgets import Input

from smith_tui.keys import hint_key, key_call
from smith_tui.sanitize import literal
from smith_tui.screens.leaving import LeftOnce

if TYPE_CHECKING:
    from smith_tui.start import SmithHost


class Palette(CommandPalette, LeftOnce[None]):  # the first one gives the looks
    """The toolkit's palette, its letters in colours that can be read, on an empty screen as every other dialogue."""

    DEFAULT_CSS = """
    Palette { background: $background; }
    Palette > Vertical { background: $surface; margin-top: 1; }
    Palette > Vertical:dark { background: $surface; }
    Palette #--input, Palette #--input.--list-visible { border: blank; }
    Palette SearchIcon { display: none; }
    Palette CommandInput { padding-left: 2; color: $foreground; }
    Palette CommandList, Palette CommandList:focus { border: blank; }
    Palette CommandList > .option-list--option { color: $foreground; text-style: none; }
    Palette CommandList > .option-list--option-highlighted {
        color: $screen-selection-foreground; background: $screen-selection-background; text-style: none;
    }
    """

    def on_mount(self) -> None:
        """Let the caret stand still, as everywhere."""
        self.query_one(Input).cursor_blink = False

    def _action_command_list(self, action: str) -> None:
        # Where there is no room for a row the toolkit's list does not find the one to move from.
        with suppress(KeyError):
            super()._action_command_list(action)


class Entry(NamedTuple):
    """A row of the palette: its title, more about it, and what choosing it does."""

    title: str
    about: str
    choose: Callable[[], Any]

    @property
    def shown(self) -> Text:
        """Both lines, as text and never as the toolkit's markup; the first one stands out."""
        return Text.assemble((literal(self.title), "bold"), "\n" + literal(self.about))


class EntryProvider(Provider):
    """Finds entries by their words."""

    def entries(self) -> Iterable[Entry]:
        """Return all of them, in order."""
        raise NotImplementedError

    async def discover(self) -> Hits:
        """List all entries."""
        for entry in self.entries():
            yield DiscoveryHit(entry.shown, entry.choose, text=entry.title)

    async def search(self, query: str) -> Hits:
        """List the entries that match, best first."""
        matcher = self.matcher(query)
        for entry in self.entries():
            score = matcher.match(f"{entry.title} {entry.about}")
            if score > 0:
                yield Hit(score, entry.shown, entry.choose, text=entry.title)

    @property
    def _smith(self) -> "SmithHost":
        return cast("SmithHost", self.app)


class SlashCommands(EntryProvider):
    """The commands; one that takes arguments is put into the prompt to be completed."""

    def entries(self) -> Iterable[Entry]:
        """Return those of the person's own as well."""
        for command in self._smith.runtime.services.command.list():
            yield Entry(f"/{command.name}", command.summary, partial(self._smith.choose_command, command))


class AppActions(EntryProvider):
    """What else has a key that works everywhere."""

    def entries(self) -> Iterable[Entry]:
        """Return all but the palette itself."""
        for action in self._smith.actions:
            if action.scope == "always" and action.name != "command_palette":
                run = partial(self.app.call_later, self.app.run_action, key_call(action))
                yield Entry(action.help, hint_key(action), run)
