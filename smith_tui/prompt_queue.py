"""Prompts that wait: for the end of the running turn, or for the moment at which it hears them. Pure."""

from collections.abc import Callable, Iterable

import msgspec


class Waiting(msgspec.Struct, frozen=True):
    """A prompt that waits; is_said: the running turn gets it before its next request.

    is_kept: it was typed in an earlier session, and is not sent before the person says so.
    """

    text: str
    is_said: bool = False
    is_kept: bool = False


class PromptQueue:
    """Waiting prompts in the order in which they are sent, those that a turn is to hear before the others.

    changed: called after every change. kept: called after every change but that of the conversation. is_held: the last
    turn failed, so nothing is sent by itself.
    """

    def __init__(self) -> None:
        self._items: list[Waiting] = []
        self.changed: Callable[[], None] = lambda: None
        self.kept: Callable[[], None] = lambda: None
        self.is_held = False

    @property
    def items(self) -> tuple[Waiting, ...]:
        """What waits, in order."""
        return tuple(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def open(self, texts: Iterable[str], *, leave: bool) -> None:
        """Take in what an opened conversation has kept; leave: what is here belongs to the one before."""
        self._items = [*(Waiting(text, is_kept=True) for text in texts), *([] if leave else self._items)]
        self.changed()

    def add(self, text: str) -> None:
        """Let a prompt wait behind the others."""
        self._items.append(Waiting(text))
        self._notify()

    def add_said(self, text: str) -> None:
        """Let a prompt wait until the running turn hears it."""
        self._items.insert(self._said, Waiting(text, is_said=True))
        self._notify()

    def heard(self, text: str) -> None:
        """Take out what the running turn has heard."""
        if Waiting(text, is_said=True) in self._items:
            self._items.remove(Waiting(text, is_said=True))
            self._notify()

    def not_heard(self, texts: Iterable[str]) -> None:
        """Let what a turn has not heard wait before everything else; nothing is said to that turn any longer."""
        texts = tuple(texts)
        if texts or self._said:
            self._items = [*map(Waiting, texts), *self._items[self._said :]]
            self._notify()

    @property
    def has_next(self) -> bool:
        """Whether there is a prompt to be sent next."""
        return self._next() is not None

    def _next(self) -> int | None:
        return next((n for n, item in enumerate(self._items) if not item.is_said and not item.is_kept), None)

    def pop(self) -> str | None:
        """Take out the prompt that is to be sent next, None without any."""
        ready = self._next()
        if ready is None:
            return None
        item = self._items.pop(ready)
        self._notify()
        return item.text

    def remove(self, index: int) -> Waiting | None:
        """Take one out; None when there is no such number."""
        if not 0 <= index < len(self._items):
            return None
        item = self._items.pop(index)
        self._notify()
        return item

    def move(self, index: int, step: int) -> int:
        """Let a prompt change places with the one before (-1) or behind (+1); return where it is then."""
        other = index + step
        if not (0 <= index < len(self._items) and 0 <= other < len(self._items)):
            return index
        if self._items[index].is_said or self._items[other].is_said:
            return index
        self._items[index], self._items[other] = self._items[other], self._items[index]
        self._notify()
        return other

    def take_all(self) -> tuple[str, ...]:
        """Take out everything that no turn has been told and that was typed in this session, in order."""
        texts = tuple(item.text for item in self._items if not item.is_said and not item.is_kept)
        self._items = [item for item in self._items if item.is_said or item.is_kept]
        self._notify()
        return texts

    @property
    def _said(self) -> int:
        """How many of them the turn is to hear; they stand in front."""
        return sum(item.is_said for item in self._items)

    def _notify(self) -> None:
        self.changed()
        self.kept()
