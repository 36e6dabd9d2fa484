"""Our screen alone: transcripts into which answers are written, without engine, model host or store.

Arguments: as those of `markdown_app`, which is what it is compared with.
"""

import asyncio
import sys

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static, TextArea

from smith_tui.output.app import OutputApp
from smith_tui.theme import DARK, textual_theme
from smith_tui.transcript.view import Transcript
from tests.bench.programs import LAST_WORD, TOKEN_CHARS, prose


class TranscriptApp(OutputApp):
    """Answers that stream, with a field to type into below them."""

    CSS = "#answers { height: 1fr } TextArea { height: 3 }"

    def __init__(self, tokens: int, rate: float, panes: int) -> None:
        super().__init__()
        self._tokens, self._rate, self._panes = tokens, rate, panes
        theme = textual_theme(DARK)
        self.register_theme(theme)
        self.theme = theme.name

    def compose(self) -> ComposeResult:
        """Lay out answers and field."""
        yield Static("READY-MARK", markup=False)
        with Horizontal(id="answers"):
            for _ in range(self._panes):
                # Four at once are drawn as child panes are, at a third of the rate.
                yield Transcript(frames_per_second=10) if self._panes > 1 else Transcript()
        field = TextArea()
        field.cursor_blink = False
        yield field

    def on_mount(self) -> None:
        """Begin to stream."""
        super().on_mount()
        self.query_one(TextArea).focus()
        for answer in self.query(Transcript):
            self.run_worker(self._write(answer))

    async def _write(self, answer: Transcript) -> None:
        answer.start_assistant("direct")
        text = prose(self._tokens)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for number, start in enumerate(range(0, len(text), TOKEN_CHARS)):
            await asyncio.sleep(max(0.0, begun + number / self._rate - loop.time()))
            answer.append_text(text[start : start + TOKEN_CHARS])
        answer.append_text(LAST_WORD)


if __name__ == "__main__":
    TranscriptApp(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])).run()
