"""Where candidates come from: commands, settings, models, roles, conversations, notes and files of a session."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smith_core.command_table import Command
from smith_core.commands.listing import age_in_words
from smith_core.completion.slash import Candidate, Wanted, as_mention, fitting
from smith_core.config.rules import Rule
from smith_core.config.schema import short_value
from smith_core.config.settings import SETTINGS, find_setting, overridable_paths
from smith_core.errors import AgentFailure
from smith_core.roles import ROLES
from smith_core.session.session import Session
from smith_core.store.interface import ConversationMeta, Note
from smith_core.text import shorten

if TYPE_CHECKING:
    from smith_core.completion.files import ProjectFiles

KEPT_S = 3.0
"""How long what was read from the store stands for what is in it now."""
_MODELS_KEPT_S = 60.0
_DETAIL_CHARACTERS = 80
_MODEL_PATHS = ("default_model", "models.")
_EXPORT_FORMS = {
    "markdown": "text to read and to search",
    "html": "one page with its looks, to send to somebody",
    "json": "every message as it is stored",
}
_NOTE_VERBS = {"list": "all notes", "get": "one note", "upsert": "keep a note", "delete": "take a note away"}
_CONFIG_VERBS = {"show": "values in effect", "set": "change one", "unset": "take a change back"}

Candidates = tuple[Candidate, ...]


class CompletionSource:
    """Finds what can stand at a caret; nothing is read before it is wanted."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._services = session.services
        self._kept: dict[str, tuple[float, Any]] = {}
        self._files: ProjectFiles | None = None
        self._arguments: Mapping[str, Callable[[Wanted], Awaitable[Candidates]]] = {
            "config": self._config,
            "role": self._roles,
            "model": self._models_argument,
            "load": self._conversations,
            "delete": self._conversations,
            "note": self._notes,
            "recall": self._scratchpad,
            "record": self._scratchpad,
            "export": self._exports,
        }

    def candidates_at_once(self, wanted: Wanted) -> Candidates | None:
        """Return what fits where that is known without waiting, None where `candidates` has to be asked."""
        if wanted.kind == "command":
            return fitting(wanted.query, map(_of_command, self._services.command.list()))
        if wanted.kind == "mention":
            return _of_paths(self._project_files.search_at_once(wanted.query)) or None
        return None if wanted.command in self._arguments else ()

    async def candidates(self, wanted: Wanted) -> Candidates:
        """Return what fits, the best first; () when nothing does or when what is needed cannot be read."""
        known = self.candidates_at_once(wanted)
        if known is not None:
            return known
        try:
            if wanted.kind == "mention":
                return _of_paths(await self._project_files.search(wanted.query))
            return fitting(wanted.query, await self._arguments[wanted.command](wanted))
        except AgentFailure:
            return ()

    async def aclose(self) -> None:
        """End what runs."""
        if self._files is not None:
            await self._files.aclose()

    @property
    def _project_files(self) -> "ProjectFiles":
        if self._files is None:
            from smith_core.completion.files import ProjectFiles

            self._files = ProjectFiles(self._session)
        return self._files

    async def _config(self, wanted: Wanted) -> Candidates:
        loaded = self._services.config.loaded
        if not wanted.words:
            return _plain(_CONFIG_VERBS)
        verb, *path = wanted.words
        if path:
            return await self._config_values(path[0]) if verb == "set" and len(path) == 1 else ()
        if verb == "unset":
            paths = [path for path, layer in loaded.sources.items() if layer == "persisted"]
        else:
            entries = [path for path in loaded.values if path not in SETTINGS]
            named = overridable_paths() if verb == "set" else tuple(SETTINGS)
            paths = [path for path in (*named, *entries) if not path.endswith(">")]
        return tuple(
            Candidate(path, path, f"{_value(loaded.values, path)}  {_expected(path)}", is_closed=True) for path in paths
        )

    async def _config_values(self, path: str) -> Candidates:
        setting = find_setting(path)
        if setting is None or not setting.is_overridable:
            return ()
        current = _value(self._services.config.loaded.values, path)
        known = _values_of(setting.rule)
        if path == "active_role":
            known = tuple(role.name for role in ROLES.values() if role.user_facing)
        values = {value: "" for value in known or (current, short_value(setting.default)) if value}
        found = [
            Candidate(
                value,
                value,
                ", ".join(_about(value, current, short_value(setting.default))),
                is_closed=bool(setting.rule.values),
            )
            for value in values
        ]
        if path.startswith(_MODEL_PATHS):
            found += await self._models()
        return tuple(found)

    async def _roles(self, wanted: Wanted) -> Candidates:
        active = self._session.active_role
        return tuple(
            Candidate(role.name, role.name, role.alias + (", in use" if role.name == active else ""), is_closed=True)
            for role in ROLES.values()
            if role.user_facing and not wanted.words
        )

    async def _models_argument(self, wanted: Wanted) -> Candidates:
        return () if wanted.words else await self._models()

    async def _models(self) -> Candidates:
        """Return the models that the endpoint lists, and those that the settings name."""
        config = self._services.config.effective
        named = dict.fromkeys([config.default_model or "", *config.models.values()])
        used = self._session.model.model if self._session.model is not None else ""
        about: dict[str, str] = {name: "in the settings" for name in named if name}
        if config.llm_config.api_url:
            for model in await self._keep(f"models {config.llm_config.api_url}", self._list_models, _MODELS_KEPT_S):
                about[model] = about.get(model, "at the endpoint")
        if used:
            about[used] = "in use"
        return tuple(Candidate(model, model, words) for model, words in about.items() if model.isprintable())

    async def _list_models(self) -> tuple[str, ...]:
        models, config = self._services.model, self._services.config.effective
        try:
            listed = await models.catalog.models(models.endpoint(config, ""))
        except AgentFailure:
            return ()
        return tuple(info.id for info in listed)

    async def _conversations(self, wanted: Wanted) -> Candidates:
        metas = await self._keep("conversations", self._services.persistence.list_conversations)
        current, now = self._services.conversation.conversation_id, time.time()
        titles = Counter(meta.title.casefold() for meta in metas)
        return tuple(
            Candidate(
                _way_to_name(meta, titles), shorten(meta.title, _DETAIL_CHARACTERS) or "(no title)", _facts(meta, now)
            )
            for meta in metas
            if wanted.command != "load" or meta.conversation_id != current
        )

    async def _notes(self, wanted: Wanted) -> Candidates:
        if not wanted.words:
            return _plain(_NOTE_VERBS)
        if len(wanted.words) > 1 or wanted.words[0] == "list":
            return ()
        return _of_notes(await self._keep("notes", self._list_notes))

    async def _list_notes(self) -> tuple[Note, ...]:
        session = self._session
        scope = session.scope if session.scope.project.project_id else await session.recompute_turn_scope()
        return await self._services.persistence.list_project_notes(scope.project.project_id)

    async def _scratchpad(self, wanted: Wanted) -> Candidates:
        if wanted.words:
            return ()
        conversation_id = self._services.conversation.conversation_id
        read = self._services.persistence.list_notes
        return _of_notes(await self._keep(f"scratchpad {conversation_id}", lambda: read(conversation_id)))

    async def _exports(self, wanted: Wanted) -> Candidates:
        return () if wanted.words else _plain(_EXPORT_FORMS, is_closed=False)

    async def _keep(self, name: str, read: Callable[[], Awaitable[Any]], kept_s: float = KEPT_S) -> Any:
        """Return what `read` returns, or returned a moment ago."""
        at, value = self._kept.get(name, (0.0, None))
        if value is None or time.monotonic() - at > kept_s:
            value = await read()
            self._kept[name] = (time.monotonic(), value)
        return value


def _of_paths(paths: Sequence[str]) -> Candidates:
    """Return the paths that a prompt can mention; behind a folder the path goes on."""
    mentioned = ((path, as_mention(path)) for path in paths)
    return tuple(
        Candidate(text.rstrip("\"'") if path.endswith("/") else text, path, is_open=path.endswith("/"))
        for path, text in mentioned
        if text is not None
    )


def _of_command(command: Command) -> Candidate:
    name = f"/{command.name}"
    return Candidate(name, name, command.summary, command.usage)


def _plain(about: Mapping[str, str], *, is_closed: bool = True) -> Candidates:
    return tuple(Candidate(word, word, detail, is_closed=is_closed) for word, detail in about.items())


def _of_notes(notes: tuple[Note, ...]) -> Candidates:
    return tuple(
        Candidate(note.key, note.key, shorten(note.text, _DETAIL_CHARACTERS)) for note in notes if " " not in note.key
    )


def _way_to_name(meta: ConversationMeta, titles: "Counter[str]") -> str:
    """Return the title where no other conversation has it and it is no number of a list, else the id."""
    title = meta.title
    is_plain = title.isprintable() and title == title.strip() and not title.isdecimal()
    return title if title and is_plain and titles[title.casefold()] == 1 else meta.conversation_id


def _facts(meta: ConversationMeta, now: float) -> str:
    count = f"{meta.message_count} message{'s' * (meta.message_count != 1)}"
    return ", ".join(word for word in (age_in_words(meta.updated_at, now), count, meta.cwd) if word)


def _value(values: Mapping[str, Any], path: str) -> str:
    return short_value(values[path]) if path in values else "not set"


def _expected(path: str) -> str:
    setting = find_setting(path)
    return setting.rule.expected if setting is not None else ""


def _values_of(rule: Rule) -> tuple[str, ...]:
    return (*rule.values, "null") if rule.values and rule.read(None) is None else rule.values


def _about(value: str, current: str, default: str) -> list[str]:
    """Say which of the values is in effect and which is the default, as both are written."""
    bare = {value, f'"{value}"'}
    return [word for word, other in (("now", current), ("default", default)) if other in bare]
