"""The fields of the index, how their text becomes terms, and the documents in tantivy's form."""

import hashlib
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from smith_core.store.search.analysis import indexed_parts
from smith_core.store.search.documents import SearchDocument
from smith_core.text import clean_text

if TYPE_CHECKING:
    import tantivy

DOCUMENT = "document"
WATERMARK = "watermark"
"""Values of the field `entry`: what was said, and how far each journal has been read."""

_MAX_WORD_BYTES = 250
_MAX_RAW_CHARACTERS = 1_000
_WORDS, _PIECES = "words", "pieces"


class Watermark(msgspec.Struct, frozen=True, kw_only=True):
    """How far a journal is indexed: everything before `offset` of its `generation`.

    last_sequence, last_time: of its newest message, to keep the order of messages where the clock ran backwards.
    """

    journal: str
    generation: str
    offset: int = 0
    last_sequence: int = -1
    last_time: int = 0


@cache
def search_schema() -> "tantivy.Schema":
    """Return the fields: raw ones that filter, `newest` and `time` that sort, `text` and `pieces` that are searched."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in ("entry", "id"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("journal", "role", "kind", "tool", "project"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("job", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("note", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("seq", stored=True, fast=True)
    builder.add_unsigned_field("time", stored=True, indexed=True, fast=True)
    builder.add_unsigned_field("newest", fast=True)
    builder.add_text_field("text", stored=True, tokenizer_name=_WORDS, index_option="position")
    builder.add_text_field("pieces", tokenizer_name=_PIECES, index_option="freq")
    builder.add_bytes_field("watermark", stored=True)
    return builder.build()


@cache
def word_analyzer() -> "tantivy.TextAnalyzer":
    """Return what makes terms of running text: runs of letters and digits, lower case, without accents."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    words = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(_MAX_WORD_BYTES))
    return words.filter(Filter.lowercase()).filter(Filter.ascii_fold()).build()


def register_analyzers(index: "tantivy.Index") -> None:
    """Tell an opened index how the schema's fields are taken apart."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    parts = TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.lowercase()).filter(Filter.ascii_fold()).build()
    index.register_tokenizer(_WORDS, word_analyzer())
    index.register_tokenizer(_PIECES, parts)


def raw_term(value: str) -> str:
    """Return a value as one term: fit for UTF-8, and where it is too long for a term, cut and told apart by a hash."""
    value = clean_text(value)
    if len(value) <= _MAX_RAW_CHARACTERS:
        return value
    digest = hashlib.sha256(value.encode()).hexdigest()
    return f"{value[: _MAX_RAW_CHARACTERS - len(digest)]}{digest}"


def document_id(journal: str, table: str, key: str) -> str:
    """Return the term that names one record of the store."""
    return raw_term(f"{table} {journal} {key}")


def to_document(identity: str, journal: str, document: SearchDocument, newest: int) -> "tantivy.Document":
    """Return what tantivy indexes; `newest` is what it is sorted by when the newest come first."""
    import tantivy

    fields = {
        "entry": DOCUMENT,
        "id": identity,
        "journal": raw_term(journal),
        "role": raw_term(document.role.lower()),
        "kind": document.kind,
        "tool": [raw_term(name.lower()) for name in document.tools],
        "project": [raw_term(name.lower()) for name in document.projects],
        "job": raw_term(document.job_id),
        "note": raw_term(document.note_id),
        "seq": document.sequence,
        "time": document.time,
        "newest": newest,
        "text": document.text,
        "pieces": " ".join(sorted(indexed_parts(document.text))),
    }
    return tantivy.Document.from_dict(fields, search_schema())


def watermark_id(journal: str) -> str:
    """Return the term that names the watermark of a journal."""
    return raw_term(f"{WATERMARK} {journal}")


def to_watermark(mark: Watermark) -> "tantivy.Document":
    """Return a watermark in tantivy's form."""
    import tantivy

    fields = {
        "entry": WATERMARK,
        "id": watermark_id(mark.journal),
        "journal": raw_term(mark.journal),
        "watermark": msgspec.json.encode(mark),
    }
    return tantivy.Document.from_dict(fields, search_schema())
