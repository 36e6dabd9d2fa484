"""From arguments to a runtime: configuration first, then the model host, then everything else."""

import importlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from smith_core.config.layers import STORED_OVERRIDES, ConfigOptions
from smith_core.config.patch import merge_overrides, parse_override
from smith_core.config.report import render_problems
from smith_core.config.schema import Config, Problem
from smith_core.config.service import ConfigService
from smith_core.config.user_file import UserFile, locate_user_file
from smith_core.errors import AgentFailure
from smith_core.frozen import EMPTY_MAPPING
from smith_core.heap import keep_little
from smith_core.llm.host_process import HostProcess
from smith_core.llm.shared_host import SharedHost, find_host
from smith_core.log import LOGGER, start_logging
from smith_core.paths import cache_dir, data_dir, ensure_private_dir
from smith_core.secrets import hide_from_proc, key_variables, secret_variables
from smith_core.stored_settings import stored_settings
from smith_tui.first_start import is_first_start
from smith_tui.prompt_memory import PromptMemory, prompts_file

if TYPE_CHECKING:
    from argparse import Namespace

    from smith_core.commands.opening import Wish
    from smith_core.runtime import Runtime
    from smith_core.stored_tail import StoredTail

ENGINE_MODULES = (
    "smith_core.commands.table",
    "smith_core.embedded.local_models",
    "smith_core.llm.client",
    "smith_core.model",
    "smith_core.runtime",
    "smith_core.store.persistence",
    "smith_core.store.search.service",
)
APP_COMMANDS = (None, "setup")
"""The subcommands that open the app."""


class Engine:
    """What a start is made of; `config_message` says what is wrong with the settings, "" if nothing is.

    wish: what the start goes on with, as the fields of `ResumeWish`.
    """

    def __init__(self, arguments: "Namespace") -> None:
        self.user_file: UserFile = locate_user_file(arguments.config)
        self._is_temporary: bool = getattr(arguments, "is_temporary", False)
        overrides, problems = _ephemeral(arguments)
        patch = EMPTY_MAPPING if self._is_temporary else _stored_settings()
        options = ConfigOptions(user_file=self.user_file, persisted_patch=patch, overrides=overrides)
        self.config_service = ConfigService(options)
        # What is wrong with the persisted patch is said when the store is opened.
        found = [problem for problem in self.config_service.loaded.problems if problem.source != STORED_OVERRIDES]
        problem_text = render_problems((*problems, *found))
        self.config_message = "\n".join(filter(None, (problem_text, start_logging())))
        self.arguments = arguments
        self.model: str | None = arguments.model
        self._host: HostProcess | SharedHost | None = None
        self._cwd = Path.cwd()
        self.wish = _wish(arguments)

    @property
    def config(self) -> Config:
        """The configuration of this start."""
        return self.config_service.effective

    @property
    def asks_first(self) -> bool:
        """Whether the app begins with the setup screen: when that was asked for, or nothing names a model."""
        return self.arguments.command == "setup" or is_first_start(self.config, self.model)

    def start_host(self) -> None:
        """Find the model host that waits for us, or start one, which gets ready on its own."""
        settings = self.config.llm_config
        self._host = find_host(
            key_variables(self.config), settings.host_linger_s, names_address=settings.api_url is not None
        )

    def read_tail(self) -> "StoredTail | None":
        """Return the end of the conversation that the engine is going to open, None without one; blocks."""
        folder = self.store_folder
        if self.wish[0] != "last" or folder is None:
            return None
        from smith_core.stored_tail import stored_tail

        return stored_tail(folder)

    @staticmethod
    def import_engine() -> None:
        """Import what `open_runtime` needs, and settle how memory is kept, so that a thread does it while one types."""
        keep_little()
        for module in ENGINE_MODULES:
            importlib.import_module(module)

    def open_runtime(self) -> "Runtime":
        """Compose the services around the host and return the engine's front door; the imports take a while."""
        from smith_core.embedded.local_models import LocalModels
        from smith_core.llm.client import HostClient
        from smith_core.model import ModelChoice, ModelService
        from smith_core.runtime import ResumeWish, Runtime, compose_services, open_search, open_store

        if self._host is None:
            self.start_host()
        assert self._host is not None
        client = HostClient(self._host, lambda: self.config.llm_config.host_linger_s)
        handles: dict[str, object] = {"model": ModelService(client, LocalModels())}
        folder = self.store_folder
        if folder is not None:
            handles["persistence"] = open_store(folder, self._cwd)
        services = compose_services(self.config_service, handles)
        self.config_service.keep_overrides_in(services.persistence, lasts=folder is not None)
        runtime = Runtime(
            services,
            cwd=self._cwd,
            spill_dir=_new_spill_dir(),
            choice=ModelChoice(model=self.model),
            wish=ResumeWish(*self.wish),
            search=None if folder is None else open_search(folder),
            undo_folder=None if folder is None else folder / UNDO_FOLDER,
        )
        runtime.session.has_own_role = bool(self.arguments.role)
        runtime.start_session()
        return runtime

    @property
    def store_folder(self) -> Path | None:
        """Where conversations are kept; None for a session that keeps nothing, or without a home folder."""
        if self._is_temporary:
            return None
        try:
            return data_dir()
        except AgentFailure as caught:
            LOGGER.warning("nothing is kept: %s", caught.error.message)
            return None

    def prompts(self) -> PromptMemory:
        """Return what keeps the prompts, but for those with a key of ours in them."""
        if self._is_temporary:
            return PromptMemory()
        names = {*key_variables(self.config), *secret_variables()}
        return PromptMemory(prompts_file(), str(self._cwd), (os.environ.get(name, "") for name in names))

    def hide_keys(self) -> None:
        """Take our keys out of what child processes could read of this one."""
        hide_from_proc({*key_variables(self.config), *secret_variables()})


def open_engine(arguments: "Namespace") -> Engine:
    """Read the configuration; nothing is started yet."""
    return Engine(arguments)


def _wish(arguments: "Namespace") -> tuple["Wish", str]:
    """Return what the start goes on with, as the fields of ResumeWish: the app alone goes on with something."""
    target: str | None = getattr(arguments, "resume", None)
    if target is not None:
        return ("named", target) if target.strip() else ("pick", "")
    is_app = getattr(arguments, "command", None) in APP_COMMANDS
    is_new = getattr(arguments, "new", False) or getattr(arguments, "is_temporary", False)
    return ("last", "") if is_app and not is_new else ("new", "")


def _ephemeral(arguments: "Namespace") -> tuple[dict[str, object], list[Problem]]:
    pairs: list[tuple[str, object]] = []
    problems: list[Problem] = []
    for text in (*arguments.overrides, *getattr(arguments, "more_overrides", ())):
        parsed = parse_override(text)
        if isinstance(parsed, Problem):
            problems.append(parsed)
        else:
            pairs.append(parsed)
    if arguments.role:
        pairs.append(("active_role", arguments.role))
    return merge_overrides(pairs), problems


UNDO_FOLDER = "undo"
"""Of the store's folder: copies of the files that turns have changed."""

KEPT_SESSIONS = 20
"""Folders of full tool outputs that are kept from earlier sessions."""


def _stored_settings() -> Mapping[str, object]:
    try:
        return stored_settings(data_dir())
    except AgentFailure:
        return EMPTY_MAPPING


def _new_spill_dir() -> Path | None:
    """Make this session's private folder for full tool outputs, and remove the oldest ones.

    None when the cache folder cannot be used; the engine takes a temporary folder then.
    """
    try:
        outputs = ensure_private_dir(cache_dir() / "outputs")
        folder = ensure_private_dir(outputs / f"{os.getpid()}-{os.urandom(4).hex()}")
    except AgentFailure:
        return None
    ended = sorted((entry for entry in outputs.iterdir() if not _is_in_use(entry)), key=_age_of)
    for entry in ended[: -KEPT_SESSIONS or None]:
        shutil.rmtree(entry, ignore_errors=True)
    return folder


def _is_in_use(folder: Path) -> bool:
    """Say whether the session that made the folder still runs: its name begins with the id of a living process."""
    owner = folder.name.partition("-")[0]
    try:
        os.kill(int(owner), 0)
    except PermissionError:
        return True
    except (ValueError, OverflowError, OSError):
        return False
    return True


def _age_of(folder: Path) -> float:
    # Another session may be removing it at this moment.
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0
