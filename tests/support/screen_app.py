"""A bare app that shows one screen in a theme and keeps what the screen ended with."""

from typing import Any

from textual.app import App
from textual.screen import Screen

from smith_tui.app import SmithApp
from smith_tui.theme import DARK, Theme, textual_theme


class ScreenApp(App[None]):
    """Pushes the screen at the start; `results` has what it was dismissed with."""

    CSS_PATH = SmithApp.CSS_PATH
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, screen: Screen[Any], theme: Theme = DARK) -> None:
        super().__init__(css_path=f"{__import__('smith_tui').__path__[0]}/{SmithApp.CSS_PATH}")
        self.shown = screen
        self.colours = textual_theme(theme)
        self.results: list[Any] = []

    def on_mount(self) -> None:
        self.register_theme(self.colours)
        self.theme = self.colours.name
        self.push_screen(self.shown, self.results.append)
