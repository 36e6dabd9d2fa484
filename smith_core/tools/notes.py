"""The tools record, recall and note: the scratchpad of a conversation, the memory of a project, and looking back."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

import msgspec

from smith_core.errors import AgentFailure
from smith_core.ids import new_id
from smith_core.messages import RESULT_FOLDER
from smith_core.store.interface import Note, Persistence
from smith_core.text import clean_text, shorten
from smith_core.tools.base import MODEL_TEXT_LIMIT, ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.found import find, found_text, titles_of

EXCERPT_CHARACTERS = 160
MOST_HITS = 10
_NEAR_KEYS = 5
_PAGE_CHARACTERS = MODEL_TEXT_LIMIT - 200
_TEXT = {"type": "string"}
_ACTIONS = ("list", "get", "upsert", "delete")
_OTHER_WORDS = {
    "add": "upsert", "set": "upsert", "put": "upsert", "create": "upsert", "update": "upsert", "write": "upsert",
    "save": "upsert", "read": "get", "show": "get", "recall": "get", "remove": "delete", "": "list",
}  # fmt: skip


class RecordArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of record."""

    key: Annotated[str, msgspec.Meta(description="A short name on one line, such as plan or findings/parser.")]
    value: Annotated[Any, msgspec.Meta(description="The text to keep.", extra_json_schema=_TEXT)]


class RecallArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of recall."""

    key: Annotated[
        str | None,
        msgspec.Meta(description="Return the note of this key, or the tool output that was left out under it, whole."),
    ] = None
    offset: Annotated[int, msgspec.Meta(ge=0, description="With key: go on at this character of a long note.")] = 0
    prefix: Annotated[
        Any, msgspec.Meta(description="List the notes whose keys begin with this.", extra_json_schema=_TEXT)
    ] = None
    query: Annotated[
        str | None,
        msgspec.Meta(
            description="Search all earlier conversations and notes of this project for these words, "
            'with "a phrase", -without, role:user, tool:bash or after:2026-01-31 if that helps.'
        ),
    ] = None


class NoteArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of note."""

    action: Annotated[str, msgspec.Meta(description="What to do.", extra_json_schema={"enum": list(_ACTIONS)})] = "list"
    id: Annotated[
        str | None, msgspec.Meta(description="The name of the note, on one line; a new one gets one if it is left out.")
    ] = None
    text: Annotated[Any, msgspec.Meta(description="For upsert: the whole text.", extra_json_schema=_TEXT)] = None


async def record(arguments: RecordArguments, ctx: ToolContext) -> ToolOutcome:
    """Set a note of the scratchpad."""
    key = arguments.key.strip()
    if not key:
        return failed("key is blank, but has to be one printable line, such as plan", code="no_key")

    async def work(store: Persistence) -> ToolOutcome:
        note = await store.put_note(ctx.conversation_id, key, as_text(arguments.value))
        return succeeded(f"recorded {note.key} ({len(note.text)} characters)")

    return await _changing(work, ctx)


async def recall(arguments: RecallArguments, ctx: ToolContext) -> ToolOutcome:
    """Return a note of the scratchpad, list notes, or search what was said before."""
    if arguments.query and arguments.query.strip():
        return await _search(arguments.query, ctx)
    key, prefix = (arguments.key or "").strip(), arguments.prefix
    if prefix is True or (isinstance(prefix, str) and prefix.strip().lower() == "true" and key):
        key, prefix = "", key
    prefix = prefix.strip() if isinstance(prefix, str) else ""
    left_out = ctx.result_of(key.removeprefix(RESULT_FOLDER)) if key.startswith(RESULT_FOLDER) else None
    if left_out is not None:
        return _page(key, left_out, arguments.offset)

    async def work(store: Persistence) -> ToolOutcome:
        if not key:
            notes = await store.list_notes(ctx.conversation_id, prefix)
            return succeeded(
                notes_text(notes) or f"no note has a key that begins with {prefix!r}" * bool(prefix) or _NONE
            )
        note = await store.get_note(ctx.conversation_id, key)
        if note is not None:
            return _page(note.key, note.text, arguments.offset)
        return _no_note(key, await store.list_notes(ctx.conversation_id), "recall without arguments lists all keys")

    return await _reading(work, ctx)


def _page(key: str, text: str, offset: int) -> ToolOutcome:
    """Return a text from a character on, as far as a result has room, and how to get at what follows."""
    length = len(text)
    if offset and offset >= length:
        return failed(f"{key} has {length} characters, so that none follows {offset}", code="bad_offset")
    end = offset + _PAGE_CHARACTERS
    if not offset and length <= MODEL_TEXT_LIMIT:
        return succeeded(text)
    more = f"; offset {end} goes on" if end < length else ", the end"
    place = f"[characters {offset} to {min(end, length)} of {length}{more}]"
    return succeeded(f"{text[offset:end]}\n{place}")


async def note(arguments: NoteArguments, ctx: ToolContext) -> ToolOutcome:
    """List, get, set or delete notes of the project."""
    wanted = arguments.action.strip().lower()
    action = _OTHER_WORDS.get(wanted, wanted)
    note_id = (arguments.id or "").strip()
    if action not in _ACTIONS:
        return failed(
            f"action is {shorten(wanted, 40)!r}, but must be one of: {', '.join(_ACTIONS)}", code="bad_action"
        )
    if action in ("get", "delete") and not note_id:
        return failed(f"{action} needs the id of a note; action list shows all", code="no_id")
    if action == "upsert" and arguments.text is None:
        return failed("upsert needs text: the whole text of the note", code="no_text")

    async def work(store: Persistence) -> ToolOutcome:
        return await _NOTE_ACTIONS[action](store, ctx.project.project_id, note_id, as_text(arguments.text))

    return await (_reading if action in ("list", "get") else _changing)(work, ctx)


async def _list(store: Persistence, project_id: str, note_id: str, text: str) -> ToolOutcome:
    return succeeded(notes_text(await store.list_project_notes(project_id)) or "this project has no notes yet")


async def _get(store: Persistence, project_id: str, note_id: str, text: str) -> ToolOutcome:
    found = await store.get_project_note(project_id, note_id)
    if found is None:
        return _no_note(note_id, await store.list_project_notes(project_id), "action list shows all")
    return succeeded(found.text)


async def _upsert(store: Persistence, project_id: str, note_id: str, text: str) -> ToolOutcome:
    kept = await store.put_project_note(project_id, note_id or f"note-{new_id()[:8]}", text)
    return succeeded(f"kept the project note {kept.key} ({len(kept.text)} characters)")


async def _delete(store: Persistence, project_id: str, note_id: str, text: str) -> ToolOutcome:
    if await store.delete_project_note(project_id, note_id):
        return succeeded(f"deleted the project note {note_id}")
    return _no_note(note_id, await store.list_project_notes(project_id), "action list shows all")


_NOTE_ACTIONS: dict[str, Callable[[Persistence, str, str, str], Awaitable[ToolOutcome]]] = {
    "list": _list,
    "get": _get,
    "upsert": _upsert,
    "delete": _delete,
}
_NONE = "the scratchpad of this conversation is empty"


async def _search(query: str, ctx: ToolContext) -> ToolOutcome:
    if ctx.search is None:
        return failed("there is no search index in this session; use key or prefix", code="no_search")
    # The filter stands first: what is behind the longest query that is read would be left out.
    page = await find(ctx.search, f"project:{ctx.project.project_id} {query}", MOST_HITS)
    if page.notice is not None and not page.hits:
        return failed(page.notice.message, code=page.notice.code, kind="persistence")
    return succeeded(found_text(page, await titles_of(ctx.services.persistence), with_ids=False))


async def _changing(work: Callable[[Persistence], Awaitable[ToolOutcome]], ctx: ToolContext) -> ToolOutcome:
    outcome = await _reading(work, ctx)
    if outcome.ok and ctx.search is not None:
        ctx.search.wake()
    return outcome


async def _reading(work: Callable[[Persistence], Awaitable[ToolOutcome]], ctx: ToolContext) -> ToolOutcome:
    try:
        return await work(ctx.services.persistence)
    except AgentFailure as caught:
        return failed(caught.error.message, code=caught.error.code, kind=caught.error.kind)


def as_text(value: Any) -> str:
    """Return a value as it is kept: text as it is, anything else as JSON."""
    return clean_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))


def notes_text(notes: Sequence[Note]) -> str:
    """Return one line for each note: its key, its length and how it begins; "" without any."""
    return "\n".join(
        f"{note.key} ({len(note.text)} characters): {shorten(note.text, EXCERPT_CHARACTERS)}" for note in notes
    )


def _no_note(key: str, notes: Sequence[Note], hint: str) -> ToolOutcome:
    import difflib

    keys = [note.key for note in notes]
    near = difflib.get_close_matches(key, keys, n=_NEAR_KEYS, cutoff=0.4) or keys[:_NEAR_KEYS]
    there = f"; there is: {', '.join(near)}" if near else "; there is none at all"
    return failed(f"there is no note {shorten(key, 80)!r}{there}; {hint}", code="no_note")


RECORD = ToolSpec(
    name="record",
    description=(
        "Keep a text under a key in the scratchpad of this conversation, for what you need later: a plan, findings, "
        "decisions. The same key again replaces the text. recall gets it back, however long this conversation grows."
    ),
    arguments=RecordArguments,
    handler=record,
)
RECALL = ToolSpec(
    name="recall",
    description=(
        "Look back: key returns a note of the scratchpad or left out tool output whole, prefix lists notes, query "
        "searches all earlier conversations and notes of this project. Without arguments it lists the scratchpad."
    ),
    arguments=RecallArguments,
    handler=recall,
)
NOTE = ToolSpec(
    name="note",
    description=(
        "The memory of this project, which all later conversations about it share: list, get, upsert or delete notes. "
        "Keep what stays true, such as how to build and test, conventions and decisions."
    ),
    arguments=NoteArguments,
    handler=note,
)
