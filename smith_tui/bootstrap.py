"""From arguments to a runtime: configuration first, then the model host, then everything else."""

import argparse
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from smith_core.config.layers import ConfigOptions
from smith_core.config.patch import merge_overrides, parse_override
from smith_core.config.report import render_problems
from smith_core.config.schema import Config, Problem
from smith_core.config.service import ConfigService
from smith_core.config.user_file import UserFile, locate_user_file
from smith_core.errors import AgentFailure
from smith_core.llm.host_process import HostProcess, start_host_process
from smith_core.log import start_logging
from smith_core.paths import cache_dir, ensure_private_dir
from smith_core.secrets import hide_from_proc, key_variables, secret_variables
from smith_tui.first_start import is_first_start

if TYPE_CHECKING:
    from smith_core.runtime import Runtime


class Engine:
    """What a start is made of; `config_message` says what is wrong with the settings, "" if nothing is."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.user_file: UserFile = locate_user_file(arguments.config)
        overrides, problems = _ephemeral(arguments)
        self.config_service = ConfigService(ConfigOptions(user_file=self.user_file, overrides=overrides))
        problem_text = render_problems((*problems, *self.config_service.loaded.problems))
        self.config_message = "\n".join(filter(None, (problem_text, start_logging())))
        self.arguments = arguments
        self.model: str | None = arguments.model
        self._host: HostProcess | None = None

    @property
    def config(self) -> Config:
        """The configuration of this start."""
        return self.config_service.effective

    @property
    def asks_first(self) -> bool:
        """Whether the app begins with the setup screen: when that was asked for, or nothing names a model."""
        return self.arguments.command == "setup" or is_first_start(self.config, self.model)

    def start_host(self) -> None:
        """Start the model host, which gets ready on its own."""
        self._host = start_host_process(key_variables(self.config))

    def open_runtime(self) -> "Runtime":
        """Compose the services around the host and return the engine's front door; the imports take a while."""
        from smith_core.embedded.local_models import LocalModels
        from smith_core.llm.client import HostClient
        from smith_core.model import ModelChoice, ModelService
        from smith_core.runtime import Runtime, compose_services

        if self._host is None:
            self.start_host()
        assert self._host is not None
        services = compose_services(self.config_service, {"model": ModelService(HostClient(self._host), LocalModels())})
        self.config_service.keep_overrides_in(services.persistence)
        runtime = Runtime(services, spill_dir=_new_spill_dir(), choice=ModelChoice(model=self.model))
        runtime.start_session()
        return runtime

    def hide_keys(self) -> None:
        """Take our keys out of what child processes could read of this one."""
        hide_from_proc({*key_variables(self.config), *secret_variables()})


def open_engine(arguments: argparse.Namespace) -> Engine:
    """Read the configuration; nothing is started yet."""
    return Engine(arguments)


def _ephemeral(arguments: argparse.Namespace) -> tuple[dict[str, object], list[Problem]]:
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


KEPT_SESSIONS = 20
"""Folders of full tool outputs that are kept from earlier sessions."""


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
