"""Commands about what is kept and what was said: scratchpad, project memory, search."""

from typing import TYPE_CHECKING

from smith_core.commands.context import CommandContext
from smith_core.errors import failure
from smith_core.events import PickerRequested
from smith_core.session.values import Listed
from smith_core.text import clean_text
from smith_core.tools.found import find, found_text, titles_of
from smith_core.tools.notes import notes_text

if TYPE_CHECKING:
    from smith_core.store.search.results import SearchHit

MOST_HITS = 20
_NOTE_USAGE = "usage: /note [list | get ID | upsert ID TEXT | delete ID]"


async def record(context: CommandContext, arguments: str) -> None:
    """Set a note of the scratchpad."""
    key, _, value = arguments.partition(" ")
    if not value.strip():
        raise failure("policy", "usage", "usage: /record KEY VALUE")
    conversation_id = context.services.conversation.conversation_id
    kept = await context.services.persistence.put_note(conversation_id, key, clean_text(value.strip()))
    context.session.wake_search()
    context.say("record", f"recorded {kept.key}; /recall {kept.key} shows it")


async def recall(context: CommandContext, wanted: str) -> None:
    """Show a note by its key, notes whose keys begin so, or what is found by searching."""
    store, conversation_id = context.services.persistence, context.services.conversation.conversation_id
    note = await store.get_note(conversation_id, wanted) if wanted else None
    if note is not None:
        context.say("recall", note.text)
        return
    notes = await store.list_notes(conversation_id, wanted)
    if notes or not wanted:
        context.say("recall", notes_text(notes) or "the scratchpad of this conversation is empty")
        return
    await _search(context, "recall", f"project:{await _project_id(context)} {wanted}")


async def note(context: CommandContext, arguments: str) -> None:
    """List, show, set or delete notes of the project."""
    action, _, rest = arguments.partition(" ")
    note_id, _, text = rest.strip().partition(" ")
    store, project_id = context.services.persistence, await _project_id(context)
    if action in ("", "list"):
        said = notes_text(await store.list_project_notes(project_id)) or "this project has no notes yet"
    elif action == "get" and note_id:
        found = await store.get_project_note(project_id, note_id)
        said = f"there is no note {note_id!r}; /note lists all" if found is None else found.text
    elif action == "upsert" and text.strip():
        kept = await store.put_project_note(project_id, note_id, clean_text(text.strip()))
        said = f"kept the project note {kept.key}"
    elif action == "delete" and note_id:
        gone = await store.delete_project_note(project_id, note_id)
        said = f"deleted the project note {note_id}" if gone else f"there is no note {note_id!r}; /note lists all"
    else:
        raise failure("policy", "usage", _NOTE_USAGE)
    if action in ("upsert", "delete"):
        context.session.wake_search()
    context.say("note", said)


async def search(context: CommandContext, query: str) -> None:
    """Search everything that was ever said."""
    if context.session.has_screen:
        context.emit(PickerRequested(kind="search", query=query))
        return
    if not query:
        raise failure("policy", "usage", 'usage: /search WORDS, with "a phrase", -without, role:user, project:NAME')
    await _search(context, "search", query)


async def _search(context: CommandContext, command: str, query: str) -> None:
    session = context.session
    if session.search is None:
        raise failure("policy", "no_search", "there is no search index in this session")
    page = await find(session.search, query, MOST_HITS)
    # Project notes have a number like the others, so that the numbers stay those that are shown.
    session.listed = tuple(_listed(hit) for hit in page.hits)
    titles = await titles_of(context.services.persistence)
    hint = "\n/load NUMBER opens the conversation there" if page.hits else ""
    context.say(command, f"{found_text(page, titles, with_ids=False)}{hint}")


def _listed(hit: "SearchHit") -> Listed:
    # The messages of a child have numbers of their own, which say nothing in the conversation.
    return Listed(hit.conversation_id, 0 if hit.job_id else max(0, hit.sequence), hit.job_id)


async def _project_id(context: CommandContext) -> str:
    scope = context.session.scope
    if not scope.project.project_id:
        scope = await context.session.recompute_turn_scope()
    return scope.project.project_id
