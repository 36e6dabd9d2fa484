"""What a search gives back, and what there is to say of the index."""

from typing import Literal

import msgspec

from smith_core.errors import AgentError

DocumentKind = Literal["message", "tool_result", "note", "project_memory"]
SearchOrder = Literal["best", "newest"]


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """One place where something was said.

    conversation_id: "" for project memory. sequence: of the message in its conversation, -1 for notes. note_id: ""
    for messages. job_id: of the dispatched child that said it, whose messages have numbers of their own; else "".
    role: "" for notes. tool: the tool that was called or gave the result. time: seconds since the
    epoch as recorded. score: BM25, 0 when the order is newest first. excerpt: one line; highlights: ranges of it,
    first character and the one behind the last, in order and apart.
    """

    kind: DocumentKind
    conversation_id: str = ""
    project_id: str = ""
    sequence: int = -1
    job_id: str = ""
    note_id: str = ""
    role: str = ""
    tool: str = ""
    time: float = 0.0
    score: float = 0.0
    excerpt: str = ""
    highlights: tuple[tuple[int, int], ...] = ()


class SearchPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some hits out of `total`; `problems` are about the query, `notice` about the index."""

    hits: tuple[SearchHit, ...] = ()
    total: int = 0
    problems: tuple[str, ...] = ()
    notice: AgentError | None = None


class SearchStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How complete the index is: documents in it, and bytes of journals that it has not read yet."""

    indexed: int = 0
    lag_bytes: int = 0
    is_working: bool = False
    notice: AgentError | None = None
