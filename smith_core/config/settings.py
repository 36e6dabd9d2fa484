"""Every setting in one table: path, rule, default, meaning and whether `/config set` may change it.

Validation, the allowlist, completion and the reference page are all derived from `SETTINGS`.
A last segment in angle brackets (`models.<key>`) stands for any name.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from smith_core.config.rules import (
    ADDRESS,
    BOOLEAN,
    HOST,
    KEY_NAME,
    RELATIVE_PATH,
    TEXT,
    VARIABLE_NAME,
    Rule,
    choice,
    integer,
    list_of,
    number,
    optional,
)
from smith_core.config.shape import Config
from smith_core.roles import TOOL_MATRIX

Moment = Literal["now", "turn", "idle", "start"]
"""When a changed value counts: at once, from the next turn on, likewise but no turn may run, from the next start on."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting; `default` is its built-in JSON value, None when it is absent unless somebody sets it."""

    path: str
    rule: Rule
    meaning: str
    default: Any = None
    is_overridable: bool = True
    counts_from: Moment = "turn"


_SECONDS = number(0, above_low=True)
_WAITS = list_of(number(0), "a non-empty list of non-negative numbers such as [2000, 8000]")
_HOSTS = list_of(HOST, 'a list of host names such as ["localhost"]', may_be_empty=True)

_CHANGEABLE: tuple[tuple[str, Rule, str], ...] = (
    ("default_model", optional(TEXT), "The model of every role that has none of its own under models."),
    ("index_file", RELATIVE_PATH, "The file of the repository that is quoted in the system prompt."),
    ("active_role", choice("direct", "orchestrator"), "The role that a session starts in."),
    ("tool_step_budget", optional(integer(1)), "The most tool calls of one turn; without it there is no limit."),
    ("models.<key>", TEXT, "A model id by role name, or by a key that a request names."),
    ("llm_config.api_key_env", VARIABLE_NAME, "The environment variable that holds the key of the endpoint."),
    ("llm_config.api_url", optional(ADDRESS), "The base address of an OpenAI-compatible endpoint."),
    ("llm_config.retry_max_retries", integer(0), "How often a request that failed on the way is made again."),
    ("llm_config.retry_backoff_ms", _WAITS, "The waits before those requests in milliseconds; the last one repeats."),
    (
        "llm_config.stream_retry_after_output",
        BOOLEAN,
        "Whether a request is made again although part of its answer was shown already.",
    ),
    ("llm_config.timeout", _SECONDS, "Seconds for one whole call, first byte to last."),
    ("llm_config.connect_timeout", _SECONDS, "Seconds for setting up the connection, TLS included."),
    ("llm_config.send_timeout", _SECONDS, "Seconds for writing the request."),
    ("llm_config.recv_timeout", _SECONDS, "Seconds until the first byte of the answer."),
    ("llm_config.stream_stall_timeout", _SECONDS, "The longest silence inside an answer, in seconds."),
    ("llm_config.host_linger_s", number(0), "Seconds that the model host outlives the last app."),
    ("empty_response_retry_max_retries", integer(0), "How often a request is made again after an empty answer."),
    ("empty_response_retry_backoff_ms", _WAITS, "The waits before those requests in milliseconds; the last repeats."),
    ("context_management.enabled", BOOLEAN, "Whether old tool output is shortened and old rounds are dropped at all."),
    ("context_management.tool_output_keep_rounds", integer(0), "The newest rounds whose tool output stays whole."),
    ("context_management.tool_output_elide_over_chars", integer(0), "Older output longer than this is left out."),
    (
        "context_management.trim_threshold_pct",
        number(0, 100, above_low=True),
        "The share of the context window, in percent, above which the oldest rounds are dropped.",
    ),
    ("dispatch.max_parallel", integer(1, 16), "How many dispatched children run at the same time."),
    ("tools.bash_timeout_s", number(1, 3600), "Seconds that a command may run when its call names no limit."),
    (
        "tools.sandbox",
        choice("off", "auto", "required"),
        "Whether commands run in a sandbox: never, where one works, or not at all without one.",
    ),
    ("tools.sandbox_network", choice("on", "off"), "Whether commands in a sandbox have the network."),
    ("tools.permission", choice("auto", "ask", "read-only"), "Whether tools run by themselves, ask, or only read."),
    ("tools.web_fetch_allow_hosts", _HOSTS, "Inside hosts that web_fetch may reach, as host or host:port."),
    (
        "undo.keep_mb",
        integer(0, 100_000),
        "Most megabytes of copies of changed files, by which changes are taken back; 0 keeps none.",
    ),
    ("undo.keep_days", number(0, 36_500, above_low=True), "Days after which such copies are removed."),
    ("ui.theme", choice("dark", "light", "contrast"), "The colours."),
    ("ui.rain", choice("auto", "kitty", "cells", "off"), "How the rain is drawn."),
    ("ui.motion", choice("full", "reduced"), "How much moves on the screen."),
    ("ui.output", choice("diff", "stock"), "Which layer writes to the terminal, from the next start on."),
    ("ui.copy_on_select", BOOLEAN, "Whether what is selected with the mouse is copied when the button is released."),
    (
        "ui.notify",
        choice("off", "bell", "desktop"),
        "How you are called in another window when a turn of ten seconds or more has ended, or when Smith asks.",
    ),
    ("keys.<action>", KEY_NAME, "Another key for an action, from the next start on."),
)

_COUNTS_FROM: Mapping[str, Moment] = {
    "tools.permission": "now",
    "tools.web_fetch_allow_hosts": "now",
    "undo.keep_mb": "now",
    "undo.keep_days": "now",
    "llm_config.host_linger_s": "now",
    "ui.theme": "now",
    "ui.rain": "now",
    "ui.motion": "now",
    "ui.copy_on_select": "now",
    "ui.notify": "now",
    "ui.output": "start",
    "keys.<action>": "start",
    # The screen shows both as those of the turn that runs.
    "active_role": "idle",
    "tools.sandbox": "idle",
    # Who takes the network away means now, and a running turn keeps the sandbox that it began with.
    "tools.sandbox_network": "idle",
}
"""What does not count from the next turn on."""

_FILE_ONLY: tuple[tuple[str, Rule, str], ...] = (
    (
        "services.conversation.conversation_id",
        TEXT,
        "The id of the conversation that a program begins with when it composes the engine itself.",
    ),
    (
        "services.tool.web_search.api_key_env",
        VARIABLE_NAME,
        "The environment variable that holds the key of the search service.",
    ),
    ("services.tool.web_search.endpoint", ADDRESS, "The address of the search service."),
    ("services.tool.web_search.depth", TEXT, "How thoroughly the service searches."),
    ("services.tool.web_search.output_type", TEXT, "The form in which the service answers."),
    (
        "services.tool.web_search.max_results",
        integer(1),
        "The most results of one search, up to 50; without it a search has 10, or as many as its call asks for.",
    ),
    ("services.tool.web_search.timeout", _SECONDS, "Seconds for one search."),
)


def _default_of(path: str) -> Any:
    value: Any = Config()
    for segment in path.split("."):
        value = getattr(value, segment, None)
    return value


def _build() -> Mapping[str, Setting]:
    rows = [(row, True) for row in _CHANGEABLE] + [(row, False) for row in _FILE_ONLY]
    return MappingProxyType(
        {
            path: Setting(
                path=path,
                rule=rule,
                meaning=meaning,
                default=_default_of(path),
                is_overridable=is_overridable,
                counts_from=_COUNTS_FROM.get(path, "turn"),
            )
            for (path, rule, meaning), is_overridable in rows
        }
    )


SETTINGS: Final = _build()
OPEN_TABLES: Final[Mapping[str, Setting]] = MappingProxyType(
    {path.rpartition(".")[0]: setting for path, setting in SETTINGS.items() if path.endswith(">")}
)
"""Tables whose keys the person chooses, and the setting that describes each of their entries."""

_TABLES_OF_SETTINGS: Final = frozenset(
    ".".join(segments[:length])
    for segments in (path.split(".") for path in SETTINGS)
    for length in range(1, len(segments))
)
_SERVICES = ("role", "model", "tool", "dispatch", "conversation", "persistence", "config", "ui", "prompt", "command")
_TOOLS = sorted({tool for tools in TOOL_MATRIX.values() for tool in tools})
TABLES: Final = _TABLES_OF_SETTINGS.union(
    (f"services.{name}" for name in _SERVICES), (f"services.tool.{name}" for name in _TOOLS)
)
"""The paths of all tables; each service and each tool has one for its options, though few read any."""


def split_path(path: str) -> tuple[str, ...]:
    """Return the keys that lead to a path; what follows `models.` or `keys.` is one key, dots and all."""
    table, _, rest = path.partition(".")
    if table in OPEN_TABLES and rest:
        return (table, rest)
    return tuple(path.split("."))


def find_setting(path: str) -> Setting | None:
    """Return the setting that describes a dotted path, or None when there is none."""
    if path.endswith(">") or path in TABLES:
        return None
    if path in SETTINGS:
        return SETTINGS[path]
    *tables, name = split_path(path)
    entry = OPEN_TABLES.get(".".join(tables))
    return entry if entry is not None and is_entry_name(name) else None


def is_entry_name(name: object) -> bool:
    """Whether a key of an open table is non-empty, printable text."""
    return isinstance(name, str) and bool(name.strip()) and name.isprintable()


def is_overridable_path(path: str) -> bool:
    """Whether `/config set` may change the value at this path."""
    setting = find_setting(path)
    return setting is not None and setting.is_overridable


def counts_from(path: str) -> Moment:
    """Return when another value at this path counts."""
    setting = find_setting(path)
    return setting.counts_from if setting is not None else "turn"


def overridable_paths() -> tuple[str, ...]:
    """Return the paths that `/config set` takes, in the order of the table, `models.<key>` for any key."""
    return tuple(path for path, setting in SETTINGS.items() if setting.is_overridable)


def nearest_path(path: str) -> str:
    """Return the known path that an unknown one was most likely meant to be, or ""."""
    table, _, name = path.rpartition(".")
    if table in OPEN_TABLES:
        return OPEN_TABLES[table].path
    known = {other: other.rpartition(".") for other in (*SETTINGS, *sorted(_TABLES_OF_SETTINGS))}
    siblings = {last: other for other, (parent, _, last) in known.items() if parent == table}
    sibling = _closest(name, siblings)
    if sibling:
        return siblings[sibling]
    namesake = next((other for other, (_, _, last) in known.items() if last == name), "")
    is_known_table = not table or table in TABLES
    return namesake or ("" if is_known_table else _closest(path, known))


def _closest(word: str, candidates: Iterable[str]) -> str:
    import difflib

    # Comparing takes time that grows with the length, and no setting has a name as long as this.
    matches = difflib.get_close_matches(word, candidates, n=1) if len(word) <= 100 else []
    return matches[0] if matches else ""
