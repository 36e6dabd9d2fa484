"""The tables of the guide, as Markdown, from the tables of the program."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from smith_core.commands.table import COMMANDS
from smith_core.config.settings import SETTINGS, Setting
from smith_core.embedded.catalog import MODELS
from smith_core.embedded.words import size_in_words
from smith_core.endpoints import LOCAL_SERVERS, PRESETS
from smith_core.roles import DISPATCH_TARGETS, TOOL_MATRIX, list_roles
from smith_core.tools.builtin import BUILTIN_TOOLS
from smith_tui.keys import KEY_ACTIONS, KeyAction, key_label

_SCOPES = {
    "always": "Everywhere",
    "children": "While there are child panes",
    "dispatched": "While the transcript has children to open",
    "changed": "While the transcript has a card of changed files",
    "waiting": "While prompts wait",
    "asking": "While a call waits for your answer",
    "permission": "Answers to a question, while the prompt is empty",
    "prompt": "In the prompt",
    "continuation": "While the rest of an earlier prompt is shown",
    "completion": "In the list of completions",
    "queue": "In the queue of prompts",
    "copy": "In the list of what can be copied",
    "link": "When a link was chosen",
    "pane": "In a child pane",
    "child": "In the transcript of a child",
    "tool_output": "In the tool output",
    "find": "While finding",
    "search": "In the search",
    "conversations": "In the list of conversations",
    "inspect": "In the inspect view",
    "inspect_edit": "While a message is edited",
    "pager": "In the whole conversation",
}


def settings() -> str:
    """Return every setting: path, values, default and meaning; those of files only come last."""
    changeable = [setting for setting in SETTINGS.values() if setting.is_overridable]
    others = [setting for setting in SETTINGS.values() if not setting.is_overridable]
    head = ("setting", "values", "default", "what for")
    return (
        f"{table(head, map(_setting_row, changeable))}\n\n"
        "These are read from the settings file and from `--set`; `/config set` does not change them:\n\n"
        f"{table(head, map(_setting_row, others))}"
    )


def _setting_row(setting: Setting) -> tuple[str, ...]:
    default = "none" if setting.default is None or "<" in setting.path else f"`{_json(setting.default)}`"
    return f"`{setting.path}`", setting.rule.expected, default, setting.meaning


def _json(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_json, value))}]"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value)


def keys() -> str:
    """Return every action that has a key, by the place where its key works."""
    head = ("key", "what it does", "action")
    return "\n\n".join(f"### {place}\n\n{table(head, map(_key_row, actions))}" for place, actions in keys_by_place())


def keys_by_place() -> list[tuple[str, list[KeyAction]]]:
    """Return the actions by the words for their place, in the order of the page."""
    actions = sorted(KEY_ACTIONS, key=lambda action: _scope_order(action.scope))
    return [(_scope_words(scope), list(group)) for scope, group in groupby(actions, key=attrgetter("scope"))]


def _scope_order(scope: str) -> int:
    return [*_SCOPES].index(scope) if scope in _SCOPES else len(_SCOPES)


def _scope_words(scope: str) -> str:
    return _SCOPES.get(scope, scope.replace("_", " ").capitalize())


def _key_row(action: KeyAction) -> tuple[str, ...]:
    shown = ", ".join(f"`{key_label(key)}`" for key in action.keys)
    return shown, action.help, f"`{action.name}`"


def commands() -> str:
    """Return every slash command."""
    rows = (
        (
            f"`/{command.name}{' ' * bool(command.usage)}{command.usage}`",
            command.summary,
            "yes" if command.while_running else "",
        )
        for command in COMMANDS
    )
    return table(("command", "what it does", "while a turn runs"), rows)


def roles() -> str:
    """Return the roles: who they are, whom they dispatch to, and which tools they have."""
    order = [tool.name for tool in BUILTIN_TOOLS]
    rows = (
        (
            f"`{role.name}`",
            role.alias,
            ", ".join(DISPATCH_TARGETS[role.name]) or "nobody",
            ", ".join(f"`{name}`" for name in order if name in TOOL_MATRIX[role.name]),
        )
        for role in list_roles()
    )
    return table(("role", "on the screen", "dispatches to", "tools"), rows)


def providers() -> str:
    """Return the providers that the first start offers."""
    rows = (
        (
            preset.label,
            f"`{preset.api_url}`" if preset.api_url else "named by the model id",
            f"`{preset.key_variable}`",
            ", ".join(f"`{model}`" for model in preset.models),
        )
        for preset in PRESETS
    )
    return table(("provider", "`llm_config.api_url`", "variable of the key", "models, for instance"), rows)


def local_servers() -> str:
    """Return the servers that the first start looks for on this machine."""
    rows = ((server.program, f"`http://127.0.0.1:{server.port}/v1`") for server in LOCAL_SERVERS)
    return table(("program", "`llm_config.api_url`, if it uses its usual port"), rows)


def embedded_models() -> str:
    """Return the models that Smith runs itself."""
    rows = ((f"`embedded:{model.name}`", size_in_words(model.size), model.limits) for model in MODELS)
    return table(("model", "to fetch", "what to expect"), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; a bar inside a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
