"""What the main screen does behind its first frame: it shows the end of the last conversation and opens the engine."""

import asyncio
from typing import TYPE_CHECKING, Any, Protocol, cast

from smith_core.roles import ROLES

if TYPE_CHECKING:
    from textual.app import App

    from smith_core.events import AnyEvent
    from smith_core.runtime import Runtime
    from smith_tui.screens.first_start import SetupResult
    from smith_tui.start import AppStart, SmithHost
    from smith_tui.transcript.view import Transcript
    from smith_tui.widgets.prompt import Prompt
    from smith_tui.widgets.status_bar import StatusBar


_HOST_ANSWERS_S = 0.2
"""One that is there has answered by then, and nothing needs to be said of it."""


class BeginningHost(Protocol):
    """What is needed of the screen that begins."""

    transcript: "Transcript"
    prompt: "Prompt"
    status: "StatusBar"

    @property
    def app(self) -> "App[Any]":
        """The app."""
        ...

    @property
    def is_attached(self) -> bool:
        """Whether the screen is there; it is not while the app ends."""
        ...

    @property
    def runtime(self) -> "Runtime":
        """The engine."""
        ...

    async def wait_for_refresh(self) -> bool:
        """Wait until what has changed is drawn."""
        ...

    def show(self, event: "AnyEvent", found: str = "") -> None:
        """Show an event."""
        ...


class Beginning:
    """The way from the first frame to an open engine.

    shown: the conversation whose end was shown before the engine was there, "" for none. has_drawn: all is drawn that
    takes no engine. is_open: the engine is there.
    """

    def __init__(self, host: BeginningHost, start: "AppStart") -> None:
        self._host = host
        self._start = start
        self.shown = ""
        self.has_drawn = asyncio.Event()
        self.is_open = asyncio.Event()
        self._watching: asyncio.Future[None] | None = None

    async def engine(self) -> "Runtime":
        """Return the engine as soon as it has been opened."""
        await self.is_open.wait()
        return self._host.runtime

    @property
    def open_engine(self) -> "Runtime | None":
        """The engine if it is open."""
        return self._host.runtime if self.is_open.is_set() else None

    async def look_around(self) -> None:
        """Go on with the conversation of the last time, and learn branch and model, which needs disk and endpoint."""
        host = self._host
        await self._show_tail()
        await asyncio.to_thread(self._start.import_engine)
        host.prompt.learn_history(await asyncio.to_thread(self._start.prompts.read))
        self.is_open.set()
        from smith_core.errors import AgentFailure
        from smith_core.model import ModelChoice

        host.runtime.services.model.on_opening_local(self._note_loading)
        async for event in host.runtime.open():
            host.show(event)
        self._watching = asyncio.ensure_future(self._watch_host())
        session = host.runtime.session
        scope = await session.recompute_turn_scope()
        host.status.change(branch=scope.project.branch)
        try:
            selected = await session.select_model(ModelChoice(), ROLES[session.active_role])
            host.status.change(model=selected.model)
        except AgentFailure as caught:
            host.transcript.add_notice("info", caught.error.message)

    def note(self, event: "AnyEvent") -> None:
        """Look after the model host again when it is asked for something: it may have ended since."""
        from smith_core.events import RequestStarted

        if isinstance(event, RequestStarted) and (self._watching is None or self._watching.done()):
            self._watching = asyncio.ensure_future(self._watch_host(_HOST_ANSWERS_S))

    def _note_loading(self, model: str) -> None:
        if self._host.is_attached:
            self._host.status.change(is_model_loading=bool(model))

    async def _watch_host(self, patience_s: float = 0.0) -> None:
        """Let a turn say that it waits for the model host, which takes seconds when it is the first start for long."""
        host = self._host
        ready = asyncio.ensure_future(host.runtime.services.model.wait_for_host())
        await asyncio.wait((ready,), timeout=patience_s)
        if not ready.done():
            host.status.change(is_host_starting=True)
        try:
            await ready
        finally:
            host.status.change(is_host_starting=False)

    async def _show_tail(self) -> None:
        """Show the end of the conversation of the last time; it takes a tenth of the time that the engine does."""
        host = self._host
        tail = await asyncio.to_thread(self._start.read_tail)
        # Whoever has opened the engine meanwhile gets the conversation from there.
        if tail is not None and host.is_attached and not cast("SmithHost", host.app).has_engine:
            self.shown = tail.conversation_id
            host.transcript.load(tail.messages)
            # Imports beside it would take half of the processor from drawing it.
            await host.wait_for_refresh()
        self.has_drawn.set()

    async def take_up(self, result: "SetupResult | None") -> None:
        """Go on with what the setup screen has brought."""
        await self.look_around()
        transcript = self._host.transcript
        if result is None or result.kind != "saved":
            transcript.add_notice("info", "/setup, or smith-tui setup, asks again which model to use.")
            return
        transcript.add_notice("info", result.message)
        selected = self._host.runtime.session.model
        if selected is not None and selected.model != result.model:
            transcript.add_notice("warning", f"In this session {selected.model} stays (from {selected.source}).")
