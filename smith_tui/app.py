"""The app: bindings, screens, themes, and a clean end whatever happens."""

import asyncio
import sys
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import BindingType

from smith_core.roles import ROLES
from smith_tui.bootstrap import Engine
from smith_tui.card_actions import CardActions
from smith_tui.collecting import collect_from_now_on
from smith_tui.copy_actions import CopyActions
from smith_tui.crash import crash_sentence
from smith_tui.first_start import note_answered
from smith_tui.keys import app_bindings, help_rows, key_objection, of_one_place, resolve_keys
from smith_tui.output.app import OutputApp
from smith_tui.paste_parser import use_paste_parser
from smith_tui.sanitize import literal
from smith_tui.screens.chat import ChatScreen
from smith_tui.start import AppStart, start_around
from smith_tui.theme import THEMES, textual_theme

if TYPE_CHECKING:
    from textual.command import Provider

    from smith_core.command_table import Command
    from smith_core.events import AnyEvent
    from smith_core.runtime import Runtime
    from smith_tui.attention import Attention
    from smith_tui.early_terminal import EarlyTerminal
    from smith_tui.inspect.host import InspectionHost
    from smith_tui.prompt_memory import PromptMemory
    from smith_tui.screens.first_start import SetupResult
    from smith_tui.screens.look import Look
    from smith_tui.widgets.prompt import Prompt

QUIT_WINDOW_S = 1.0
"""Ctrl+C twice within this time while nothing runs leaves the app (decisions, section 8)."""


def _entries_of_commands() -> "type[Provider]":
    from smith_tui.palette import SlashCommands

    return SlashCommands


def _entries_of_actions() -> "type[Provider]":
    from smith_tui.palette import AppActions

    return AppActions


class SmithApp(CardActions, CopyActions, OutputApp, inherit_bindings=False):
    """Agent Smith in the terminal; of the toolkit's own keys it has none, for one of them quits at once."""

    TITLE = "Agent Smith"
    CSS_PATH = "smith.tcss"
    COMMANDS: ClassVar = {_entries_of_commands, _entries_of_actions}
    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "f24"
    """The palette has its key from our own table; this one only takes the toolkit's away."""

    def __init__(self, start: AppStart, early_terminal: "EarlyTerminal | None" = None) -> None:
        super().__init__(start.config.ui.output, early_terminal)
        self.start = start
        self.actions, problems = resolve_keys(start.config.keys)
        self._last_cancel = 0.0
        self._moving = (start.config.ui.rain, start.config.ui.motion)
        self.at_hang_up.append(_kill_running)
        self.unsaved = ""
        self.wants_tour = False
        for theme in THEMES.values():
            for role in ROLES.values():
                self.register_theme(textual_theme(theme, role.palette))
        # Before anything is mounted there is nothing to restyle, which assigning `theme` would do.
        self.set_reactive(App.theme, _theme_name(start.config.ui.theme, start.config.active_role))
        self.stylesheet.set_variables(self.get_css_variables())
        self.set_class(self.current_theme.dark, "-dark-mode")
        self.set_class(not self.current_theme.dark, "-light-mode")
        self.chat = ChatScreen(start, self.actions, problems)

    def get_css_variables(self) -> dict[str, str]:
        """Return the colours of the theme; none for the toolkit's own, which it makes before ours is chosen."""
        return super().get_css_variables() if hasattr(self, "start") else {}

    def get_default_screen(self) -> ChatScreen:
        """Begin with the main screen, so that no other one is painted before it."""
        return self.chat

    @property
    def has_engine(self) -> bool:
        """Whether the engine has been opened."""
        return "runtime" in self.__dict__

    @cached_property
    def runtime(self) -> "Runtime":
        """The engine, opened on first use, which is behind the first frame."""
        runtime = self.start.open_runtime()
        runtime.shown = self.chat.beginning.shown
        runtime.session.has_screen = True
        runtime.session.permissions.is_attended = True
        runtime.entries = {f"keys.{action.name}": ", ".join(action.keys) for action in self.actions}
        runtime.services.config.entry_checks["keys"] = key_objection
        runtime.services.ui.on_event(self._session_changed)
        runtime.services.ui.on_event(self._attention(runtime).note)
        return runtime

    def _attention(self, runtime: "Runtime") -> "Attention":
        from smith_tui.attention import Attention

        return Attention(
            self.write_aside,
            settings=lambda: runtime.services.config.effective.ui,
            is_away=lambda: not self.app_focus,
            goes_on=lambda: self.chat.queue.has_next,
        )

    @cached_property
    def inspection(self) -> "InspectionHost":
        """Whoever shows the inspect view."""
        from smith_tui.inspect.host import InspectionHost

        return InspectionHost(self.chat, self.runtime, lambda: self.look)

    @property
    def look(self) -> "Look":
        """How screens look now."""
        from smith_tui.screens.look import Look

        theme = THEMES[self.runtime.services.config.effective.ui.theme]
        return Look(theme=theme, palette=ROLES[self.runtime.session.active_role].palette, actions=self.actions)

    def _session_changed(self, event: "AnyEvent") -> None:
        from smith_core.events import HistoryEdited, SessionChanged

        if "inspection" in self.__dict__:
            self.inspection.show(event)
        if isinstance(event, HistoryEdited):
            self.chat.history_edited(event)
        if isinstance(event, SessionChanged):
            before, ui = self.theme, self.runtime.services.config.effective.ui
            self.theme = _theme_name(ui.theme, event.role)
            if self.theme != before:
                self.chat.wear_theme()
            if (ui.rain, ui.motion) != self._moving:
                self._moving = (ui.rain, ui.motion)
                self.chat.status.move(is_reduced=ui.motion == "reduced")
                self.chat.desk.rain_anew()

    def on_mount(self) -> None:
        """Bind the keys."""
        for binding in app_bindings(self.actions):
            for key in binding.key.split(","):
                self._bindings.bind(key, binding.action, binding.description, show=False, priority=True)
        self.call_after_refresh(collect_from_now_on, self)
        if self.start.asks_first:
            self.call_after_refresh(self.open_setup)
        self.call_after_refresh(self._hide_keys)
        self.call_after_refresh(self._begin_to_keep_picture)

    def _hide_keys(self) -> None:
        # Not awaited: the app's messages need not wait for it.
        self._hiding = asyncio.ensure_future(asyncio.to_thread(self.start.hide_keys))

    def _begin_to_keep_picture(self) -> None:
        self._keeping = asyncio.ensure_future(self._keep_picture())

    async def _keep_picture(self) -> None:
        """Keep what the next start can show at once, unless this one began with it or shows something else already."""
        await self.chat.beginning.has_drawn.wait()
        early = self.early_terminal
        if early is not None and not early.was_painted and self.screen is self.chat and not self.chat.prompt.text:
            from smith_tui.picture_keeper import keep_picture
            from smith_tui.widgets.key_hints import KeyHints

            chat = self.chat
            shown, empty = (chat.prompt, chat.query_one(KeyHints)), (chat, chat.status)
            await keep_picture(early.key, self.canvas, self.start.user_file, shown=shown, empty=empty)

    async def on_unmount(self) -> None:
        """End what still runs."""
        if self.has_engine:
            await self.runtime.stop_session("quit", self.crash)
            self.unsaved = self.runtime.unsaved_sentence()

    # Actions

    def action_cancel(self) -> None:
        """Cancel the turn; without one, copy the selection, or quit at the second press."""
        if self.chat.cancel_turn():
            return
        if self.action_copy():
            return
        now = time.monotonic()
        if now - self._last_cancel <= QUIT_WINDOW_S:
            self.exit(return_code=0)
            return
        self._last_cancel = now
        self.notify("Press Ctrl+C again to quit", timeout=QUIT_WINDOW_S, markup=False)

    def on_prompt_history_added(self, message: "Prompt.HistoryAdded") -> None:
        """Keep what was typed for later sessions."""
        self.start.prompts.add(message.text)

    def action_tool_output(self) -> None:
        """Show or hide the tool-output pane."""
        self.chat.toggle_output()

    def action_prompt_above(self) -> None:
        """Show the prompt above in the transcript."""
        if self.screen is self.chat:
            self.chat.transcript.scroll_prompt(-1)

    def action_prompt_below(self) -> None:
        """Show the prompt below in the transcript."""
        if self.screen is self.chat:
            self.chat.transcript.scroll_prompt(1)

    def action_find(self) -> None:
        """Search the transcript."""
        from smith_tui.screens.child import ChildScreen

        if isinstance(self.screen, ChatScreen | ChildScreen):
            self.screen.open_find()

    def action_redraw(self) -> None:
        """Draw the whole screen again."""
        self.redraw()

    def action_help(self) -> None:
        """Show all keys and commands, those of the view that has the focus first."""
        from smith_tui.screens.help import HelpScreen
        from smith_tui.widgets.key_hints import hints_for

        if isinstance(self.screen, HelpScreen):
            self.pop_screen()
            return
        footer = hints_for(self.screen)
        here = of_one_place(footer.shown_scopes) if footer is not None else ()
        commands = [
            (f"/{command.name} {command.usage}".rstrip(), command.summary)
            for command in self.runtime.services.command.list()
        ]
        sections = [
            ("Keys here", help_rows(action for action in self.actions if action.scope in here)),
            (
                "Other keys" if here else "Keys",
                help_rows(action for action in self.actions if action.scope not in here),
            ),
            ("Commands", commands),
        ]
        self.push_screen(HelpScreen([section for section in sections if section[1]]))

    def action_conversation_view(self) -> None:
        """Show the whole conversation."""
        from smith_tui.screens.conversation import ConversationScreen

        if isinstance(self.screen, ConversationScreen):
            self.pop_screen()
        elif self.screen is self.chat:
            self.push_screen(ConversationScreen(self.runtime, self.look))

    def action_inspect_view(self) -> None:
        """Look at each message."""
        if self.inspection.is_open:
            self.inspection.close_inspector()
        elif self.screen is self.chat:
            self.inspection.open()

    def open_view(self, view: str) -> None:
        """Show the whole conversation, or each of its messages, as ViewRequested says."""
        if view == "conversation":
            self.action_conversation_view()
        else:
            self.action_inspect_view()

    def open_setup(self) -> None:
        """Ask which model to use."""
        from smith_core.config.user_file import locate_user_file
        from smith_tui.screens.first_start import FirstStartScreen
        from smith_tui.setup import Setup

        if not isinstance(self.screen, FirstStartScreen):
            setup = Setup(self.runtime.services.model, self.start.user_file or locate_user_file())
            self.push_screen(FirstStartScreen(setup), self._setup_over)

    def _setup_over(self, result: "SetupResult | None") -> None:
        note_answered()
        if result is not None and result.kind == "tour":
            self.wants_tour = True
            self.exit(return_code=0)
            return
        if result is not None and result.kind == "saved":
            self.runtime.services.config.reload()
            self.start.hide_keys()
        self.chat.setup_over(result)

    def action_command_palette(self) -> None:
        """Show the commands and the keys that work everywhere, to choose from."""
        from smith_tui.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def choose_command(self, command: "Command") -> None:
        """Run a command from the palette, or put it into the prompt when it takes arguments."""
        if command.usage:
            self.chat.begin_command(command.name)
        else:
            self.chat.submit(f"/{command.name}")


def run_app(engine: Engine, welcome: str = "", early: "EarlyTerminal | None" = None) -> int:
    """Run the app until it ends; return the exit status. welcome: as in AppStart. early: as in run_full_screen."""
    use_paste_parser()
    start = AppStart(
        config=engine.config,
        cwd=Path.cwd(),
        open_runtime=engine.open_runtime,
        model=engine.model or engine.config.default_model or "",
        notices=(engine.config_message,) if engine.config_message else (),
        welcome=welcome,
        user_file=engine.user_file,
        asks_first=engine.asks_first,
        hide_keys=engine.hide_keys,
        read_tail=engine.read_tail,
        import_engine=engine.import_engine,
        prompts=engine.prompts(),
    )
    app = SmithApp(start, early)
    app.run()
    if early is not None:
        early.close()
    _kill_running()
    if app.unsaved:
        print(literal(app.unsaved), file=sys.stderr)
    if app.crash is not None:
        print(crash_sentence(app.crash), file=sys.stderr)
    elif app.wants_tour:
        from smith_tui.tour_command import run_tour

        return run_tour(engine.arguments)
    return app.return_code or 0


def app_around(runtime: "Runtime", prompts: "PromptMemory | None" = None) -> SmithApp:
    """Return an app around an engine that is open already; prompts: as in AppStart."""
    return SmithApp(start_around(runtime, prompts))


def _theme_name(theme: str, role: str) -> str:
    return f"smith-{theme}-{ROLES[role].palette}"


def _kill_running() -> None:
    from smith_core.process import kill_all_running

    kill_all_running()
