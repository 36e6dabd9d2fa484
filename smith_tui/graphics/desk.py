"""Who decides about the rain: settings, environment and terminal on one side, children that wait on the other."""

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from smith_tui.graphics.cell_rain import CellRain
from smith_tui.graphics.kitty import is_last_answer
from smith_tui.graphics.layer import RainLayer
from smith_tui.graphics.scene import Stage
from smith_tui.graphics.support import Dialogue, Verdict
from smith_tui.graphics.surface import TerminalSurface
from smith_tui.graphics.waiting import Waiting
from smith_tui.paste_parser import listen
from smith_tui.theme import Theme

if TYPE_CHECKING:
    from smith_core.config.shape import UiConfig
    from smith_core.events import AnyEvent
    from smith_tui.output.app import OutputApp

ANSWER_S = 3.0
"""How long a terminal has to answer: kitty takes up to 2.3 s while it starts."""
_LAST_ANSWER_S = 0.3
"""How long the end waits for an answer that is on its way, which would be typed at the shell's prompt."""

Mode = Literal["auto", "kitty", "cells", "off"]


def mode_of(ui: "UiConfig", environ: Mapping[str, str]) -> tuple[Mode, str]:
    """Return which rain is wanted, and why it is none: "" when it is not off."""
    if environ.get("NO_COLOR"):
        return "off", "NO_COLOR is set"
    if ui.motion == "reduced":
        return "off", "ui.motion is reduced"
    if ui.rain == "off":
        return "off", "ui.rain is off"
    return ("kitty" if ui.rain == "kitty" else "cells" if ui.rain == "cells" else "auto"), ""


class RainDesk:
    """Lets it rain behind a view, in the way that fits.

    settings, theme: asked when rain begins. told: called with whether a picture of it is to be seen. verdict: what the
    terminal can show, None until it was asked.
    """

    def __init__(
        self,
        app: "OutputApp",
        stage: Stage,
        *,
        settings: Callable[[], "UiConfig"],
        theme: Callable[[], Theme],
        told: Callable[[bool], object] = lambda _: None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.verdict: Verdict | None = None
        self._app = app
        self._stage = stage
        self._settings = settings
        self._theme = theme
        self._told = told
        self._environ = environ
        self._waiting = Waiting()
        self._palettes: tuple[str, ...] = ()
        self._surface = TerminalSurface(app)
        self._cells = CellRain(stage)
        self._layer: RainLayer | None = None
        self._is_asking = False

    def show(self, event: "AnyEvent") -> None:
        """Take an event of the session."""
        self._waiting.note(event)
        if self._waiting.palettes != self._palettes:
            self.rain(self._waiting.palettes)

    def rain(self, palettes: tuple[str, ...]) -> None:
        """Let it rain in the colours of palettes (`RoleSpec.palette`); none ends it."""
        self._palettes = palettes
        mode, _ = mode_of(self._settings(), self._environ)
        if not palettes or mode == "off":
            self._stop()
        elif mode == "cells":
            self._rain_in_cells()
        elif self._surface.driver is None:
            self._stop()
        elif self.verdict is None:
            self._ask(forced=mode == "kitty")
        elif self.verdict.way != "none":
            self._cells.stop()
            self._pictures.start(self._theme(), palettes)
        elif mode == "auto":
            self._rain_in_cells()

    def _rain_in_cells(self) -> None:
        if self._layer is not None:
            self._layer.stop()
        self._cells.start(self._theme(), self._palettes)

    def go_on(self) -> None:
        """Go on as theme and settings are now."""
        if self._palettes:
            self.rain(self._palettes)

    def _stop(self) -> None:
        self._cells.stop()
        if self._layer is not None:
            self._layer.stop()

    @property
    def _pictures(self) -> RainLayer:
        if self._layer is None:
            assert self.verdict is not None
            layer = self._layer = RainLayer(self._stage, self._surface, self.verdict.way, told=self._told)
            self._app.behind_frames.append(layer.behind_frame)
            self._app.at_hang_up.append(layer.last_words)
            if self._surface.driver is not None:
                self._surface.driver.at_stop.append(layer.last_words)
        return self._layer

    # What the terminal can show

    def _ask(self, *, forced: bool) -> None:
        driver = self._surface.driver
        if self._is_asking or driver is None:
            return
        self._is_asking = True
        question = Dialogue(self._environ, forced=forced)
        _Asking(question, driver.write, self._decided, driver.at_stop.append, self._app.at_hang_up.append)

    def _decided(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self._is_asking = False
        if self._palettes:
            self.rain(self._palettes)


class _Asking:
    """One dialogue with the terminal of a running app; answers come from the thread that reads keys."""

    def __init__(
        self,
        dialogue: Dialogue,
        write: Callable[[str], None],
        decided: Callable[[Verdict], None],
        at_stop: Callable[[Callable[[], str]], None],
        at_hang_up: Callable[[Callable[[], object]], None],
    ) -> None:
        self._dialogue = dialogue
        self._write = write
        self._decided = decided
        self._has_answered = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._unlisten = listen(self._overhear)
        self._timeout = self._loop.call_later(ANSWER_S, self._give_up)
        at_stop(self._wait_for_answer)
        at_hang_up(dialogue.close)
        self._go_on(dialogue.begin())

    def _overhear(self, report: str) -> None:
        # In the context of the app: timers that are started in another one never run.
        self._loop.call_soon_threadsafe(self._hear, report, context=self._context)
        if is_last_answer(report):
            self._has_answered.set()

    def _hear(self, report: str) -> None:
        if self._dialogue.verdict is None:
            self._go_on(self._dialogue.hear(report))

    def _go_on(self, question: str) -> None:
        if question:
            self._has_answered.clear()
            self._write(question)
        if self._dialogue.verdict is not None:
            self._has_answered.set()
            self._timeout.cancel()
            self._unlisten()
            self._decided(self._dialogue.verdict)

    def _give_up(self) -> None:
        self._dialogue.give_up()
        self._go_on("")

    def _wait_for_answer(self) -> str:
        self._has_answered.wait(_LAST_ANSWER_S)
        self._dialogue.close()
        return ""
