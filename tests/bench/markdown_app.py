"""Design A, the baseline of what a screen costs: Textual's own Markdown widget, fed by its own stream.

Arguments: characters of a token, tokens per second. It writes tests.support.children.PROSE until it is ended.
"""

import asyncio
import sys

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown, Static, TextArea

from tests.support.children import PROSE


class MarkdownApp(App[None]):
    """One answer that streams, with a field to type into below it."""

    def compose(self) -> ComposeResult:
        """Lay out answer and field."""
        yield Static("READY-MARK", markup=False)
        with VerticalScroll() as scroll:
            scroll.anchor()
            yield Markdown()
        field = TextArea()
        field.styles.height = 3
        field.cursor_blink = False
        yield field

    def on_mount(self) -> None:
        """Begin to stream."""
        self.query_one(TextArea).focus()
        self.run_worker(self._write(int(sys.argv[1]), float(sys.argv[2])))

    async def _write(self, size: int, rate: float) -> None:
        stream = Markdown.get_stream(self.query_one(Markdown))
        text = "\n\n".join([PROSE] * 200)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for number, start in enumerate(range(0, len(text), size)):
            await asyncio.sleep(max(0.0, begun + number / rate - loop.time()))
            await stream.write(text[start : start + size])


if __name__ == "__main__":
    MarkdownApp().run()
