"""The prompt: several lines of input that grow, wrap, remember what was sent, and take pastes of any size."""

import re
from collections.abc import Callable, Iterable

from rich.segment import Segment
from textual import events
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from smith_tui.keys import KEY_ACTIONS, KeyAction, keys_of
from smith_tui.transcript.cells import cut_to, visible
from smith_tui.widgets.clusters import next_boundary
from smith_tui.widgets.edited_text import EditedText
from smith_tui.widgets.prompt_editor import PromptEditor
from smith_tui.widgets.shell_mark import shell_gutter, shell_hint

MAX_ROWS = 8
_GUTTER = "> "
_NARROW = 10  # below this width the gutter is left out
_WORD = r"\s*\S+"


class Prompt(EditedText):
    """Multi-line input; Enter sends, Shift+Enter or Ctrl+J begins a new line."""

    COMPONENT_CLASSES = {  # noqa: RUF012
        "prompt--gutter",
        "prompt--caret",
        "prompt--selected",
        "prompt--token",
        "prompt--placeholder",
        "prompt--shell",
    }
    DEFAULT_CSS = """
    Prompt { height: auto; width: 1fr; background: $panel; color: $foreground; pointer: text; }
    Prompt > .prompt--gutter { color: $primary; text-style: bold; }
    Prompt > .prompt--shell { color: $warning; text-style: bold; }
    Prompt > .prompt--caret { color: $background; background: $primary; }
    Prompt > .prompt--selected { background: $screen-selection-background; }
    Prompt > .prompt--token { color: $primary; }
    Prompt > .prompt--placeholder { color: $text-muted; }
    """

    placeholder: reactive[str] = reactive("")
    busy: reactive[bool] = reactive(False, repaint=False)
    """While set, Enter posts `Held` and the text stays."""
    continues: reactive[bool] = reactive(True)
    """Whether it is shown how an older entry goes on that begins like the text."""

    class Submitted(Message):
        """The person sent `text`; pastes are in it in full."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Steered(Message):
        """The person wants to say `text` to the turn that runs."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Held(Message):
        """Enter was pressed while the prompt is busy; `text` still stands in it."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class PasteWanted(Message):
        """The person wants to see the large paste at `position` of `edited_text`."""

        def __init__(self, position: int, text: str) -> None:
            super().__init__()
            self.position = position
            self.text = text

    class HistoryAdded(Message):
        """`text` joined the history, for whoever keeps it on disk."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Changed(Message):
        """The text or the caret changed; read them from the prompt."""

    def __init__(
        self,
        *,
        history: Iterable[str] = (),
        placeholder: str = "",
        actions: Iterable[KeyAction] = KEY_ACTIONS,
        id: str | None = None,
    ) -> None:
        super().__init__(PromptEditor(history), id=id)
        self.set_reactive(Prompt.placeholder, placeholder)
        self.intercept: Callable[[events.Key], bool] | None = None
        """Asked first about every key; True means that it took the key. For lists of completions."""
        self.edited: Callable[[], None] = lambda: None
        """Called after every change of text or caret, before the screen shows it; `Changed` comes later."""
        self._continuation = ""
        actions = tuple(actions)
        commands = {
            "send": self._send,
            "steer": self._steer,
            "newline": self._newline,
            "undo": self._editor.undo,
            "redo": self._editor.redo,
            "paste_open": self._open_paste,
        }
        self._commands = {key: commands[name] for key, name in keys_of(actions, "prompt").items()}
        self._continuation_keys = keys_of(actions, "continuation")

    @property
    def gutter_cells(self) -> int:
        """How many cells stand before the text."""
        return self.size.width - self._room(self.size.width)

    @property
    def edited_text(self) -> str:
        """The text as it is edited, one private character for each large paste; `caret` counts in it."""
        return self._editor.buffer.text

    @property
    def caret(self) -> int:
        """Position of the caret in `edited_text`, in code points."""
        return self._editor.buffer.caret

    @property
    def history(self) -> tuple[str, ...]:
        """What was sent, the oldest first."""
        return self._editor.history.entries

    def learn_history(self, entries: Iterable[str]) -> None:
        """Take older entries, the oldest first, into the history."""
        self._editor.history.learn(entries)

    def offset_of(self, position: int) -> Offset:
        """Return where on the screen a position of `edited_text` is, as far as it is in view."""
        row, column = self._editor.place_of(position)
        place = Offset(self.gutter_cells + column, row - self._editor.first_row)
        return self.content_region.offset + Offset(
            min(place.x, max(0, self.size.width - 1)), min(max(0, place.y), max(0, self.size.height - 1))
        )

    def load(self, text: str) -> None:
        """Put `text` in place of the whole prompt; undo brings the old text back."""
        self.replace_range(0, len(self.edited_text), text)

    def replace_range(self, start: int, end: int, text: str) -> None:
        """Put `text` in place of the positions `start` to `end` of `edited_text`, the caret behind it."""
        self._editor.replace(start, end, text)
        self._edited()

    def clear(self) -> None:
        """Empty the prompt and forget its pastes and its undo steps."""
        self._editor.clear()
        self._edited()

    def add_history(self, text: str) -> None:
        """Make `text` the newest entry of the history and post `HistoryAdded`."""
        self._editor.history.add(text)
        self.post_message(self.HistoryAdded(text))

    def on_key(self, event: events.Key) -> None:
        """Edit, move, send; keys that mean nothing here go on to whoever has a binding for them."""
        if (self.intercept is not None and self.intercept(event)) or self._press(event):
            event.stop()
            event.prevent_default()

    def on_focus(self) -> None:
        """Take the terminal's cursor along, as soon as it is clear where the prompt stands."""
        self.call_after_refresh(self.place_caret)

    def on_resize(self) -> None:
        """Keep the caret in view at the new size."""
        self._editor.fit(self._room(self.size.width))
        self.place_caret()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the text, at most MAX_ROWS and a third of the screen."""
        self._editor.fit(self._room(width))
        return self._height_in(viewport)

    def render_line(self, y: int) -> Strip:
        """Return one row, at exactly the width of the widget."""
        width, base = self.size.width, self.rich_style
        row = self._editor.first_row + y
        segments: list[Segment] = []
        if self._room(width) < width:
            name = "shell" if self._shell_gutter else "gutter"
            segments.append(Segment(self._gutter_text(y), self.get_component_rich_style(f"prompt--{name}")))
        if not self.edited_text:
            segments += self._placeholder_segments() if y == 0 else []
        elif row < self._editor.row_count:
            for text, kind in self._editor.pieces(row, caret=self.has_focus):
                style = base if kind == "text" else self.get_component_rich_style(f"prompt--{kind}")
                segments.append(Segment(text, style))
            segments = self._with_hint(segments, row)
        return Strip(segments).adjust_cell_length(width, base)

    def _press(self, event: events.Key) -> bool:
        command = self._commands.get(event.key)
        if self._take_continuation(event.key):
            pass
        elif self._editor.is_at(event.key):
            return False
        elif command is not None:
            command()
        elif not self._editor.press(event.key, event.character):
            return False
        self._edited()
        return True

    def on_click(self, event: events.Click) -> None:
        """Open the paste that was clicked twice."""
        if event.chain == 2:
            self._open_paste()

    def _open_paste(self) -> None:
        paste = self._editor.paste_near_caret
        if paste is not None:
            self.post_message(self.PasteWanted(*paste))

    def _newline(self) -> None:
        self._editor.insert("\n")

    def _send(self) -> None:
        text = self.text
        if not text.strip():
            return
        if self.busy:
            self.post_message(self.Held(text))
            return
        self._hand_over(self.Submitted(text))

    def _steer(self) -> None:
        if self.text.strip():
            self._hand_over(self.Steered(self.text))

    def _hand_over(self, message: "Submitted | Steered") -> None:
        self._editor.clear()
        self.add_history(message.text)
        self.post_message(message)

    def _take_continuation(self, key: str) -> bool:
        """Put in how an older entry goes on, all of it or a word; say whether the key meant that."""
        action = self._continuation_keys.get(key)
        if action is None or not self._continuation:
            return False
        word = re.match(_WORD, self._continuation)
        taken = word[0] if action == "continue_word" and word else self._continuation
        self._editor.replace(self.caret, self.caret, taken)
        return True

    def _with_hint(self, segments: list[Segment], row: int) -> list[Segment]:
        """Return the row of the caret with what could be typed next, the caret on its first character."""
        if row != self._editor.row_count - 1 or not self.has_focus or self.caret != len(self.edited_text):
            return segments
        hint, _, more = self._continuation.partition("\n")
        hint = visible(hint.replace("\t", " ") + ("…" if more else "")) or shell_hint(self.edited_text)
        room = self._room(self.size.width) - self._editor.caret_place[1]
        hint = cut_to(hint, room)
        if not hint:
            return segments
        caret, muted = (
            self.get_component_rich_style("prompt--caret"),
            self.get_component_rich_style("prompt--placeholder"),
        )
        end = next_boundary(hint, 0)
        return [*segments[:-1], Segment(hint[:end], caret), Segment(hint[end:], muted)]

    def _room(self, width: int) -> int:
        return width - len(_GUTTER) if width >= _NARROW else max(1, width)

    def _height_in(self, viewport: Size) -> int:
        return max(1, min(self._editor.row_count, MAX_ROWS, viewport.height // 3))

    def _edited(self) -> None:
        """Bring the screen up to date with the text."""
        self._continuation = self._editor.continuation if self.continues else ""
        self.post_message(self.Changed())
        if self.is_mounted:
            self.refresh(layout=self._height_in(self.app.viewport_size) != self.size.height)
            self.place_caret()
            self.edited()

    def place_caret(self) -> None:
        """Bring the caret into view, and the terminal's cursor to it."""
        first_before = self._editor.first_row
        self._editor.scroll(max(1, self.size.height))
        if self._editor.first_row != first_before:
            self.refresh()
        if self.has_focus:
            self.take_cursor()

    def watch_continues(self) -> None:
        """Show or hide what could be typed next."""
        self._continuation = self._editor.continuation if self.continues else ""

    @property
    def _shell_gutter(self) -> str:
        return shell_gutter(self.edited_text)

    def _gutter_text(self, y: int) -> str:
        if y == 0:
            return "↑ " if self._editor.first_row else self._shell_gutter or _GUTTER
        more_below = y == self.size.height - 1 and self._editor.first_row + y + 1 < self._editor.row_count
        return "↓ " if more_below else "  "

    def _placeholder_segments(self) -> list[Segment]:
        text = cut_to(visible(self.placeholder), self._room(self.size.width)) or " "
        style = self.get_component_rich_style("prompt--placeholder")
        first = self.get_component_rich_style("prompt--caret") if self.has_focus else style
        return [Segment(text[0], first), Segment(text[1:], style)]
