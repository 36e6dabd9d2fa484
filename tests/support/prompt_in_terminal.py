"""An app with nothing but a prompt, for a pseudo terminal: keeps what is sent in a file, one JSON string a line."""

import json
import sys
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets import Static

from smith_tui.paste_parser import use_paste_parser
from smith_tui.widgets.prompt import Prompt


class PromptApp(App[None]):
    """Says how many messages were sent."""

    sent = 0

    def compose(self) -> ComposeResult:
        yield Prompt(placeholder="ready for input")
        yield Static("sent 0")

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(message.text) + "\n")
        self.sent += 1
        self.query_one(Static).update(f"sent {self.sent}")


if __name__ == "__main__":
    use_paste_parser()
    PromptApp().run()
