"""The rain of `smith-tui rain`, with keys that break the app: w in a worker, k in a key handler, r in the reader."""

import sys
from collections.abc import Iterable
from typing import NoReturn

from textual import events
from textual.drivers import linux_driver
from textual.message import Message

from smith_core.config.shape import UiConfig
from smith_tui.crash import crash_sentence
from smith_tui.paste_parser import PasteParser, use_paste_parser
from smith_tui.rain_command import RainShow


class BreakingShow(RainShow):
    def on_key(self, event: events.Key) -> None:
        event.stop().prevent_default()
        if event.key == "w":
            self.run_worker(self._break())
        else:
            _break()

    async def _break(self) -> None:
        _break()


class BreakingParser(PasteParser):
    def feed(self, data: str) -> Iterable[Message]:
        return _break() if data == "r" else super().feed(data)


def _break() -> NoReturn:
    raise RuntimeError("broken on purpose")


if __name__ == "__main__":
    use_paste_parser()
    linux_driver.XTermParser = BreakingParser
    app = BreakingShow(UiConfig())
    app.run()
    print(crash_sentence(app.crash) if app.crash else "no crash", file=sys.stderr)
    sys.exit(app.return_code)
