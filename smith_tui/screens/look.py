"""How a screen looks and which keys work on it: what the main screen hands to those that it opens."""

import msgspec

from smith_tui.keys import KEY_ACTIONS, KeyAction, Scope, hint_key, keys_of, local_hints
from smith_tui.theme import DARK, Theme
from smith_tui.transcript.ink import Ink, make_ink


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Theme, colours of a role (`RoleSpec.palette`), and the table of keys."""

    theme: Theme = DARK
    palette: str = "green"
    actions: tuple[KeyAction, ...] = KEY_ACTIONS

    @property
    def ink(self) -> Ink:
        """The styles to write with."""
        return make_ink(self.theme, self.palette)

    def keys(self, scope: Scope) -> dict[str, str]:
        """Return key → action name for a screen that is a scope of its own."""
        return keys_of(self.actions, scope)

    def hints(self, scope: Scope) -> tuple[KeyAction, ...]:
        """Return what the footer of that screen shows."""
        return local_hints(self.actions, scope)

    def key_of(self, name: str) -> str:
        """Return the key of an action as people write it."""
        return next((hint_key(action) for action in self.actions if action.name == name), "")
