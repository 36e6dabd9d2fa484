"""Design A, the baseline of what a screen costs: Textual's own Markdown widget for each message, fed by its own stream.

Arguments: tokens of each answer, tokens per second, how many answers are written side by side. It needs no model and no
process beside it, and shows tests.bench.programs.LAST_WORD behind the last token.
"""

import asyncio
import sys

from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Markdown, Static, TextArea

from tests.bench.programs import LAST_WORD, TOKEN_CHARS, prose


class MarkdownApp(App[None]):
    """Answers that stream, with a field to type into below them."""

    CSS = "#answers { height: 1fr } TextArea { height: 3 }"

    def __init__(self, tokens: int, rate: float, panes: int) -> None:
        super().__init__()
        self._tokens, self._rate, self._panes = tokens, rate, panes

    def compose(self) -> ComposeResult:
        """Lay out answers and field."""
        yield Static("READY-MARK", markup=False)
        with Horizontal(id="answers"):
            for _ in range(self._panes):
                with VerticalScroll() as scroll:
                    scroll.anchor()
                    yield Markdown()
        field = TextArea()
        field.cursor_blink = False
        yield field

    def on_mount(self) -> None:
        """Begin to stream."""
        self.query_one(TextArea).focus()
        for answer in self.query(Markdown):
            self.run_worker(self._write(answer))

    async def _write(self, answer: Markdown) -> None:
        stream = Markdown.get_stream(answer)
        text = prose(self._tokens)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for number, start in enumerate(range(0, len(text), TOKEN_CHARS)):
            await asyncio.sleep(max(0.0, begun + number / self._rate - loop.time()))
            await stream.write(text[start : start + TOKEN_CHARS])
        await stream.write(LAST_WORD)


if __name__ == "__main__":
    MarkdownApp(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])).run()
