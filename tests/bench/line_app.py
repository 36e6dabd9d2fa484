"""The line floor, the baseline of first words: a Textual app that reads server-sent events itself and draws lines.

Argument: the base address. No markdown, no store, no engine, no process beside it.
"""

import json
import sys

import httpx
from textual import on
from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class LineApp(App[None]):
    """An input line and the last answer."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._client = httpx.AsyncClient(timeout=30)

    def compose(self) -> ComposeResult:
        """Lay out answer and input line."""
        yield Static("READY-MARK", markup=False)
        field = Input()
        field.cursor_blink = False
        yield field

    def on_mount(self) -> None:
        """Let keys go to the line."""
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def ask(self, event: Input.Submitted) -> None:
        """Send what was typed."""
        event.input.clear()
        self.run_worker(self._ask(event.value))

    async def _ask(self, prompt: str) -> None:
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": prompt}]}
        text = ""
        async with self._client.stream("POST", f"{self._url}/chat/completions", json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    choices = json.loads(line[6:])["choices"]
                    text += "".join(choice["delta"].get("content") or "" for choice in choices)
                    self.query_one(Static).update(text)


if __name__ == "__main__":
    LineApp(sys.argv[1]).run()
