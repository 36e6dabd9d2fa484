"""What leaves the app by hand: texts to the clipboard, addresses to the browser; each time it is said what happened."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smith_tui.keys import KeyAction

if TYPE_CHECKING:
    from textual.app import App

    from smith_core.messages import Message
    from smith_tui.copying import Kind
    from smith_tui.screens.open_link import Answer

_NOTHING = {
    "answer": "There is no answer to copy yet.",
    "code": "There is no code block to copy yet.",
    "link": "Nothing that was said here names an address of the web.",
}


class CopyDesk:
    """Copies and opens for an app.

    messages: what was said in this conversation. environ: for other programs, without our keys.
    """

    def __init__(
        self,
        app: "App[Any]",
        actions: Sequence[KeyAction],
        messages: "Callable[[], Sequence[Message]]",
        environ: Callable[[], Mapping[str, str]],
    ) -> None:
        self._app = app
        self._actions = actions
        self._messages = messages
        self._environ = environ
        self._work: set[asyncio.Task[None]] = set()

    def copy(self, text: str) -> None:
        """Copy a text to every clipboard that there is."""
        work = asyncio.create_task(self._copy(text))
        self._work.add(work)
        work.add_done_callback(self._work.discard)

    def copy_last(self, kind: "Kind") -> None:
        """Copy the newest text of a kind."""
        from smith_tui.copying import last_of

        text = last_of(kind, self._messages())
        if text:
            self.copy(text)
        else:
            self._say(_NOTHING[kind])

    def choose(self) -> None:
        """Let the person choose a message or a code block to copy."""
        from smith_tui.copying import copyables
        from smith_tui.screens.copy import CopyScreen

        offered = tuple(copyables(self._messages()))
        if offered:
            self._app.push_screen(CopyScreen(offered, self._actions), self._chosen)
        else:
            self._say(_NOTHING["answer"])

    def choose_link(self) -> None:
        """Let the person choose an address of the web, and show it before anything opens it."""
        from smith_tui.copying import links
        from smith_tui.screens.copy import CopyScreen

        def chosen(address: str | None) -> None:
            if address:
                self.ask_to_open(address)

        offered = links(self._messages())
        if offered:
            self._app.push_screen(CopyScreen(offered, self._actions, "links"), chosen)
        else:
            self._say(_NOTHING["link"])

    def ask_to_open(self, address: str) -> None:
        """Show an address, and open it when the person wants that."""
        from smith_tui.screens.open_link import OpenLinkScreen

        def answered(answer: "Answer | None") -> None:
            if answer == "copy":
                self.copy(address)
            elif answer == "open":
                self._open(address)

        self._app.push_screen(OpenLinkScreen(address, self._actions), answered)

    def _chosen(self, text: str | None) -> None:
        if text:
            self.copy(text)

    def _open(self, address: str) -> None:
        from smith_tui.browser import open_address

        problem = open_address(address, self._environ())
        if problem:
            self._say(f"The address was not opened: {problem}. It is copied instead.")
            self.copy(address)

    async def _copy(self, text: str) -> None:
        from smith_tui import clipboard

        environ = self._environ()
        sequences = clipboard.terminal_sequences(text, os.environ)
        driver = self._app._driver
        if sequences and driver is not None:
            driver.write(sequences)
        command = clipboard.clipboard_program(environ)
        by_program = bool(command) and await clipboard.copy_by_program(command, text, environ)
        sentence = clipboard.outcome_sentence(text, by_terminal=bool(sequences), by_program=by_program)
        self._say(sentence, is_bad=not sequences and not by_program)

    def _say(self, words: str, *, is_bad: bool = False) -> None:
        self._app.notify(words, severity="warning" if is_bad else "information", markup=False, timeout=3)
