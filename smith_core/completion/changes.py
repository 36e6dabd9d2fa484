"""Candidates for taking turns back: how many turns, what of them, and whose changes of files; pure functions."""

from collections.abc import Sequence

from smith_core.commands.undo import listed_turn
from smith_core.completion import conversations
from smith_core.completion.slash import Candidate
from smith_core.messages import Message
from smith_core.turn_files import TurnFiles

Candidates = tuple[Candidate, ...]

_PARTS = (
    Candidate("files", "files", "only what a turn did to files; the conversation stays"),
    Candidate("talk", "talk", "only what was said; files stay"),
)
_FORCE = Candidate("force", "force", "also files that have changed since; a copy of them is kept")


def undo(words: Sequence[str], messages: Sequence[Message], changed: Sequence[TurnFiles], now: float) -> Candidates:
    """Return what can follow some arguments of /undo; changed: the turns that have changed files, the oldest first."""
    if not words:
        return (*conversations.turns(messages), *_PARTS)
    if words[0] == "files":
        return _turns(words[1:], changed, now, is_undone=False)
    return conversations.turns(messages) if list(words) == ["talk"] else ()


def redo(words: Sequence[str], changed: Sequence[TurnFiles], now: float) -> Candidates:
    """Return what can follow some arguments of /redo."""
    return _turns(words, changed, now, is_undone=True)


def _turns(words: Sequence[str], changed: Sequence[TurnFiles], now: float, *, is_undone: bool) -> Candidates:
    if words:
        return (_FORCE,) if len(words) == 1 and words[0].isdecimal() else ()
    numbered = tuple(
        Candidate(str(number), str(number), listed_turn(turn, now))
        for number, turn in enumerate(reversed(changed), 1)
        if turn.is_undone == is_undone
    )
    return (*numbered, _FORCE)
