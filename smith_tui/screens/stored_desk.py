"""Stored conversations on the main screen: the screens to choose one from, and the place to which it is opened."""

from bisect import bisect_left
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import asyncio

    from textual.app import App

    from smith_core.events import AnyEvent, ConversationLoaded, HistoryEdited, PickerRequested
    from smith_core.runtime import Runtime
    from smith_tui.screens.finding import Finder
    from smith_tui.screens.look import Look
    from smith_tui.screens.search import SearchScreen
    from smith_tui.screens.stored import Opening
    from smith_tui.transcript.model import Place
    from smith_tui.transcript.view import Transcript

    Kept = tuple[Place, int]


class StoredHost(Protocol):
    """What is needed of the screen that conversations are opened on."""

    transcript: "Transcript"

    def end_find(self) -> None:
        """Close the line to search in."""
        ...

    @property
    def finder(self) -> "Finder":
        """Whoever searches what is shown."""
        ...

    @property
    def app(self) -> "App[Any]":
        """The app."""
        ...

    @property
    def runtime(self) -> "Runtime":
        """The engine."""
        ...

    @property
    def look(self) -> "Look":
        """How screens look now."""
        ...

    def start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Run something in the background."""
        ...

    def submit(self, text: str) -> None:
        """Run a prompt or a command."""
        ...

    def show(self, event: "AnyEvent", found: str = "") -> None:
        """Show an event; found: what to mark in a conversation that is loaded."""
        ...

    def show_child(self, job_id: str) -> None:
        """Show the whole transcript of a child of this conversation."""
        ...


class StoredDesk:
    """Opens what is chosen, and remembers what was searched for last."""

    def __init__(self, host: StoredHost) -> None:
        self._host = host
        self._last_search = ""
        self._end_of: str | None = None
        """The conversation of which only the end is shown; None until one is loaded."""

    def open_picker(self, request: "PickerRequested") -> None:
        """Let the person choose among all conversations, or search them."""
        from smith_tui.screens.conversations import ConversationsScreen
        from smith_tui.screens.search import SearchScreen

        host, look = self._host, self._host.look
        if request.kind == "search":
            search = SearchScreen(host.runtime.shelf, request.query or self._last_search, look=look)
            host.app.push_screen(search, partial(self._search_over, search))
        else:
            current = host.runtime.services.conversation.conversation_id
            role = host.runtime.session.active_role
            picker = ConversationsScreen(host.runtime.shelf, request.query, current=current, role=role, look=look)
            host.app.push_screen(picker, self._open)

    def place_in_end(self, loaded: "ConversationLoaded", early: str) -> "Kept | None":
        """Return where the person reads in the end of a conversation of which the rest comes now.

        early: the conversation whose end was shown before any was loaded.
        """
        shown = early if self._end_of is None else self._end_of
        self._end_of = "" if loaded.is_whole else loaded.conversation_id
        view = self._host.transcript
        if loaded.conversation_id != shown or loaded.shown_sequence or view.is_following or not view.shown_rows:
            return None
        return view.shown_rows[0].place, len(view.document.blocks)

    def go_back(self, kept: "Kept | None") -> None:
        """Go on at a place that was kept: it is as far from the end as before."""
        if kept is not None:
            place, count = kept
            more = len(self._host.transcript.document.blocks) - count
            self._host.transcript.go_to(place._replace(block=max(0, place.block + more)))

    def go_to(self, loaded: "ConversationLoaded", found: str) -> None:
        """Show the message that a conversation was opened for, with what was found in it marked."""
        marked = None
        index = bisect_left(loaded.sequences, loaded.shown_sequence)
        if loaded.shown_sequence and index < len(loaded.messages):
            from smith_tui.screens.passages import go_to_message

            marked = go_to_message(self._host.transcript, loaded.messages, index, found)
        if marked is None:
            self._host.end_find()
        else:
            self._host.finder.show(marked.text, marked.hits, marked.number)

    def show_again(self, edited: "HistoryEdited") -> None:
        """Show the conversation after a change, at about the same place."""
        transcript = self._host.transcript
        place = None if transcript.is_following or not transcript.shown_rows else transcript.shown_rows[0].place
        transcript.load(edited.messages)
        if place is not None and transcript.document.blocks:
            transcript.go_to(place._replace(block=min(place.block, len(transcript.document.blocks) - 1)))
        self._host.finder.forget()

    def _search_over(self, search: "SearchScreen", opening: "Opening | None") -> None:
        # The next search begins with this one, so that a person can go on to the next result.
        self._last_search = search.query_text
        self._open(opening)

    def _open(self, opening: "Opening | None") -> None:
        if opening is not None and opening.conversation_id:
            self._host.start(self._load(opening))
        elif opening is not None:
            self._host.submit("/new")

    async def _load(self, opening: "Opening") -> None:
        from smith_core.events import ConversationLoaded

        is_open = False
        async for event in self._host.runtime.open_conversation(opening.conversation_id, opening.sequence):
            self._host.show(event, opening.found)
            is_open = is_open or isinstance(event, ConversationLoaded)
        # Where a running turn or another process keeps it closed, the child of that name would be another one's.
        if opening.job_id and is_open:
            self._host.show_child(opening.job_id)
