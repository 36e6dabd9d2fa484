"""The front door of the engine: it composes the services, runs the session and takes what the person types."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from smith_core.command_table import CommandTable, split_command
from smith_core.commands import COMMANDS, CommandContext
from smith_core.config.schema import Config
from smith_core.config.service import ConfigService
from smith_core.conversation import Conversation
from smith_core.dispatch.service import DispatchService
from smith_core.errors import AgentFailure, failure, normalize
from smith_core.events import AnyEvent, Notice
from smith_core.frozen import EMPTY_MAPPING
from smith_core.log import LOGGER
from smith_core.model import ModelChoice, ModelService
from smith_core.prompt import PromptService
from smith_core.roles import RoleCatalog
from smith_core.services import SERVICE_NAMES, EventHub, Services
from smith_core.session import Emit, Session, TurnRequest
from smith_core.store.memory import MemoryPersistence
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_core.tools.registry import ToolRegistry


def compose_services(
    config: ConfigService | Config | Mapping[str, Any], service_handles: Mapping[str, Any] = EMPTY_MAPPING
) -> Services:
    """Make the ten services.

    `service_handles[name]`, or the same key of a mapping given as `config`, injects a ready handle;
    `services[name]` in the configuration holds the options that a handle is made with.
    """
    handles = dict(service_handles)
    if isinstance(config, Mapping):
        handles = {**dict(config.get("service_handles") or {}), **handles}
        config = ConfigService.from_mapping({key: config[key] for key in config if key != "service_handles"})
    elif isinstance(config, Config):
        config = ConfigService.from_config(config)
    unknown = set(handles) - set(SERVICE_NAMES)
    if unknown:
        raise failure("schema", "unknown_service", f"no such service: {', '.join(sorted(unknown))}")
    effective = config.effective
    factories: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "role": lambda options: RoleCatalog(),
        "model": lambda options: ModelService(),
        "tool": lambda options: ToolRegistry(BUILTIN_TOOLS),
        "dispatch": lambda options: DispatchService(effective.dispatch.max_parallel),
        "conversation": lambda options: Conversation(options.get("conversation_id")),
        "persistence": lambda options: MemoryPersistence(),
        "config": lambda options: config,
        "ui": lambda options: EventHub(),
        "prompt": lambda options: PromptService(),
        "command": lambda options: CommandTable(COMMANDS),
    }
    made = {
        name: handles[name] if name in handles else make(service_options(effective, name))
        for name, make in factories.items()
    }
    return Services(**made)


def service_options(config: Config, name: str) -> Mapping[str, Any]:
    """Return the options of one service from `services[name]`, empty without any."""
    options = config.services.get(name, EMPTY_MAPPING)
    return options if isinstance(options, Mapping) else EMPTY_MAPPING


class Runtime:
    """One running engine; used on one event loop."""

    def __init__(
        self,
        services: Services,
        *,
        cwd: Path | None = None,
        spill_dir: Path | None = None,
        choice: ModelChoice | None = None,
    ) -> None:
        self._own_spill_dir = None
        if spill_dir is None:
            self._own_spill_dir = _temporary_folder()
            spill_dir = Path(self._own_spill_dir.name)
        self.services = services
        self.session = Session(services, cwd or Path.cwd(), spill_dir, choice)

    def start_session(self) -> None:
        """Open the session; turns can be run from here on."""
        self.session.start_session()

    async def stop_session(self, reason: str) -> None:
        """Close the session, cancel what runs, and end the model host."""
        self.session.stop_session(reason)
        await self.services.model.aclose()
        if self._own_spill_dir is not None:
            await asyncio.to_thread(self._own_spill_dir.cleanup)

    def cancel(self) -> bool:
        """Cancel the running turn; say whether there was one."""
        return self.session.cancel()

    async def process_raw_input(self, line: str, choice: ModelChoice | None = None) -> AsyncIterator[AnyEvent]:
        """Run a slash command or a turn and yield its events; closing the iterator cancels the turn."""
        events: asyncio.Queue[AnyEvent | None] = asyncio.Queue()

        def emit(event: AnyEvent) -> None:
            events.put_nowait(event)
            self.services.ui.emit(event)

        work = asyncio.create_task(self._handle(line, choice or ModelChoice(), emit))
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await work
        finally:
            if not work.done():
                self.session.cancel()
                await asyncio.wait({work})

    async def _handle(self, line: str, choice: ModelChoice, emit: Emit) -> None:
        try:
            if line.startswith("/"):
                await self.run_command(line, emit)
            else:
                await self.session.run_turn(TurnRequest(text=line, choice=choice), emit)
        except AgentFailure as caught:
            emit(Notice(level="error", text=caught.error.message))
        except Exception as caught:  # noqa: BLE001 - it is logged and becomes an error value
            LOGGER.exception("input could not be handled")
            emit(Notice(level="error", text=normalize(caught, origin="runtime").message))

    async def run_command(self, line: str, emit: Emit) -> None:
        """Run one slash command; AgentFailure of kind policy when there is none of that name."""
        name, arguments = split_command(line)
        table = self.services.command
        command = table.get(name)
        if command is None:
            nearest = table.nearest(name)
            hint = f"did you mean /{nearest}?" if nearest else "/help lists all commands"
            raise failure(
                "policy", "unknown_command", f"unknown command /{name}; {hint} (to send it as text, put a blank first)"
            )
        if not command.while_running:
            self.session.require_idle(f"/{name}")
        await command.handler(CommandContext(self.session, emit), arguments)


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new private folder that goes with its object; AgentFailure of kind persistence when none can be made."""
    try:
        return tempfile.TemporaryDirectory(prefix="smith-")
    except OSError as error:
        raise failure(
            "persistence",
            "no_temporary_folder",
            f"no folder for temporary files can be used ({error.strerror or error}); set TMPDIR to one of yours",
            origin="runtime",
        ) from error
