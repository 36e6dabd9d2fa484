"""`smith-tui rain`: what falls while a dispatched child waits for its model, full screen for ten seconds."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from smith_core.errors import AgentFailure
from smith_tui.bootstrap import open_engine
from smith_tui.crash import crash_sentence
from smith_tui.exit_status import EXIT_ERROR, EXIT_OK, EXIT_USAGE
from smith_tui.full_screen import has_terminal
from smith_tui.graphics.desk import RainDesk, mode_of
from smith_tui.graphics.scene import Stage
from smith_tui.graphics.support import WORDS, Verdict
from smith_tui.output.app import OutputApp
from smith_tui.paste_parser import use_paste_parser
from smith_tui.sanitize import literal
from smith_tui.theme import THEMES, textual_theme
from smith_tui.transcript.view import Transcript

if TYPE_CHECKING:
    from textual import events

    from smith_core.config.shape import UiConfig

SECONDS = 10.0
_PALETTES = ("cyan", "violet")
_COLUMNS = 128
_WORDS = """\
This falls behind the transcript while an agent that was sent out waits for its model.
Your text stays in front of it, letter for letter. Any key ends it."""


class RainShow(OutputApp):
    """Nothing but rain; it ends by itself, or with any key."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, ui: "UiConfig") -> None:
        super().__init__(ui.output)
        self._ui = ui
        self._look = THEMES[ui.theme]
        self.register_theme(textual_theme(self._look))
        self.theme = textual_theme(self._look).name
        self.rain: RainDesk | None = None

    @property
    def verdict(self) -> Verdict | None:
        """What the terminal can show, None when it was not asked."""
        return None if self.rain is None else self.rain.verdict

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Transcript(theme=self._look)

    def on_mount(self) -> None:
        """Begin behind the first frame."""
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        view = self.query_one(Transcript)
        view.add_plain(_WORDS)
        stage = Stage(view, share=1.0, max_columns=_COLUMNS)
        self.rain = RainDesk(self, stage, settings=lambda: self._ui, theme=lambda: self._look)
        self.rain.rain(_PALETTES)
        self.set_timer(SECONDS, lambda: self.exit(return_code=EXIT_OK))

    def on_key(self, event: "events.Key") -> None:
        """End it."""
        event.stop()
        self.exit(return_code=EXIT_OK)


def run_rain(arguments: argparse.Namespace) -> int:
    """Show the rain and return the exit status; it is an error when settings or terminal allow none."""
    if not has_terminal():
        print("smith-tui rain needs a terminal", file=sys.stderr)
        return EXIT_USAGE
    try:
        ui = open_engine(arguments).config.ui
    except AgentFailure as caught:
        print(literal(caught.error.message), file=sys.stderr)
        return EXIT_ERROR
    mode, why_off = mode_of(ui, os.environ)
    if mode == "off":
        print(f"no rain: {why_off}", file=sys.stderr)
        return EXIT_ERROR
    use_paste_parser()
    app = RainShow(ui)
    app.run()
    if app.crash is not None:
        print(crash_sentence(app.crash), file=sys.stderr)
    elif app.verdict is not None:
        print(f"{WORDS[app.verdict.way]}: {literal(app.verdict.reason)}")
    return app.return_code or EXIT_OK
