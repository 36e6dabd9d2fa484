"""What the inspect view asks of the engine, and what became of it, in sentences."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from smith_core.errors import failure
from smith_core.messages import Message
from smith_core.secrets import child_environment
from smith_core.session.editing import Part, part_text
from smith_core.session.preview import NextRequest, next_request
from smith_tui.inspect.pieces import pretty_arguments
from smith_tui.inspect.table import Entry

if TYPE_CHECKING:
    from smith_core.runtime import Runtime
    from smith_core.session.history import Revision


class Desk:
    """The messages of the session's conversation; every call may raise AgentFailure."""

    def __init__(self, runtime: "Runtime") -> None:
        self._runtime = runtime
        self._history = runtime.history

    @property
    def entries(self) -> Sequence[Entry]:
        """All messages with their numbers, in order."""
        return self._history.entries

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment for editors and pagers: ours without our keys."""
        return child_environment(self._runtime.services.config.effective)

    def require_editable(self) -> None:
        """Fail while a turn runs and where another process has the conversation."""
        self._history.require_editable()

    def message(self, sequence: int) -> Message:
        """Return a message as it is now."""
        found = next((entry.message for entry in self._history.entries if entry.sequence == sequence), None)
        if found is None:
            raise failure("policy", "no_message", f"message {sequence} is not there any more")
        return found

    async def edit(self, sequence: int, part: Part, text: str) -> str:
        """Put another text in one part of a message."""
        revision = await self._history.edit(sequence, part, text)
        if not revision.changes:
            return "The text is the same; nothing was changed."
        return f"Message {sequence} is changed, also for the next request; undo takes it back."

    async def delete(self, sequences: Collection[int]) -> str:
        """Take messages out."""
        revision = await self._history.delete(sequences)
        also = len(revision.deleted) - len(set(sequences))
        words = f"{_numbers(sequences)} {'is' if len(sequences) == 1 else 'are'} deleted"
        if also > 0:
            words += f", and {also} more that belong{'s' * (also == 1)} to the same calls"
        if revision.changed:
            words += f"; the call is gone from message {_listed(revision.changed)}"
        return f"{words}; undo brings everything back."

    async def undo(self) -> str:
        """Take the last edit back."""
        revision = await self._history.undo()
        return _what_moved(revision) if revision else "There is nothing to undo in this view."

    async def redo(self) -> str:
        """Make the edit again that was taken back last."""
        revision = await self._history.redo()
        return _what_moved(revision) if revision else "There is nothing to do again."

    async def request(self, draft: str) -> NextRequest:
        """Return what would be sent next, with what stands in the prompt."""
        return await next_request(self._runtime.session, draft)


def shown_text(message: Message, part: Part) -> str:
    """Return the text of a part in the form in which it is edited."""
    text = part_text(message, part)
    return pretty_arguments(text) if part.kind == "arguments" else text


def name_of_part(message: Message, part: Part) -> str:
    """Return what people call a part."""
    if part.kind == "arguments":
        name = next((call.name for call in message.tool_calls if call.id == part.call_id), "a call")
        return f"arguments of {name}"
    return "result" if message.role == "tool" else part.kind


def suffix_of_part(part: Part) -> str:
    """Return the ending of a file that holds the part, from which editors take their colours."""
    return ".json" if part.kind == "arguments" else ".md"


def _what_moved(revision: "Revision") -> str:
    back, gone = len(revision.changed), len(revision.deleted)
    words = [f"{back} message{'s' * (back != 1)} back as it was" if back == 1 else f"{back} messages back as they were"]
    words = words if back else []
    if gone:
        words.append(f"{gone} message{'s' * (gone != 1)} taken out again")
    return f"{', '.join(words)}."


def _numbers(sequences: Collection[int]) -> str:
    return f"Message {_listed(sequences)}" if len(sequences) == 1 else f"{len(sequences)} messages"


def _listed(sequences: Collection[int]) -> str:
    return ", ".join(map(str, sorted(sequences)))


def copied_text(message: Message) -> str:
    """Return what a copy of a message holds: its text, or the arguments of its calls where it has none."""
    return message.content or "\n".join(f"{call.name} {call.arguments}" for call in message.tool_calls)
