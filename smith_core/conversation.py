"""The live transcript of a session, and the totals of the tokens that it used."""

from collections.abc import Mapping, Sequence

from smith_core.ids import new_id
from smith_core.messages import Message, TurnRecord, Usage


class Conversation:
    """The handle `conversation`: an id and the messages so far; only the session changes it.

    sequences: the number of each message in the store. is_read_only: another process has it, and it is followed.
    """

    def __init__(self, conversation_id: str | None = None, messages: tuple[Message, ...] = ()) -> None:
        self.conversation_id = ""
        self.messages: tuple[Message, ...] = ()
        self.sequences: tuple[int, ...] = ()
        self._highest = 0
        self.reset(conversation_id, messages)

    def append(self, record: TurnRecord) -> None:
        """Add what a turn produced."""
        first = self.next_sequence
        self.extend(record.messages, range(first, first + len(record.messages)))

    @property
    def next_sequence(self) -> int:
        """The number of the next message."""
        return self._highest + 1

    def extend(self, messages: Sequence[Message], sequences: Sequence[int]) -> None:
        """Add messages that have their numbers."""
        self.messages += tuple(messages)
        self.sequences += tuple(sequences)
        self._highest = max(self._highest, *sequences, 0)

    def change(self, changes: Mapping[int, Message | None]) -> None:
        """Put other messages under numbers, or none; no number is given twice while the conversation is open."""
        messages = {**dict(zip(self.sequences, self.messages, strict=True)), **changes}
        kept = sorted((number, message) for number, message in messages.items() if message is not None)
        self.sequences = tuple(number for number, _ in kept)
        self.messages = tuple(message for _, message in kept)
        self._highest = max(self._highest, *self.sequences, 0)

    def reset(
        self,
        conversation_id: str | None = None,
        messages: tuple[Message, ...] = (),
        title: str = "",
        *,
        sequences: tuple[int, ...] | None = None,
        is_read_only: bool = False,
    ) -> None:
        """Go on with another conversation, a new one unless an id is given."""
        is_same = conversation_id is not None and conversation_id == self.conversation_id
        self.conversation_id = conversation_id or new_id()
        self.messages = messages
        self.sequences = tuple(range(1, len(messages) + 1)) if sequences is None else sequences
        self._highest = max(self._highest if is_same else 0, *self.sequences, 0)
        self.title = title
        self.is_read_only = is_read_only


class UsageTracker:
    """Token totals of the session: its own turns, and those of each child role."""

    def __init__(self) -> None:
        self.parent = Usage()
        self.children: dict[str, Usage] = {}

    def add(self, usage: Usage, child_role: str | None = None) -> None:
        """Count one model call."""
        if child_role is None:
            self.parent += usage
        else:
            self.children[child_role] = self.children.get(child_role, Usage()) + usage

    @property
    def total(self) -> Usage:
        """Everything together."""
        return sum(self.children.values(), self.parent)
