"""The search screen: what was ever said, found while the person types."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from smith_core.errors import AgentFailure
from smith_tui.sanitize import literal
from smith_tui.screens.leaving import LeftOnce
from smith_tui.screens.look import Look
from smith_tui.screens.search_rows import EXCERPT_ROWS, found_text, passage_rows
from smith_tui.screens.stored import Opening, Order, Passage, Passages, Searcher, StoredConversation
from smith_tui.transcript.lines import BLANK, Line, line_of
from smith_tui.widgets.input_line import InputLine
from smith_tui.widgets.key_hints import KeyHints
from smith_tui.widgets.result_list import MOVING_KEYS, Frame, ResultList

if TYPE_CHECKING:
    from textual.worker import Worker

WAIT_S = 0.04
"""How long the first key waits for others before a search begins."""
INDEX_POLL_S = 0.5
PAGE = 50
MAX_RESULTS = 10_000 + PAGE
"""Most results that can be gone through: the engine's pages begin at the 10,000th at the latest."""
TALL_ROWS = 24
"""From this height on, a blank row stands between results."""

FILTERS = 'role: project: tool: after:2026-01-31 "a phrase" -without'
_BEHIND = "The search is still taking in what was said; more may be found in a moment."
_IDLE = (
    "Whatever was said can be found here: in conversations,",
    "tool results, notes and project memory.",
    "",
    "parse http           both words, as parts as well",
    '"connection refused" the words as they stand together',
    "role:user -draft     what you said, without that word",
    "tool:bash timeout    what a tool was told or said",
    "after:2026-01-31 before:2026-03-01 kind:note",
)


class SearchScreen(LeftOnce[Opening | None]):
    """Searches while the person types; ends with what is to be opened, or None.

    now: seconds since the epoch; timer: a clock for durations, in seconds.
    """

    DEFAULT_CSS = """
    .note { height: 1; color: $text-muted; }
    .note.said { height: auto; max-height: 3; color: $warning; }
    .frame { height: 1fr; border: round $border; }
    """

    def __init__(
        self,
        source: Searcher,
        query: str = "",
        *,
        look: Look = Look(),  # noqa: B008 - it is frozen
        now: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__()
        self._source = source
        self._first_query = query
        self._look = look
        self._keys = look.keys("search")
        self._now = now
        self._timer = timer
        self._order: Order = "best"
        self._wait: Timer | None = None
        self._passages: dict[int, Passage] = {}
        self._conversations: Mapping[str, StoredConversation] = {}
        self._page_load: Worker[None] | None = None
        self._is_index_behind = False
        self._shown: tuple[str, Order] = ("", "best")

    @property
    def query_text(self) -> str:
        """What is searched for."""
        return self._input.text

    def compose(self) -> ComposeResult:
        """Lay out the screen from the top down."""
        yield InputLine("Search", hint="words, as they come to mind", leave=MOVING_KEYS - {"home", "end"})
        yield Static(FILTERS, classes="note", markup=False)
        with Container(classes="frame"):
            yield ResultList(self._rows, self._look.ink, item_height=1 + EXCERPT_ROWS)
        yield KeyHints(self._look.hints("search"))

    def on_mount(self) -> None:
        """Take the query that the screen was opened with."""
        self._input = self.query_one(InputLine)
        self._list = self.query_one(ResultList)
        self._note = self.query_one(Static)
        self._list.can_focus = False
        self.query_one(KeyHints).show_keys_for(["search"])
        self._input.load(self._first_query, select=True)
        self.set_focus(self._input)
        self.run_worker(self._learn_titles(), group="titles")
        self.run_worker(self._follow_index(), group="index")

    def on_resize(self, event: events.Resize) -> None:
        """Leave the blank rows out where there is little room."""
        self._list.set_item_height(1 + EXCERPT_ROWS + (event.size.height >= TALL_ROWS))

    def on_key(self, event: events.Key) -> None:
        """Do what a key that types nothing is for."""
        match self._keys.get(event.key):
            case "search_close":
                self.dismiss(None)
            case "search_order":
                self._order = "newest" if self._order == "best" else "best"
                self._ask()
            case "search_open":
                self._list.press("enter")
            case _ if not self._list.press(event.key):
                return
        event.stop()
        event.prevent_default()

    @on(InputLine.Changed)
    def _query_changed(self) -> None:
        # The wait is not begun anew by each key: results shall come while somebody types fast, too.
        if self._wait is None:
            self._wait = self.set_timer(WAIT_S, self._ask)

    @on(ResultList.Opened)
    def _opened(self, message: ResultList.Opened) -> None:
        passage = self._passages.get(message.index)
        if passage is None:
            return
        if not passage.conversation_id:
            key = self._look.key_of("search_close")
            self._say(f"This is project memory, which belongs to no conversation; {key} and /recall show it whole.")
            return
        if passage.job_id:
            self.dismiss(Opening(passage.conversation_id, job_id=passage.job_id))
        else:
            self.dismiss(Opening(passage.conversation_id, max(0, passage.sequence), found_text(passage)))

    # Asking

    async def _follow_index(self) -> None:
        """Ask, and ask again whenever the index has taken in more, until it has everything."""
        known = -1
        while True:
            try:
                state = await self._source.search_status()
            except AgentFailure:
                self._ask()  # The answer says what is wrong.
                return
            self._is_index_behind = state.is_working or state.lag_bytes > 0
            if state.indexed != known:
                known = state.indexed
                self._ask(keep=True)
            if not self._is_index_behind:
                return
            await asyncio.sleep(INDEX_POLL_S)

    def _ask(self, *, keep: bool = False) -> None:
        """Search for what is typed; keep: stay on the chosen row."""
        if self._wait is not None:
            self._wait.stop()
            self._wait = None
        if self._page_load is not None:
            self._page_load.cancel()
            self._page_load = None
        # An exclusive worker cancels the one before, so that no late answer takes the place of a newer one.
        row = max(0, self._list.selected) if keep else 0
        self.run_worker(self._search(self.query_text, self._order, row), group="search", exclusive=True)

    async def _search(self, query: str, order: Order, row: int) -> None:
        if not query.strip():
            self._passages = {}
            self._input.show_info(_order_name(order))
            self._say("")
            self._list.show_items(0, message=self._lines(*_IDLE))
            return
        started = self._timer()
        try:
            page = await self._source.search(query, order, PAGE, 0)
        except AgentFailure as caught:
            self._passages = {}
            self._say(caught.error.message)
            self._list.show_items(0)
            return
        self._shown = (query, order)
        milliseconds = (self._timer() - started) * 1000
        self._passages = dict(enumerate(page.hits))
        found = "no result" if not page.total else "1 result" if page.total == 1 else f"{page.total:,} results"
        self._input.show_info(
            f"{found} · {milliseconds:.0f} ms · {_order_name(order)}", f"{found} · {_order_name(order)}", found
        )
        self._say(_note_of(page) or (_BEHIND if self._is_index_behind else ""))
        nothing = self._lines("Nothing was found; fewer or shorter words find more.")
        self._list.show_items(min(page.total, MAX_RESULTS), row, message=nothing)

    @on(ResultList.Viewed)
    def _viewed(self) -> None:
        self._load_what_is_in_view()

    def _load_what_is_in_view(self) -> None:
        """Ask for a page that is in view and missing; the next one is asked for when this one has come."""
        missing = next((index for index in self._list.viewed if index not in self._passages), None)
        if missing is None or self._page_load is not None:
            return
        offset = missing - missing % PAGE
        self._page_load = self.run_worker(self._load_page(offset), group="page")

    async def _load_page(self, offset: int) -> None:
        try:
            page = await self._source.search(*self._shown, PAGE, offset)
        except AgentFailure as caught:
            self._say(caught.error.message)
            return
        self._page_load = None
        self._passages.update(enumerate(page.hits, offset))
        self._list.render_again()
        if page.hits:
            self._load_what_is_in_view()

    async def _learn_titles(self) -> None:
        try:
            conversations = await self._source.list_conversations()
        except AgentFailure:
            return  # Results are of use without titles; a store in trouble is told of elsewhere.
        self._conversations = {each.conversation_id: each for each in conversations}
        self._list.render_again()

    # Showing

    def _rows(self, index: int, frame: Frame) -> list[Line]:
        passage = self._passages.get(index)
        if passage is None:
            return [line_of([("  …", frame.ink.muted)])]
        return passage_rows(passage, self._conversations.get(passage.conversation_id), self._now(), frame)

    def _lines(self, *texts: str) -> list[Line]:
        return [BLANK, *(line_of([(f"  {text}", self._look.ink.muted)]) for text in texts)]

    def _say(self, text: str) -> None:
        """Show a note in place of the line about filters, or that line again."""
        self._note.set_class(bool(text), "said")
        self._note.update(Content(literal(text or FILTERS)))


def _note_of(page: Passages) -> str:
    notes = [*page.problems, *([page.notice.message] if page.notice else [])]
    if not notes and page.total > MAX_RESULTS:
        notes = [f"The first {MAX_RESULTS:,} can be gone through; another word or a filter narrows them down."]
    return " ".join(notes)


def _order_name(order: Order) -> str:
    return "best first" if order == "best" else "newest first"
