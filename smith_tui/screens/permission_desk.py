"""The questions of the main screen: which one is open, which keys answer it, and that no typed text ever does."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual import events
    from textual.timer import Timer

    from smith_core.events import AnyEvent, PermissionAnswer, PermissionAnswered, PermissionRequested
    from smith_tui.keys import KeyAction, Scope
    from smith_tui.screens.chat import ChatScreen
    from smith_tui.widgets.permission_bar import PermissionBar

QUIET_S = 0.5
"""Seconds without a key after which one can answer: who types when a question comes up does not mean it."""

HOLD_S = 0.15
"""Seconds for which a letter waits before it counts as an answer: if another key follows, both are text."""


class PermissionDesk:
    """Shows a question in a bar above the prompt, which is made with the first one, and hands its answer on.

    changed: called when a question came or went.
    """

    def __init__(self, screen: "ChatScreen", actions: "tuple[KeyAction, ...]", *, changed: Callable[[], None]) -> None:
        self._screen = screen
        self._actions = actions
        self._changed = changed
        self._bar: PermissionBar | None = None
        self._last_key = 0.0
        self._held: tuple[str, Timer] | None = None
        self.hold_s = HOLD_S
        self.clock: Callable[[], float] = time.monotonic
        take_other, note_edit = screen.prompt.intercept, screen.prompt.edited

        def take(event: "events.Key") -> bool:
            return self._take_key(event) or (take_other is not None and take_other(event))

        def edited() -> None:
            note_edit()
            if self._bar is not None:
                self._bar.refresh()

        screen.prompt.intercept, screen.prompt.edited = take, edited

    @property
    def question(self) -> "PermissionRequested | None":
        """The question that waits for an answer."""
        return self._bar.question if self._bar is not None else None

    def scopes(self, focused: "Scope") -> "tuple[Scope, ...]":
        """Return which keys mean something now; focused: those of what has the focus, unless that is the bar."""
        if self._bar is None or self._bar.question is None:
            return (focused,)
        return ("permission", "asking") if self._bar.has_focus else (focused, "asking")

    def show(self, event: "AnyEvent") -> None:
        """Keep the bar in line with what happens."""
        from smith_core.events import ChildEvent, PermissionAnswered, PermissionRequested, TurnEnded

        inner = event.event if isinstance(event, ChildEvent) else event
        match inner:
            case PermissionRequested():
                self._last_key = self.clock()
                self._open(inner)
            case PermissionAnswered() if self._is_about(inner):
                self._open(None)
            case TurnEnded() if self.question is not None:
                self._open(None)
            case _:
                pass

    def answer(self, answer: "PermissionAnswer") -> None:
        """Answer the question that is open."""
        question = self.question
        if question is not None:
            self._screen.runtime.answer_permission(question.call_id, answer, question.job_id)
            self._open(None)

    def toggle_focus(self) -> None:
        """Give the keys to the question, or back to the prompt."""
        if self.question is not None and self._bar is not None:
            self._screen.set_focus(self._screen.prompt if self._bar.has_focus else self._bar)

    def _take_key(self, event: "events.Key") -> bool:
        """Answer by a key that was pressed in the empty prompt; say whether it was one."""
        if self.question is None or self._bar is None:
            return False
        now, before = self.clock(), self._last_key
        self._last_key = now
        if self._put_back():
            return False
        answer = self._bar.answer_for(event.key)
        if answer is None or self._screen.prompt.edited_text or now - before < QUIET_S:
            return False
        if event.character is None or not event.is_printable:
            self.answer(answer)
        else:
            self._held = event.character, self._screen.set_timer(self.hold_s, lambda: self._let_go(answer))
        return True

    def _put_back(self) -> bool:
        """Give a letter that is held to the prompt, where it belongs; say whether there was one."""
        if self._held is None:
            return False
        letter, timer = self._held
        self._held = None
        timer.stop()
        prompt = self._screen.prompt
        prompt.replace_range(prompt.caret, prompt.caret, letter)
        return True

    def _let_go(self, answer: "PermissionAnswer") -> None:
        if self._held is not None:
            self._held = None
            self.answer(answer)

    def _is_about(self, event: "PermissionAnswered") -> bool:
        question = self.question
        return question is not None and (question.call_id, question.job_id) == (event.call_id, event.job_id)

    def _open(self, question: "PermissionRequested | None") -> None:
        self._put_back()
        bar = self._shown_bar()
        had_focus = bar.has_focus
        bar.ask(question)
        if question is None and had_focus:
            self._screen.set_focus(self._screen.prompt)
        elif question is not None and not self._screen.is_current:
            text = f"The main screen asks: may {question.name} run?"
            self._screen.app.notify(text, severity="warning", markup=False)
        self._changed()

    def _shown_bar(self) -> "PermissionBar":
        if self._bar is None:
            # Imported with the first question, behind the first frame.
            from smith_tui.widgets.permission_bar import PermissionBar

            screen = self._screen
            self._bar = PermissionBar(
                self.answer, lambda: not screen.prompt.edited_text, actions=self._actions, id="permission"
            )
            screen.mount(self._bar, before=screen.query("#queue, #prompt").first())
        return self._bar
