"""Where candidates come from: commands, settings, models, roles, conversations, notes, files and programs."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smith_core.command_table import Command
from smith_core.completion import changes, conversations, settings
from smith_core.completion.shell import in_shell
from smith_core.completion.slash import MOST_CANDIDATES, Candidate, Wanted, as_mention, fitting
from smith_core.errors import AgentFailure
from smith_core.frozen import EMPTY_MAPPING
from smith_core.roles import ROLES
from smith_core.secrets import child_environment
from smith_core.session.session import Session
from smith_core.store.interface import Note
from smith_core.text import shorten

if TYPE_CHECKING:
    from smith_core.completion.files import ProjectFiles

KEPT_S = 3.0
"""How long what was read from the store stands for what is in it now."""
_LONG_KEPT_S = 60.0
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
    """Finds what can stand at a caret; nothing is read before it is wanted.

    entries: settings that only the app can name, such as `keys.find`, with what holds while they are not set.
    """

    def __init__(self, session: Session, entries: Mapping[str, str] = EMPTY_MAPPING) -> None:
        self._session = session
        self._named = entries
        self._services = session.services
        self._kept: dict[str, tuple[float, Any]] = {}
        self._files: ProjectFiles | None = None
        self._arguments: Mapping[str, Callable[[Wanted], Awaitable[Candidates]]] = {
            "config": self._config,
            "role": self._roles,
            "model": self._models_argument,
            "list": self._listed_words,
            "load": self._conversations,
            "delete": self._conversations,
            "undelete": self._deleted,
            "title": self._title,
            "fork": self._ends_of_turns,
            "undo": self._undo,
            "redo": self._redo,
            "search": self._search_words,
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
        if wanted.kind in ("program", "path"):
            return None
        return None if wanted.command in self._arguments else ()

    async def candidates(self, wanted: Wanted) -> Candidates:
        """Return what fits, the best first; () when nothing does or when what is needed cannot be read."""
        known = self.candidates_at_once(wanted)
        if known is not None:
            return known
        try:
            if wanted.kind == "mention":
                return _of_paths(await self._project_files.search(wanted.query))
            if wanted.kind == "path":
                return _of_shell_paths(await self._entries(wanted.query))
            if wanted.kind == "program":
                return await self._programs(wanted.query)
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
        if not path:
            return settings.paths(verb, loaded, self._named)
        if verb != "set" or len(path) > 1:
            return ()
        values = settings.values(path[0], loaded, self._named)
        return (*values, *await self._models()) if path[0].startswith(_MODEL_PATHS) else values

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
            for model in await self._keep(f"models {config.llm_config.api_url}", self._list_models, _LONG_KEPT_S):
                about[model] = about.get(model, "at the endpoint")
        if used:
            about[used] = "in use"
        return tuple(Candidate(model, model, words) for model, words in about.items() if model.isprintable())

    async def _list_models(self) -> tuple[str, ...]:
        return await self._services.model.listed_ids(self._services.config.effective)

    async def _conversations(self, wanted: Wanted) -> Candidates:
        metas = await self._keep("conversations", self._services.persistence.list_conversations)
        current = self._services.conversation.conversation_id
        return conversations.named(metas, time.time(), current if wanted.command == "load" else "")

    async def _listed_words(self, wanted: Wanted) -> Candidates:
        metas = await self._keep("conversations", self._services.persistence.list_conversations)
        return conversations.listed_words(metas)

    async def _deleted(self, wanted: Wanted) -> Candidates:
        metas = await self._keep("deleted", self._services.persistence.list_deleted)
        return () if wanted.words else conversations.deleted(metas, time.time())

    async def _title(self, wanted: Wanted) -> Candidates:
        title = self._services.conversation.title
        return (Candidate(title, title, "now"),) if title and not wanted.query else ()

    async def _undo(self, wanted: Wanted) -> Candidates:
        changed, messages = await self._session.files.turns(), self._services.conversation.messages
        return changes.undo(wanted.words, messages, changed, time.time())

    async def _redo(self, wanted: Wanted) -> Candidates:
        return changes.redo(wanted.words, await self._session.files.turns(), time.time())

    async def _ends_of_turns(self, wanted: Wanted) -> Candidates:
        current = self._services.conversation
        return () if wanted.words else conversations.ends_of_turns(current.messages, current.sequences)

    async def _search_words(self, wanted: Wanted) -> Candidates:
        return conversations.search_words(wanted.query, (spec.name for spec in self._services.tool.list()))

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
        forms = () if wanted.words else _plain(_EXPORT_FORMS, is_closed=False)
        if not wanted.words and not wanted.query.startswith(("/", "~", ".")):
            return forms
        paths = await self._entries(wanted.query)
        return tuple(
            Candidate(path, path, "" if path.endswith("/") else "is there already", is_open=path.endswith("/"))
            for path in paths
            if path.isprintable()
        )

    async def _entries(self, query: str) -> Sequence[str]:
        from smith_core.completion.files import entries_of

        return await asyncio.to_thread(entries_of, query, self._session.cwd, as_begun=True)

    async def _programs(self, begun: str) -> Candidates:
        found = await self._keep("programs", self._list_programs, _LONG_KEPT_S)
        names = sorted((name for name in found if name.startswith(begun) and name.isprintable()), key=len)
        written = ((in_shell(name), name) for name in names[:MOST_CANDIDATES])
        return tuple(Candidate(text, name, found[name]) for text, name in written if text is not None)

    async def _list_programs(self) -> Mapping[str, str]:
        from smith_core.completion.files import programs_in

        search_path = child_environment(self._services.config.effective).get("PATH", "")
        return await asyncio.to_thread(programs_in, search_path)

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


def _of_shell_paths(paths: Sequence[str]) -> Candidates:
    """Return the paths as a shell's line writes them, one that begins like an option behind `./`."""
    written = ((in_shell(f"./{path}" if path.startswith("-") else path), path) for path in paths)
    return tuple(Candidate(text, path, is_open=path.endswith("/")) for text, path in written if text is not None)


def _of_command(command: Command) -> Candidate:
    name = f"/{command.name}"
    return Candidate(name, name, command.summary, command.usage)


def _plain(about: Mapping[str, str], *, is_closed: bool = True) -> Candidates:
    return tuple(Candidate(word, word, detail, is_closed=is_closed) for word, detail in about.items())


def _of_notes(notes: tuple[Note, ...]) -> Candidates:
    return tuple(
        Candidate(note.key, note.key, shorten(note.text, conversations.DETAIL_CHARACTERS))
        for note in notes
        if " " not in note.key
    )
