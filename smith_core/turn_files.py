"""What a turn has done to files, as a person sees it: which files, how, and whether that was taken back."""

from typing import Literal

import msgspec

ChangeKind = Literal["created", "changed", "deleted"]
Direction = Literal["undo", "redo"]


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a turn; `path` is relative to the project inside of it.

    note: why it is not as the turn's other files are, such as "it has changed since"; "" when it is.
    """

    path: str
    kind: ChangeKind
    note: str = ""


class TurnFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files that a turn has changed; started_at and moved_at in seconds since the epoch.

    moved_at: when the changes were taken back or put again last, 0 if never.
    is_undone: the changes were taken back and can be put again. limits: sentences on what is not among the files.
    """

    turn_id: str
    started_at: float
    files: tuple[ChangedFile, ...]
    is_undone: bool = False
    moved_at: float = 0.0
    limits: tuple[str, ...] = ()

    @property
    def held_back(self) -> tuple[ChangedFile, ...]:
        """Return the files that the last taking back, or putting again, has left alone."""
        return tuple(file for file in self.files if file.note)


def count_in_words(count: int) -> str:
    """Return a number of files as a sentence has it."""
    return "1 file" if count == 1 else f"{count:,} files"
