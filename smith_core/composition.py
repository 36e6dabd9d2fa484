"""How an engine is put together: the ten services, and where they keep things."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smith_core.command_table import Command, CommandTable
from smith_core.config.schema import Config
from smith_core.config.service import ConfigService
from smith_core.conversation import Conversation
from smith_core.dispatch.service import DispatchService
from smith_core.errors import failure
from smith_core.frozen import EMPTY_MAPPING
from smith_core.model import ModelService
from smith_core.prompt import PromptService
from smith_core.roles import RoleCatalog
from smith_core.services import SERVICE_NAMES, EventHub, Services
from smith_core.store.interface import Persistence
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_core.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from smith_core.store.search.service import SearchService


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
        "dispatch": lambda options: DispatchService(),
        "conversation": lambda options: Conversation(options.get("conversation_id")),
        "persistence": lambda options: _in_memory(),
        "config": lambda options: config,
        "ui": lambda options: EventHub(),
        "prompt": lambda options: PromptService(),
        "command": lambda options: CommandTable(_own_commands),
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


def _own_commands() -> tuple[Command, ...]:
    from smith_core.commands.table import COMMANDS

    return COMMANDS


def _in_memory() -> Persistence:
    from smith_core.store.memory import MemoryPersistence

    return MemoryPersistence()


def open_store(folder: Path, cwd: Path) -> Persistence:
    """Return the store below a folder, which is opened in the background; raises nothing.

    cwd: where this process works.
    """
    from smith_core.project import find_project_id
    from smith_core.store.persistence import open_disk_persistence

    return open_disk_persistence(folder, cwd=str(cwd), project_id=lambda: find_project_id(cwd))


def open_search(folder: Path) -> "SearchService":
    """Return the search of the store below a folder; nothing is read before it is used."""
    from smith_core.store.search.helper import IndexHelper
    from smith_core.store.search.journal_files import JournalFiles
    from smith_core.store.search.service import SearchService

    return SearchService(folder, JournalFiles(folder), IndexHelper(folder))
