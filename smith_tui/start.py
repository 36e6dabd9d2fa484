"""What the app begins with."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from smith_core.config.schema import Config
from smith_core.config.user_file import UserFile
from smith_core.roles import ROLES
from smith_tui.prompt_memory import PromptMemory

if TYPE_CHECKING:
    from smith_core.command_table import Command
    from smith_core.runtime import Runtime
    from smith_core.stored_tail import StoredTail
    from smith_tui.keys import KeyAction
    from smith_tui.screens.look import Look

WELCOME = """\
Agent Smith reads, changes and runs code in this folder. Say what you want done, for instance:
  fix the failing test in tests/, and say what was wrong
  add a --verbose flag to the command line, with a test
Enter sends, Ctrl+J begins a new line, Ctrl+C stops a turn, /help lists the commands, F1 all keys."""


class AppStart(msgspec.Struct, frozen=True, kw_only=True):
    """What the app begins with; the engine is opened by `open_runtime`, once, behind the first frame.

    model: the id to show until the engine has resolved it. notices: what the person should know about the settings.
    welcome: what the transcript begins with, in place of the usual words. user_file: where the setup screen keeps its
    choice, None for the usual place. asks_first: whether the app begins with that screen. read_tail: called in a thread
    right behind the first frame for the end of the conversation that the engine is going to open. import_engine: called
    in a thread before `open_runtime`. prompts: what was typed in earlier sessions.
    """

    config: Config
    cwd: Path
    open_runtime: "Callable[[], Runtime]"
    model: str = ""
    notices: tuple[str, ...] = ()
    welcome: str = ""
    user_file: UserFile | None = None
    asks_first: bool = False
    hide_keys: Callable[[], None] = lambda: None
    read_tail: "Callable[[], StoredTail | None]" = lambda: None
    import_engine: Callable[[], None] = lambda: None
    prompts: PromptMemory = msgspec.field(default_factory=PromptMemory)

    @property
    def status(self) -> dict[str, str]:
        """What the status bar says at first: fields of its state."""
        tools = self.config.tools
        return {
            "role_alias": ROLES[self.config.active_role].alias,
            "folder": str(self.cwd),
            "model": self.model,
            "permission": tools.permission,
            "sandbox": "off" if tools.sandbox == "off" else "unknown",
        }


def start_around(runtime: "Runtime", prompts: PromptMemory | None = None) -> AppStart:
    """Return what an app begins with around an engine that is open already."""
    config = runtime.services.config.effective
    return AppStart(
        config=config,
        cwd=runtime.session.cwd,
        open_runtime=lambda: runtime,
        model=runtime.session.choice.model or config.default_model or "",
        prompts=prompts or PromptMemory(),
    )


class SmithHost(Protocol):
    """What screens and palette ask of the app that they are in."""

    actions: "tuple[KeyAction, ...]"

    @property
    def has_engine(self) -> bool:
        """Whether the engine has been opened."""
        ...

    @property
    def runtime(self) -> "Runtime":
        """The engine."""
        ...

    @property
    def look(self) -> "Look":
        """How screens look now."""
        ...

    def open_setup(self) -> None:
        """Open the screen that chooses endpoint and model."""
        ...

    def open_view(self, view: str) -> None:
        """Open the conversation view or the inspect view, as `ViewRequested` names them."""
        ...

    def choose_command(self, command: "Command") -> None:
        """Run a command, or put it into the prompt when it takes arguments."""
        ...
