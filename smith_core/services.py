"""The ten services of a session as one frozen value; `runtime.compose_services` makes them."""

from collections.abc import Callable

import msgspec

from smith_core.command_table import CommandTable
from smith_core.config.service import ConfigService
from smith_core.conversation import Conversation
from smith_core.dispatch.service import DispatchService
from smith_core.events import AnyEvent
from smith_core.model import ModelService
from smith_core.prompt import PromptService
from smith_core.roles import RoleCatalog
from smith_core.store.interface import Persistence
from smith_core.tools.registry import ToolRegistry


class EventHub:
    """The handle `ui`: whoever wants to see every event of the session subscribes here."""

    def __init__(self) -> None:
        self._subscribers: list[Callable[[AnyEvent], None]] = []

    def on_event(self, callback: Callable[[AnyEvent], None]) -> Callable[[], None]:
        """Call `callback` for each event; return a function that ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def emit(self, event: AnyEvent) -> None:
        """Hand an event to all subscribers."""
        for callback in tuple(self._subscribers):
            callback(event)


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """The handles by name."""

    role: RoleCatalog
    model: ModelService
    tool: ToolRegistry
    dispatch: DispatchService
    conversation: Conversation
    persistence: Persistence
    config: ConfigService
    ui: EventHub
    prompt: PromptService
    command: CommandTable


SERVICE_NAMES: tuple[str, ...] = Services.__struct_fields__
