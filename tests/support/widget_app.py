"""A bare app around widgets under test: keeps the messages they post and reads what they show."""

from collections.abc import Callable, Iterable
from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from smith_tui.theme import DARK, textual_theme


class WidgetApp(App[None]):
    """Shows the widgets one below the other and records the messages of the given classes."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget, record: Iterable[type[Message]] = ()) -> None:
        super().__init__()
        self._shown = widgets
        self._record = tuple(record)
        self.messages: list[Any] = []

    def compose(self) -> ComposeResult:
        yield from self._shown

    def on_mount(self) -> None:
        theme = textual_theme(DARK)
        self.register_theme(theme)
        self.theme = theme.name
        self._shown[0].focus()

    def post_message(self, message: Message) -> bool:
        if isinstance(message, self._record):
            self.messages.append(message)
        return super().post_message(message)


async def until(pilot: Pilot[Any], condition: Callable[[], bool]) -> None:
    """Wait for something that follows within five seconds."""
    for _ in range(500):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("never came true")


def lines_of(widget: Widget) -> list[str]:
    """Return the text of each row of the widget."""
    return [widget.render_line(y).text for y in range(widget.size.height)]


def assert_exact_width(widget: Widget) -> None:
    """Fail unless every row takes exactly the widget's width."""
    for y in range(widget.size.height):
        assert widget.render_line(y).cell_length == widget.size.width


def running_timers(app: App[Any]) -> int:
    """Return how many timers of the widgets are not paused."""
    timers = [timer for node in app.screen.walk_children() for timer in node._timers]
    return sum(timer._task is not None and timer._active.is_set() for timer in timers)


ODD_WIDTHS = [
    "ok \u2764\ufe0f done",
    "\U0001f469\u200d\U0001f4bb end",
    "x\u200by z",
    "\ufeffstart",
    "漢字 fin",
    "e\u0301te",
    "1\ufe0f\u20e3 k",
]
"""Lines with emoji, zero-width and wide characters; `done`, `end`, `y z`, `start`, `fin` and `k` must be seen."""

MARKUP = ["[/foo]", "[/", "[/]", "[red]x", "a=[b=c]", "arr[i] = [0]", "[@click=app.quit]go[/]", "[link=http://x]y"]
MARKUP += [r"\[x]"]
"""Text that the toolkit would take for markup."""
