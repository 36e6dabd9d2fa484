"""The four layers of the configuration, read, checked one by one and merged: defaults, user, persisted, ephemeral."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args

import msgspec

from smith_core.config.schema import Checked, Config, Problem, check, deep_merge, to_config
from smith_core.config.settings import SETTINGS, TABLES
from smith_core.config.user_file import UserFile, read_user_file
from smith_core.frozen import EMPTY_MAPPING, freeze

LayerName = Literal["defaults", "user", "persisted", "ephemeral"]
LAYER_NAMES: Final[tuple[LayerName, ...]] = get_args(LayerName)
SOURCES: Final[Mapping[LayerName, str]] = {
    "defaults": "the default",
    "user": "from the settings file",
    "persisted": "set by /config",
    "ephemeral": "from the arguments of this start",
}
"""Where a value comes from, as a person reads it."""
STORED_OVERRIDES = "the stored overrides"
ARGUMENTS = "the arguments of this start"


class ConfigOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the layers are made of.

    user_file: None reads no file. persisted_patch: as it was read from the store, whatever it is.
    overrides: partial configuration that lasts as long as the process.
    """

    user_file: UserFile | None = None
    persisted_patch: Any = EMPTY_MAPPING
    overrides: Mapping[str, Any] = EMPTY_MAPPING


class LoadedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The effective configuration and how it came about.

    layers: what is valid in each layer, lowest first. values: every value in effect by its dotted path, null for
    a setting that nobody set and that has no default. sources: the layer of each of them.
    """

    config: Config
    layers: Mapping[LayerName, Mapping[str, Any]]
    values: Mapping[str, Any]
    sources: Mapping[str, LayerName]
    problems: tuple[Problem, ...] = ()

    def source_of(self, path: str) -> LayerName | None:
        """Return the layer that a value comes from, or None for a path that has no value."""
        return self.sources.get(path)


def load_effective_config(options: ConfigOptions) -> LoadedConfig:
    """Merge the layers; a wrong value is named and left out, so that the layer below shows through."""
    problems: list[Problem] = []
    layers: dict[LayerName, Mapping[str, Any]] = {"defaults": default_layer()}
    layers["user"] = _user_layer(options.user_file, problems)
    layers["persisted"] = _keep(check(options.persisted_patch), STORED_OVERRIDES, problems)
    layers["ephemeral"] = _keep(check(options.overrides), ARGUMENTS, problems)
    effective: dict[str, Any] = {}
    sources: dict[str, LayerName] = {}
    for name, layer in layers.items():
        effective = deep_merge(effective, layer)
        sources.update((path, name) for path, _ in leaves(layer))
    values = dict(leaves(effective))
    return LoadedConfig(
        config=to_config(effective),
        layers=freeze(layers),
        values=freeze(values),
        sources=freeze({path: sources[path] for path in values}),
        problems=tuple(problems),
    )


def default_layer() -> dict[str, Any]:
    """Return the built-in layer as a partial configuration; settings without a default are null."""
    layer: dict[str, Any] = {}
    for path, setting in SETTINGS.items():
        if not path.endswith(">") and not path.startswith("services."):
            table, _, name = path.rpartition(".")
            (layer.setdefault(table, {}) if table else layer)[name] = setting.default
    return layer


def leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of a valid partial configuration with its dotted path."""
    for key, value in table.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and (value or path in TABLES):
            yield from leaves(value, f"{path}.")
        else:
            yield path, value


def _user_layer(file: UserFile | None, problems: list[Problem]) -> Mapping[str, Any]:
    if file is None:
        return EMPTY_MAPPING
    settings = read_user_file(file)
    if settings.problem is not None:
        problems.append(settings.problem)
    return _keep(check(settings.candidate), str(file.path), problems)


def _keep(checked: Checked, source: str, problems: list[Problem]) -> Mapping[str, Any]:
    problems.extend(msgspec.structs.replace(problem, source=source) for problem in checked.problems)
    return checked.accepted
