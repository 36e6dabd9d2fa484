"""What was sent before, walked through with the draft kept. Pure."""

from collections.abc import Iterable

MAX_ENTRIES = 1_000
MAX_CHARACTERS = 2_000_000
"""Of all entries together; beyond it the oldest are forgotten, but never the newest one."""


class PromptHistory:
    """Entries from the oldest to the newest, each once, and a place among them."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._entries = list(dict.fromkeys(reversed(list(entries))))[::-1]
        self._forget_oldest()
        self._place = len(self._entries)
        self._draft = ""

    @property
    def entries(self) -> tuple[str, ...]:
        """All entries, the oldest first."""
        return tuple(self._entries)

    def add(self, text: str) -> None:
        """Make `text` the newest entry and go behind it; an equal older one is forgotten."""
        if text in self._entries:
            self._entries.remove(text)
        self._entries.append(text)
        self._forget_oldest()
        self._place = len(self._entries)
        self._draft = ""

    def learn(self, entries: Iterable[str]) -> None:
        """Put entries, the oldest first, before those that are there; a walk goes on from where it stands."""
        from_end = len(self._entries) - self._place
        older = dict.fromkeys(reversed(list(entries)))
        known = set(self._entries)
        self._entries[:0] = [entry for entry in reversed(older) if entry not in known]
        self._forget_oldest()
        self._place = len(self._entries) - from_end

    def continuation(self, begun: str) -> str:
        """Return how the newest entry that begins with a text goes on, "" when none does."""
        for entry in reversed(self._entries):
            if len(entry) > len(begun) and entry.startswith(begun):
                return entry[len(begun) :]
        return ""

    def older(self, shown: str) -> str | None:
        """Return the entry before, or None at the first; `shown` is kept as the draft when the walk begins."""
        if self._place == 0:
            return None
        if self._place == len(self._entries):
            self._draft = shown
        self._place -= 1
        return self._entries[self._place]

    def newer(self) -> str | None:
        """Return the entry after, at the end the draft, or None when the draft is shown already."""
        if self._place == len(self._entries):
            return None
        self._place += 1
        return self._draft if self._place == len(self._entries) else self._entries[self._place]

    def _forget_oldest(self) -> None:
        kept, size = 0, 0
        for entry in reversed(self._entries[-MAX_ENTRIES:]):
            size += len(entry)
            if kept and size > MAX_CHARACTERS:
                break
            kept += 1
        del self._entries[: len(self._entries) - kept]
