"""The keyspaces and the form of their keys (decisions, section 7)."""

from functools import lru_cache
from typing import Generic, TypeVar

import msgspec

from smith_core.errors import failure
from smith_core.messages import Message, TurnResult, Usage
from smith_core.store.interface import ConversationMeta, Note

T = TypeVar("T", bound=msgspec.Struct)

SEQUENCE_DIGITS = 8
MAX_NOTE_ID = 500
SCRATCHPAD = "scratchpad:"
TURN_RECORD = "turn_record-"
RUNTIME_OVERRIDES = "runtime_overrides"
ACTIVE_CONVERSATION = "meta:active_conversation_id"
STORED_VERSION = "meta:schema_version"
_ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_MAX_ID = 120


class TurnNote(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a turn; its messages are those from `first_sequence` on in the keyspace `conversation`."""

    turn_id: str
    conversation_id: str
    project_id: str
    cwd: str
    started_at: float
    first_sequence: int
    message_count: int
    result: TurnResult
    child_usage: tuple[tuple[str, Usage], ...] = ()


class WaitingPrompts(msgspec.Struct, frozen=True):
    """What the person had typed and no turn has taken yet, in order."""

    texts: tuple[str, ...]


class TextValue(msgspec.Struct, frozen=True):
    """A setting of the store itself that is a text."""

    value: str


class NumberValue(msgspec.Struct, frozen=True):
    """A setting of the store itself that is a number."""

    value: int


class Keyspace(Generic[T]):
    """A table by its name, and the type of its records."""

    def __init__(self, name: str, record_type: type[T]) -> None:
        self.name = name
        self.record_type = record_type


MESSAGES = Keyspace("conversation", Message)
METAS = Keyspace("conversation_meta", ConversationMeta)
NOTES = Keyspace("conversation_note", Note)
TURN_NOTES = Keyspace("conversation_note", TurnNote)
USAGE = Keyspace("usage", Usage)
CHILD_MESSAGES = Keyspace("child_conversation", Message)
WAITING = Keyspace("waiting_prompt", WaitingPrompts)
PROJECT_NOTES = Keyspace("project_memory", Note)
CONFIG = "config"
TEXT_SETTINGS = Keyspace(CONFIG, TextValue)
NUMBER_SETTINGS = Keyspace(CONFIG, NumberValue)


def is_id(value: str) -> bool:
    """Say whether a text can be a segment of a key and a file name."""
    return 0 < len(value) <= _MAX_ID and not value.startswith(".") and _ID_CHARACTERS.issuperset(value)


@lru_cache(maxsize=1024)
def check_id(value: str) -> str:
    """Return an id that can be a segment of a key and a file name; AgentFailure of kind persistence if it is none."""
    if not is_id(value):
        raise failure(
            "persistence",
            "bad_id",
            f"{value[:80]!r} is not an id: use 1 to {_MAX_ID} letters, digits, `_`, `-` or `.`",
            origin="store",
        )
    return value


def check_note_id(value: str) -> str:
    """Return the id of a note, which may contain `:`; AgentFailure of kind persistence when it is not one line."""
    if not value.strip() or len(value) > MAX_NOTE_ID or not value.isprintable():
        raise failure(
            "persistence",
            "bad_note_id",
            f"a key has to be one printable line of at most {MAX_NOTE_ID} characters",
            origin="store",
        )
    return value


@lru_cache(maxsize=1024)
def conversation_prefix(conversation_id: str) -> str:
    """Return what all keys of a conversation begin with."""
    return f"{check_id(conversation_id)}:"


def message_key(conversation_id: str, sequence: int) -> str:
    """Return the key of a message."""
    return f"{conversation_prefix(conversation_id)}{sequence:0{SEQUENCE_DIGITS}d}"


def sequence_of(key: str) -> int:
    """Return the sequence number of a message's key."""
    return int(key.rpartition(":")[2])


def child_prefix(conversation_id: str, job_id: str) -> str:
    """Return what the keys of all messages of a dispatched child begin with."""
    return f"{conversation_prefix(conversation_id)}{check_id(job_id)}:"


def child_message_key(conversation_id: str, job_id: str, sequence: int) -> str:
    """Return the key of a message of a dispatched child."""
    return f"{child_prefix(conversation_id, job_id)}{sequence:0{SEQUENCE_DIGITS}d}"


def note_key(conversation_id: str, note_id: str) -> str:
    """Return the key of a note of a conversation."""
    return f"{conversation_prefix(conversation_id)}{check_note_id(note_id)}"


def usage_key(conversation_id: str, turn_id: str, job_id: str = "") -> str:
    """Return the key of the usage of a turn, or of one child of it."""
    return ":".join(map(check_id, (conversation_id, turn_id, job_id) if job_id else (conversation_id, turn_id)))


def project_note_key(project_id: str, note_id: str) -> str:
    """Return the key of a note of a project."""
    return f"{check_id(project_id)}:{check_note_id(note_id)}"
