"""Completion in the prompt: when the list opens, what its keys do, and what is put into the text."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from textual import events

from smith_core.errors import AgentFailure
from smith_tui.keys import KeyAction, keys_of
from smith_tui.widgets import edit_keys
from smith_tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from smith_core.completion.slash import Candidate, Wanted
    from smith_core.runtime import Runtime
    from smith_tui.widgets.choice_list import ChoiceList

_COMMANDS_BEGIN = ("/", "!")
_MENTIONS_BEGIN = "@"


class Completing:
    """Shows what can stand at the caret while somebody types; nothing happens in between.

    choices: the list, made when it is first asked for. engine: waits until it is open. open_engine: the engine, None
    while it is not open. changed: called when the list opens or closes.
    """

    def __init__(
        self,
        prompt: Prompt,
        choices: "Callable[[], ChoiceList]",
        actions: Iterable[KeyAction],
        engine: "Callable[[], Awaitable[Runtime]]",
        open_engine: "Callable[[], Runtime | None]",
        changed: Callable[[], None],
    ) -> None:
        self._prompt = prompt
        self._choices = choices
        self._keys = keys_of(actions, "completion")
        self._engine = engine
        self._open_engine = open_engine
        self._changed = changed
        self._wanted: Wanted | None = None
        self._shown: Wanted | None = None
        """What the list that is shown fits; older than `_wanted` while what fits that is being looked up."""
        self._found: tuple[Candidate, ...] = ()
        self._search: asyncio.Task[None] | None = None
        self._is_typing = False
        self._text = ""
        prompt.intercept = self.take_key
        prompt.edited = self.text_changed

    @property
    def _list(self) -> "ChoiceList":
        return self._choices()

    @property
    def is_open(self) -> bool:
        """Whether a list is shown."""
        return bool(self._found)

    def take_key(self, event: events.Key) -> bool:
        """Do what a key is for while the list is open; say whether it was for the list."""
        self._is_typing = edit_keys.types(event.key, event.character) or event.key in edit_keys.DELETIONS
        action = self._keys.get(event.key) if self.is_open else None
        match action:
            case "complete_next" | "complete_previous":
                self._list.move(1 if action == "complete_next" else -1)
            case "complete_take":
                if self._is_current():
                    self.take(max(0, self._list.selected))
                else:
                    self.suggest()
            case "complete_enter":
                return self._enter()
            case "complete_close":
                self.close()
            case _:
                return False
        return True

    def text_changed(self) -> None:
        """Look for what fits after a key has changed the text; what changed it otherwise closes the list."""
        text = self._prompt.edited_text
        has_changed = text != self._text
        self._text = text
        if (has_changed and self._is_typing) or (not has_changed and self.is_open):
            self.suggest()
        elif has_changed:
            self.close()

    def suggest(self) -> None:
        """Look for what can stand at the caret now."""
        text = self._text = self._prompt.edited_text
        wanted = None
        if text.startswith(_COMMANDS_BEGIN) or _MENTIONS_BEGIN in text:
            # Takes 10 ms the first time, and few first letters need it.
            from smith_core.completion.slash import wanted_at

            wanted = wanted_at(text, self._prompt.caret)
        if wanted is None:
            self.close()
        elif wanted != self._wanted or not self.is_open:
            self._stop_search()
            self._wanted = wanted
            runtime = self._open_engine()
            known = None if runtime is None else runtime.completion.candidates_at_once(wanted)
            if known is not None:
                # Nothing is awaited, so that the list is in the same frame as the key.
                self._show(known)
                return
            self._search = asyncio.create_task(self._look_up(wanted))

    def close(self) -> None:
        """Show nothing until the text is changed again."""
        self._stop_search()
        self._wanted = None
        self._show(())

    def place(self) -> None:
        """Put the list beside the caret again, after a change of sizes."""
        if self.is_open:
            self._show(self._found, keep=True)

    def take(self, index: int) -> None:
        """Put a candidate into the text, and show what can follow it."""
        if not self._is_current() or self._shown is None:
            return
        wanted, candidate = self._shown, self._found[index]
        text = self._prompt.edited_text
        end = min(wanted.end, len(text))
        follows = "" if candidate.is_open or text[end : end + 1].isspace() else " "
        is_last = wanted.kind == "command" and not candidate.usage
        self.close()
        self._prompt.replace_range(wanted.start, end, candidate.text + ("" if is_last else follows))
        self._text = self._prompt.edited_text
        has_more = candidate.is_open or (wanted.kind in ("command", "argument") and not wanted.is_free)
        if has_more and not is_last:
            self.suggest()

    def _enter(self) -> bool:
        """Take what is selected, unless the text has it already and is meant to be sent."""
        index, wanted = self._list.selected, self._shown
        if index < 0 or wanted is None or not self._is_current():
            self.close()
            return False
        typed = self._prompt.edited_text[wanted.start : wanted.end]
        if self._found[index].text == typed:
            self.close()
            return False
        self.take(index)
        return True

    def _is_current(self) -> bool:
        """Say whether the list fits the text as it is: keys that come fast are typed before it is looked up anew."""
        from smith_core.completion.slash import wanted_at

        return self.is_open and self._shown == wanted_at(self._prompt.edited_text, self._prompt.caret)

    async def _look_up(self, wanted: "Wanted") -> None:
        try:
            runtime = await self._engine()
        except AgentFailure:
            return  # which the app reports itself
        found = await runtime.completion.candidates(wanted)
        if wanted is self._wanted:
            self._show(found)

    def _show(self, found: "tuple[Candidate, ...]", *, keep: bool = False) -> None:
        was_open = self.is_open
        self._found = found
        if not keep:
            self._shown = self._wanted if found else None
        if found and self._wanted is not None:
            from smith_tui.widgets.choice_list import Choice

            selected = self._list.selected if keep else self._first_selected(self._wanted, found[0])
            choices = [Choice(f"{one.label} {one.usage}".rstrip(), one.detail) for one in found]
            at = self._prompt.offset_of(self._wanted.start)
            self._list.show(choices, selected, at, self._prompt.app.size)
        elif was_open:
            self._list.hide()
        if was_open != self.is_open:
            self._prompt.continues = not self.is_open
            self._changed()

    @staticmethod
    def _first_selected(wanted: "Wanted", best: "Candidate") -> int:
        """Return which candidate Enter takes: none where somebody may mean what is typed as it is."""
        if wanted.kind == "mention":
            return 0
        if wanted.is_free:
            return -1
        is_meant = best.is_closed or best.text.lower().lstrip("/").startswith(wanted.query.lower())
        has_begun = bool(wanted.query) or wanted.kind == "command"
        return 0 if has_begun and is_meant else -1

    def _stop_search(self) -> None:
        if self._search is not None:
            self._search.cancel()
            self._search = None
