"""Every record becomes a document or nothing, and what is in it can be found."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from smith_core.store.search.documents import INDEXED_CHARACTERS, SearchDocument, document_of, is_searchable
from smith_core.store.search.schema import to_document
from smith_core.store.search.source import Journal, JournalEntry

JOURNAL = Journal(name="c", size=1, generation="1", projects=("0123", "demo"))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("role", "content", "name", "tool_calls", "created_at", "updated_at", "text", "value")


def entry(table: str, key: str, record: Any) -> JournalEntry:
    return JournalEntry(table=table, key=key, record=record, offset_after=1)


def test_a_tool_result_carries_its_tool() -> None:
    record = {"role": "tool", "name": "bash", "content": "exit 0", "created_at": 12.5}
    assert document_of(JOURNAL, entry("conversation", "c:00000007", record)) == SearchDocument(
        kind="tool_result",
        projects=("0123", "demo"),
        sequence=7,
        role="tool",
        tools=("bash",),
        time=12_500,
        text="exit 0",
    )


def test_calls_are_found_by_what_they_were_asked_to_do() -> None:
    call = {"id": "1", "name": "bash", "arguments": '{"command":"make\\ntest","timeout":5}'}
    record = {"role": "assistant", "content": "", "tool_calls": [call]}
    found = document_of(JOURNAL, entry("conversation", "c:00000001", record))
    assert found is not None
    assert (found.text, found.tools, found.kind) == ("bash make test 5", ("bash",), "message")


def test_of_a_long_result_both_ends_are_found() -> None:
    content = "begins here " + "x" * 90_000 + " tests FAILED at the end"
    found = document_of(JOURNAL, entry("conversation", "c:00000001", {"role": "tool", "content": content}))
    assert found is not None and len(found.text) <= INDEXED_CHARACTERS
    assert found.text.startswith("begins here ") and found.text.endswith(" tests FAILED at the end")


def test_notes_and_memory_are_found_by_name_and_text() -> None:
    note = document_of(JOURNAL, entry("conversation_note", "c:scratchpad:plan:b", {"text": "first\nthis"}))
    memory = document_of(JOURNAL, entry("project_memory", "0456:style", {"text": "tabs"}))
    assert note is not None and memory is not None
    assert (note.kind, note.note_id, note.text) == ("note", "scratchpad:plan:b", "scratchpad:plan:b first this")
    assert (memory.kind, memory.projects, memory.note_id) == ("project_memory", ("0456",), "style")


def test_turn_records_and_other_tables_are_left_out() -> None:
    assert not is_searchable("conversation_note", "c:turn_record-9")
    assert not is_searchable("usage", "c:1")
    assert document_of(JOURNAL, entry("usage", "c:1", {"text": "x"})) is None
    assert document_of(JOURNAL, entry("conversation", "c:00000001", {"role": "assistant", "content": " \n"})) is None


def test_huge_messages_are_capped() -> None:
    record = {"role": "user", "content": "word " * 1_000_000}
    found = document_of(JOURNAL, entry("conversation", "c:00000001", record))
    assert found is not None and len(found.text) <= INDEXED_CHARACTERS


@given(
    st.sampled_from(["conversation", "conversation_note", "project_memory"]),
    st.text(st.characters(), max_size=40),
    st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES),
)
def test_b04_no_record_stops_the_index(table: str, key: str, record: dict[str, Any]) -> None:
    found = document_of(JOURNAL, entry(table, key, record))
    if found is not None:
        assert 0 <= found.time < 1 << 63
        to_document("id", "c", found, 1)


def test_numbers_beyond_all_measure() -> None:
    calls = [{"name": "x", "arguments": "9" * 10_000}, {"name": "y", "arguments": "[" * 5_000}]
    for created_at in (10**400, -(10**400), float("nan"), float("inf"), True, "soon"):
        record = {"role": "user", "content": "x", "created_at": created_at, "tool_calls": calls}
        found = document_of(JOURNAL, entry("conversation", "c:99999999999999999999", record))
        assert found is not None
        to_document("id", "c", found, 1)
