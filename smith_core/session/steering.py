"""What a person says to a turn that runs: kept until the turn takes it before its next request."""

from collections.abc import Iterator
from contextlib import contextmanager


class Steering:
    """Holds what was said; only while a turn listens does it take anything."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._is_heard = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Take what is said inside the block."""
        self._is_heard = True
        try:
            yield
        finally:
            self._is_heard = False

    def say(self, text: str) -> bool:
        """Keep a text for the turn; say whether there is one that listens."""
        if self._is_heard:
            self._said.append(text)
        return self._is_heard

    def take(self) -> tuple[str, ...]:
        """Return, once, what was said and has not reached a turn yet; the turn may have ended before."""
        said, self._said = tuple(self._said), []
        return said
