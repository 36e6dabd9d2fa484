"""A screen that asks one question after the other: rows to choose from, a field to type in, and a way back."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, Literal, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from smith_core.cancel import CancelToken, new_root
from smith_tui.sanitize import literal, literal_lines
from smith_tui.screens.leaving import LeftOnce
from smith_tui.setup_pages import Choice, Page, Row, narrowed

Answered = Callable[[Choice], None]
NoteStyle = Literal["muted", "warning", "error"]
Result = TypeVar("Result")

_KEYS = "↑ ↓ choose · Enter goes on · Esc goes back"
_FIRST_KEYS = "↑ ↓ choose · Enter goes on · Esc leaves it for later"
_WORK_KEYS = "Esc gives it up"
_MOST_NAME_CELLS = 27


class QuestionScreen(LeftOnce[Result], ModalScreen[Result]):
    """Shows one Page at a time and hands its answer to whoever asked.

    ways_back: what Esc does, the last one first; with none it leaves the screen with `result_of_leaving`.
    """

    DEFAULT_CSS = """
    QuestionScreen { align: center middle; }
    #question {
        width: 90; max-width: 100%; height: auto; max-height: 100%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    #question Static { height: auto; }
    #question-title { text-style: bold; color: $primary; }
    #question-hint { color: $text-muted; }
    #question-entry { height: 1; border: none; padding: 0 1; background: $panel; margin-top: 1; }
    #question-rows {
        height: auto; max-height: 1fr; margin-top: 1;
        border: none; padding: 0; background: $surface; background-tint: $surface 0%; scrollbar-size-vertical: 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    #question-rows.wrapped { text-wrap: wrap; }
    #question-rows:focus > .option-list--option-highlighted, #question-rows > .option-list--option-highlighted {
        color: $screen-selection-foreground; background: $screen-selection-background; text-style: none;
    }
    #question-note { margin-top: 1; color: $text-muted; }
    #question-note.warning { color: $warning; }
    #question-note.error { color: $error; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back")]

    def __init__(self, title: str, result_of_leaving: Result) -> None:
        super().__init__()
        self.ways_back: list[Callable[[], None]] = []
        self.token: CancelToken = new_root()
        self._box_title = title
        self._result_of_leaving = result_of_leaving
        self._page = Page(title="")
        self._rows: tuple[Row, ...] = ()
        self._answered: Answered = _ignore
        self._work: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        """Lay out what every page is made of."""
        with Vertical(id="question") as box:
            box.border_title = self._box_title
            yield Static(id="question-title")
            yield Static(id="question-hint")
            yield Input(id="question-entry")
            yield OptionList(id="question-rows")
            yield Static(id="question-note")

    def on_mount(self) -> None:
        """Let the terminal's cursor go along with the field, which the toolkit moves to it with the next key only."""
        self.screen_layout_refresh_signal.subscribe(self, lambda _: self._place_caret())

    def on_unmount(self) -> None:
        """Give up what still runs."""
        self.stop_work()

    # The page

    def ask(self, page: Page, answered: Answered) -> None:
        """Show a page; its answer goes to `answered`: what the chosen row stands for, or the typed text."""
        self._page, self._answered = page, answered
        self._update("#question-title", page.title)
        self._update("#question-hint", page.hint)
        self.note("")
        entry, options = self.query_one(Input), self.query_one(OptionList)
        entry.cursor_blink = False
        entry.display = page.entry is not None
        entry.placeholder = page.placeholder
        entry.value = page.entry or ""
        entry.cursor_position = len(entry.value)
        self._fill(page.rows)
        self.query_one("#question", Vertical).border_subtitle = _KEYS if self.ways_back else _FIRST_KEYS
        # At once, not through the queue: what is typed from now on belongs to this page.
        self.set_focus(entry if page.entry is not None else options)

    def ask_again(self, page: Page, answered: Answered) -> None:
        """Show a page in place of one of its kind, and keep what was typed or chosen so far."""
        typed, options = self.query_one(Input).value, self.query_one(OptionList)
        chosen = self.chosen_row if options.highlighted else None
        self.ask(page, answered)
        self.query_one(Input).value = typed
        self._narrow()
        choices = [row.choice for row in self._rows]
        if chosen is not None and chosen.choice in choices:
            options.highlighted = choices.index(chosen.choice)

    def show_work(self, title: str, hint: str, work: Coroutine[Any, Any, None]) -> None:
        """Show that something is done, and do it; Esc gives it up."""
        self.ask(Page(title=title, hint=hint), _ignore)
        self.query_one("#question", Vertical).border_subtitle = _WORK_KEYS
        self.start_work(work)

    def note(self, text: str, style: NoteStyle = "muted") -> None:
        """Say something below the question."""
        self.query_one("#question-note", Static).set_classes(style)
        self._update("#question-note", text)

    def forget_typed(self) -> None:
        """Empty the field."""
        self.query_one(Input).clear()

    @property
    def chosen_row(self) -> Row | None:
        """The row that Enter takes."""
        number = self.query_one(OptionList).highlighted
        return self._rows[number] if number is not None and number < len(self._rows) else None

    def _narrow(self) -> None:
        if self._page.has_filter:
            self._fill(narrowed(self._page.rows, self.query_one(Input).value))

    def _fill(self, rows: tuple[Row, ...]) -> None:
        self._rows = rows
        options = self.query_one(OptionList)
        options.display = bool(rows)
        options.clear_options()
        width = min(_MOST_NAME_CELLS, max((len(row.name) for row in rows if row.detail), default=0))
        options.set_class(self._page.wraps_rows, "wrapped")
        options.add_options([Option(_row_text(row, width, wraps=self._page.wraps_rows)) for row in rows])
        options.highlighted = 0 if rows else None

    def _update(self, selector: str, text: str) -> None:
        part = self.query_one(selector, Static)
        part.update(Text("\n".join(literal_lines(text))))
        part.display = bool(text)

    def _place_caret(self) -> None:
        entry = self.query_one(Input)
        if entry.has_focus and self.is_current and self.app.cursor_position != entry.cursor_screen_offset:
            self.app.cursor_position = entry.cursor_screen_offset
            entry.refresh()

    # Keys

    @on(Input.Changed)
    def _typed(self) -> None:
        self._narrow()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        row = self.chosen_row
        self._take(row.choice if row is not None else event.value)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._take(self._rows[event.option_index].choice)

    def _take(self, choice: Choice) -> None:
        self.stop_work()
        self._answered(choice)

    def on_key(self, event: events.Key) -> None:
        """Let the arrows choose a row while the field has the focus."""
        options = self.query_one(OptionList)
        if self.query_one(Input).has_focus and options.display and event.key in ("up", "down"):
            event.stop()
            if event.key == "up":
                options.action_cursor_up()
            else:
                options.action_cursor_down()

    def action_back(self) -> None:
        """Give up what runs and go to the question before; from the first one leave the screen."""
        self.stop_work()
        if self.ways_back:
            self.ways_back.pop()()
        else:
            self.dismiss(self._result_of_leaving)

    # What takes time

    def start_work(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` until it ends, is answered, or is left; `token` is cancelled with it."""
        self.stop_work()
        self.token = new_root()
        self._work = asyncio.create_task(work)
        self._work.add_done_callback(self._work_over)

    def stop_work(self) -> None:
        """Give up what runs, unless it is what calls."""
        if self._work is not None and self._work is not asyncio.current_task():
            self.token.request()
            self._work.cancel()
        self._work = None

    def _work_over(self, work: asyncio.Task[None]) -> None:
        if not work.cancelled() and isinstance(error := work.exception(), Exception):
            self.app._handle_exception(error)


def _ignore(choice: Choice) -> None:
    """Take no answer while something is done."""


def _row_text(row: Row, width: int, *, wraps: bool) -> Text:
    name = literal(row.name)
    if not row.detail:
        return Text(name, no_wrap=True, overflow="ellipsis")
    text = Text(no_wrap=not wraps, overflow="ellipsis").append(f"{name.ljust(width)}  ", "bold")
    return text.append(literal(row.detail))
