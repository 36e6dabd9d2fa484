"""The app's side of the output layer: the compositor's updates go to a canvas, and its differences to the tty."""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events
from textual._ansi_sequences import SYNC_END, SYNC_START
from textual._compositor import ChopsUpdate, LayoutUpdate

from smith_core.log import LOGGER
from smith_tui.output.canvas import Canvas
from smith_tui.output.compositor import use_lean_compositor
from smith_tui.output.driver import TerminalDriver, use_frame_writer
from smith_tui.output.ending import OrderlyApp
from smith_tui.output.style_cache import let_rows_go
from smith_tui.output.support import has_color_erase, textual_problem
from smith_tui.output.writer import FrameWriter

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.screen import Screen

    from smith_tui.early_terminal import EarlyTerminal


class OutputApp(OrderlyApp):
    """An app that writes what has changed on the screen, as fast as the terminal takes it.

    output: "diff", or "stock" to let Textual write. canvas: what is on the screen; None where Textual writes.
    behind_frames: asked, whenever a frame is written, for what goes right behind it, such as pictures.
    """

    def __init__(self, output: str = "diff", early_terminal: "EarlyTerminal | None" = None) -> None:
        super().__init__(driver_class=None if os.environ.get("TEXTUAL_DRIVER") else TerminalDriver)
        self.early_terminal = early_terminal
        self.canvas: Canvas | None = None
        self.behind_frames: list[Callable[[], str]] = []
        self._writer: FrameWriter | None = None
        self._sized_writer: FrameWriter | None = None
        self._is_waiting = False
        let_rows_go()
        if output == "diff":
            problem = textual_problem()
            if problem:
                LOGGER.warning("the screen is written as Textual does it: %s", problem)
            else:
                self.canvas = Canvas(self.console._color_system, has_color_erase=has_color_erase(os.environ))
                use_frame_writer()
                use_lean_compositor()

    def redraw(self) -> None:
        """Draw the whole screen again, whatever the terminal shows."""
        if self.canvas is None:
            self.screen.refresh()
        else:
            self.canvas.forget()
            self._write_frame()

    def write_aside(self, text: str) -> None:
        """Write what is no part of a frame, such as a bell; nothing while the terminal is in other hands."""
        if isinstance(self._driver, TerminalDriver) and self._driver.is_active:
            self._driver.write(text)

    def on_mount(self) -> None:
        """Let keys in as soon as the first frame is there, and look behind it for what a killed start has left."""
        self.call_after_refresh(self._release_input)
        self.call_after_refresh(self._remove_leftovers)

    def _remove_leftovers(self) -> None:
        """Remove the picture and the shared memory of a start that was killed while it rained."""
        from smith_tui.graphics.leftovers import picture_remover, remove_stale

        remove_stale()
        if isinstance(self._driver, TerminalDriver) and (remover := picture_remover(os.environ)):
            self._driver.write(remover)

    def _release_input(self) -> None:
        if isinstance(self._driver, TerminalDriver):
            self._driver.release_input()

    def on_resize(self, event: events.Resize) -> None:
        """Draw all anew, also at the old size: the terminal may have cut its rows, or been in other hands."""
        if self.canvas is None:
            if self._dom_ready and event.size == self.size:
                self.screen.refresh()
            return
        # Each start of the driver announces the size; at the first one there is nothing wrong on the screen.
        writer = self._current_writer
        is_announcement = writer is not self._sized_writer and writer is self._writer
        self._sized_writer = writer
        if not is_announcement and event.size == self.canvas.size:
            self.redraw()

    @property
    def _current_writer(self) -> FrameWriter | None:
        driver = self._driver
        if isinstance(driver, TerminalDriver) and driver.is_active and isinstance(driver.writer, FrameWriter):
            return driver.writer
        return None

    def _display(self, screen: "Screen[Any]", renderable: "RenderableType | None") -> None:
        canvas = self.canvas
        if canvas is None or not isinstance(self._driver, TerminalDriver) or renderable is None:
            super()._display(screen, renderable)
        elif not isinstance(renderable, LayoutUpdate | ChopsUpdate):
            canvas.forget()
            super()._display(screen, renderable)
        elif self._batch_count or self._closed or not self._running:
            self.post_display_hook()
        else:
            try:
                self._take(canvas, screen, renderable)
                self._write_frame()
            except Exception:  # noqa: BLE001 - whatever it is, Textual's own way still works
                self._go_on_without()
            finally:
                self.post_display_hook()

    def _take(self, canvas: Canvas, screen: "Screen[Any]", update: LayoutUpdate | ChopsUpdate) -> None:
        compositor = screen._compositor
        if canvas.size != compositor.size:
            canvas.resize(*compositor.size)
            if isinstance(update, ChopsUpdate):
                whole = compositor.render_update(full=True, screen_stack=self._background_screens)
                assert isinstance(whole, LayoutUpdate)
                update = whole
        canvas.apply(update)

    def _write_frame(self) -> None:
        """Write the newest frame now, or as soon as the terminal has taken what was written before."""
        canvas, writer = self.canvas, self._current_writer
        if canvas is None or writer is None or not canvas.size[0]:
            return
        if writer is not self._writer:
            # The driver has started again, so somebody else had the terminal.
            self._writer = writer
            canvas.forget()
        if writer.is_busy:
            self._wait_for(writer)
            return
        cursor = self.screen.outer_size.clamp_offset(self.cursor_position)
        self._previous_cursor_position = cursor
        frame = canvas.encode(cursor)
        if frame:
            frame += "".join(ask() for ask in self.behind_frames)
            writer.write(f"{SYNC_START}{frame}{SYNC_END}" if self._sync_available else frame)

    def _wait_for(self, writer: FrameWriter) -> None:
        if not self._is_waiting:
            self._is_waiting = True
            loop = asyncio.get_running_loop()
            writer.when_idle(lambda: loop.call_soon_threadsafe(self._write_waiting))

    def _write_waiting(self) -> None:
        self._is_waiting = False
        if self._running and not self._closed:
            self._write_frame()

    def _go_on_without(self) -> None:
        LOGGER.exception("the output layer has failed; from now on the screen is written as Textual does it")
        self.canvas = None
        self.screen.refresh()
