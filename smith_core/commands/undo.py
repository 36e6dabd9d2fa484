"""The commands that take turns back: what was said, what was done to files, or both; and that put files again."""

from collections.abc import Sequence

from smith_core.commands.context import CommandContext
from smith_core.commands.listing import age_in_words
from smith_core.commands.turns import last_turns, take_out
from smith_core.errors import AgentFailure, failure
from smith_core.events import PromptReturned
from smith_core.text import shorten
from smith_core.turn_files import Direction, TurnFiles, count_in_words

_SHOWN_PROMPT = 60
_SHOWN_FILES = 20
_NAMED_FILES = 3
_UNDO_USAGE = "usage: /undo [how many turns] | /undo talk [how many turns] | /undo files [turn] [force]"
_REDO_USAGE = "usage: /redo [turn] [force]"
_FORCE = "force"


async def undo(context: CommandContext, arguments: str) -> None:
    """Take the last turns back, or only what was said in them, or only what one of them did to files."""
    what, *rest = arguments.split() or ["1"]
    if what == "files":
        await _move_one(context, "undo", *_turn_and_force(rest, _UNDO_USAGE))
    elif what == "talk" and len(rest) <= 1:
        await _undo_turns(context, _number(rest[0] if rest else "1", _UNDO_USAGE), with_files=False)
    elif not rest:
        await _undo_turns(context, _number(what, _UNDO_USAGE), with_files=True)
    else:
        raise failure("policy", "usage", _UNDO_USAGE)


async def redo(context: CommandContext, arguments: str) -> None:
    """Put the changes again that a turn made to files and that were taken back."""
    words = arguments.split()
    await _move_one(context, "redo", *_turn_and_force(words[1:] if words[:1] == ["files"] else words, _REDO_USAGE))


async def _undo_turns(context: CommandContext, count: int, *, with_files: bool) -> None:
    conversation = context.services.conversation
    first = last_turns(conversation.messages, count)
    marks = [message.metadata.turn_id for message in conversation.messages[max(first, 0) :] if message.metadata]
    prompt = await take_out(context, count)
    context.emit(PromptReturned(text=prompt))
    what = "the last turn is" if count == 1 else f"the last {count} turns are"
    told = [
        f"{what} out of this conversation ({shorten(prompt, _SHOWN_PROMPT)!r}), "
        "and the prompt is in the input line again"
    ]
    if with_files:
        told += await _undo_files_of(context, [mark for mark in marks if mark])
    else:
        told.append("files stay as they are now; /undo files takes their changes back")
    context.say("undo", "\n".join(told))


async def _undo_files_of(context: CommandContext, turn_ids: Sequence[str]) -> list[str]:
    """Take back what turns did to files, the last one first; return what there is to say."""
    by_id = {turn.turn_id: turn for turn in await context.session.files.turns()}
    told: list[str] = []
    for turn_id in reversed(turn_ids):
        turn = by_id.get(turn_id)
        if turn is None or turn.is_undone:
            continue
        try:
            told += in_words(await context.session.move_files(turn_id, "undo", context.emit), "undo")
        except AgentFailure as caught:
            return [*told, caught.error.message]
    # How to go on is said once, behind all of them.
    return list(reversed(dict.fromkeys(reversed(told)))) or ["no file was changed in it"]


async def _move_one(context: CommandContext, direction: Direction, number: int, is_forced: bool) -> None:
    turn = _chosen(await context.session.files.turns(), direction, number, is_forced)
    moved = await context.session.move_files(turn.turn_id, direction, context.emit, is_forced=is_forced)
    context.say(direction, "\n".join(in_words(moved, direction)))


def _chosen(turns: Sequence[TurnFiles], direction: Direction, number: int, is_forced: bool) -> TurnFiles:
    """Return the turn of a number; without one (0) the last whose changes are there, or were taken back."""
    if not turns:
        raise failure("policy", "no_changes", "no turn of this conversation has changed files, as far as is on record")
    if number > len(turns):
        raise failure("policy", "no_changes", f"there are only {len(turns)} turns that have changed files")
    if number:
        return turns[-number]
    if direction == "undo":
        wanted = [turn for turn in reversed(turns) if not turn.is_undone]
        if is_forced and turns[-1].is_undone:
            return turns[-1]
    else:
        wanted = sorted((turn for turn in turns if turn.is_undone), key=lambda turn: -turn.moved_at)
    if not wanted:
        what = "every change of files is taken back" if direction == "undo" else "no change of files was taken back"
        raise failure("policy", "no_changes", f"{what}; name a turn to try it all the same")
    return wanted[0]


def in_words(moved: TurnFiles, direction: Direction) -> list[str]:
    """Return what came of it, one line a file that was left alone, and how to go on."""
    held = moved.held_back
    paths = [file.path for file in moved.files if not file.note]
    count = len(paths)
    done = "taken back" if direction == "undo" else "put again"
    named = f" ({_names(paths)})" if paths else ""
    left = f", {count_in_words(len(held))} left as now:" if held else ""
    lines = [f"{count_in_words(count)} {done}{named}{left}"]
    lines += [f"  {file.path}: {file.note}" for file in held[:_SHOWN_FILES]]
    if len(held) > _SHOWN_FILES:
        lines.append(f"  … and {len(held) - _SHOWN_FILES:,} more")
    lines += moved.limits
    if held:
        way = "/undo files" if direction == "undo" else "/redo"
        lines.append(f"{way} [turn] force moves those, too, and keeps a copy of what is there now")
    if count:
        lines.append("/redo puts the changes again" if direction == "undo" else "/undo files takes them back")
    return lines


def _names(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMED_FILES
    return ", ".join(paths[:_NAMED_FILES]) + (f" and {more:,} more" if more > 0 else "")


def listed_turn(turn: TurnFiles, now: float) -> str:
    """Return what a list says of a turn."""
    names = ", ".join(file.path for file in turn.files[:_NAMED_FILES])
    state = ", taken back" if turn.is_undone else ""
    return f"{count_in_words(len(turn.files))}{state}, {age_in_words(turn.started_at, now)}: {names}"


def _turn_and_force(words: Sequence[str], usage: str) -> tuple[int, bool]:
    is_forced = list(words[-1:]) == [_FORCE]
    rest = words[:-1] if is_forced else words
    if len(rest) > 1:
        raise failure("policy", "usage", usage)
    return (_number(rest[0], usage) if rest else 0), is_forced


def _number(word: str, usage: str) -> int:
    if not (word.isascii() and word.isdecimal()) or int(word[:6]) < 1:
        raise failure("policy", "usage", usage)
    return int(word[:6])
