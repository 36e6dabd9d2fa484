"""The configuration of a running session: what is in effect, where it comes from, and changes that are kept."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from smith_core.config.layers import SOURCES, STORED_OVERRIDES, ConfigOptions, LoadedConfig, load_effective_config
from smith_core.config.patch import set_in_patch, unset_in_patch
from smith_core.config.report import describe_problem
from smith_core.config.schema import Config, Problem
from smith_core.config.settings import counts_from, split_path
from smith_core.errors import AgentFailure, failure
from smith_core.frozen import thaw

Change = Callable[[object], dict[str, Any] | Problem]
EntryCheck = Callable[[Mapping[str, Any], str], str]
"""Takes all entries of a table and the name of the one that is to be set; returns why it cannot be, "" if it can."""


class OverridesStore(Protocol):
    """Whatever keeps the persisted patch."""

    async def read_overrides(self) -> Mapping[str, Any]:
        """Return the patch as it is now."""
        ...

    async def update_overrides(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Change the patch as it is now, while no other process can; what `change` raises leaves it as it was."""
        ...


class ConfigService:
    """The handle `config`; without a store, changes last as long as the service."""

    def __init__(self, options: ConfigOptions) -> None:
        self._options = options
        self._store: OverridesStore | None = None
        self._store_lasts = False
        self.entry_checks: dict[str, EntryCheck] = {}
        """What only the app knows of tables that take any name, by the name of the table."""
        self.loaded: LoadedConfig = load_effective_config(options)

    @classmethod
    def from_mapping(cls, overrides: Mapping[str, Any]) -> "ConfigService":
        """Return a service whose only layer above the defaults is the given partial configuration."""
        return cls(ConfigOptions(overrides=overrides))

    @classmethod
    def from_config(cls, config: Config) -> "ConfigService":
        """Return a service for a ready configuration."""
        service = cls(ConfigOptions())
        service.loaded = msgspec.structs.replace(service.loaded, config=config)
        return service

    @property
    def effective(self) -> Config:
        """The configuration in effect; a turn keeps the one that it began with."""
        return self.loaded.config

    def keep_overrides_in(self, store: OverridesStore, *, lasts: bool = True) -> None:
        """Say where the persisted patch is kept from now on; lasts: beyond the end of this process."""
        self._store, self._store_lasts = store, lasts

    async def load_stored(self) -> tuple[Problem, ...]:
        """Take in the persisted patch, and return what is wrong with it; AgentFailure when it cannot be read."""
        if self._store is not None:
            self._use_patch(await self._store.read_overrides())
        return tuple(problem for problem in self.loaded.problems if problem.source == STORED_OVERRIDES)

    async def set(self, path: str, text: str) -> str:
        """Validate, keep and apply one value; return a sentence, or raise AgentFailure of kind schema."""

        def change(patch: object) -> dict[str, Any] | Problem:
            changed = set_in_patch(patch, path, text)
            objection = "" if isinstance(changed, Problem) else self._objection(changed, path)
            return Problem(kind="refused", path=path, expected=objection) if objection else changed

        return self._now(path, await self._apply(change))

    async def unset(self, path: str) -> str:
        """Take one value back; return a sentence, or raise AgentFailure of kind schema."""
        return self._now(path, await self._apply(lambda patch: unset_in_patch(patch, path)))

    def reload(self) -> None:
        """Read the settings file again, after it was changed."""
        self.loaded = load_effective_config(self._options)

    def describe(self, path: str = "") -> str:
        """Return the values in effect at or below a path, each with the layer that it comes from."""
        values = self.loaded.values
        chosen = [name for name in values if not path or name == path or name.startswith(f"{path}.")]
        if not chosen:
            raise failure("schema", "unknown_setting", f"{path} has no value; /config show lists all settings")
        width = max(map(len, chosen))
        return "\n".join(
            f"{name.ljust(width)}  {_as_json(values[name])}  ({SOURCES[self.loaded.sources[name]]})" for name in chosen
        )

    def _objection(self, patch: Mapping[str, Any], path: str) -> str:
        """Return what the app has against the entry at `path` of a changed patch, "" without an objection."""
        table, *name = split_path(path)
        if table not in self.entry_checks or not name:
            return ""
        # Of what is stored beside it, only what is in effect is known to be of the right kind.
        entries = {**getattr(self.effective, table), name[0]: patch[table][name[0]]}
        return self.entry_checks[table](entries, name[0])

    async def _apply(self, change: Change) -> str:
        """Change the patch, and return what to add to the sentence about it when it lasts for this session only."""

        def changed(patch: Mapping[str, Any]) -> Mapping[str, Any]:
            result = change(patch)
            if isinstance(result, Problem):
                raise failure("schema", "bad_setting", f"not changed: {describe_problem(result)}", origin="config")
            return result

        limit, is_stored = "for this session only", False
        if self._store is not None:
            try:
                # Another copy of the program may have changed the patch since it was read at the start.
                await self._store.update_overrides(changed)
                is_stored = True
                limit = "" if self._store_lasts else limit
            except AgentFailure as caught:
                if caught.error.kind != "persistence":
                    raise
                limit = f"for this session only, not saved: {caught.error.message}"
        try:
            # What another copy has set counts here from the next start on: nobody's mode may change unasked.
            self._use_patch(changed(self._options.persisted_patch))
        except AgentFailure:
            if not is_stored:
                raise
        return limit

    def _use_patch(self, patch: Mapping[str, Any]) -> None:
        self._options = msgspec.structs.replace(self._options, persisted_patch=patch)
        self.loaded = load_effective_config(self._options)

    def _now(self, path: str, limit: str) -> str:
        later = "; that counts from the next start on" if counts_from(path) == "start" else ""
        end = f"; {limit}" if limit else ""
        if path not in self.loaded.values:
            return f"{path} is not set any more{later}{end}"
        sentence = f"{path} is now {_as_json(self.loaded.values[path])}"
        source = self.loaded.sources[path]
        if source == "ephemeral":
            return f"{sentence}; the arguments of this start win until the next one{end}"
        if source != "persisted":
            sentence += f" ({SOURCES[source]})"
        elif not limit:
            sentence += ", kept for later starts"
        return f"{sentence}{later}{end}"


def _as_json(value: Any) -> str:
    import json

    return json.dumps(thaw(value), ensure_ascii=False)
