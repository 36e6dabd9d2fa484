"""The live transcript of a session, and the totals of the tokens that it used."""

from smith_core.ids import new_id
from smith_core.messages import Message, TurnRecord, Usage


class Conversation:
    """The handle `conversation`: an id and the messages so far; only the session changes it."""

    def __init__(self, conversation_id: str | None = None, messages: tuple[Message, ...] = ()) -> None:
        self.conversation_id = conversation_id or new_id()
        self.messages = messages
        self.title = ""

    def append(self, record: TurnRecord) -> None:
        """Add what a turn produced."""
        self.messages += record.messages

    def reset(self, conversation_id: str | None = None, messages: tuple[Message, ...] = (), title: str = "") -> None:
        """Go on with another conversation, a new one unless an id is given."""
        self.conversation_id = conversation_id or new_id()
        self.messages = messages
        self.title = title


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
