"""Where a code tool looks: the folder or file that its path argument means, and how paths are written out."""

import os
from pathlib import Path

import msgspec

from smith_core.plainfile import check_regular
from smith_core.text import clean_text
from smith_core.tools.base import ToolContext
from smith_core.tools.file_access import resolve_path


class Place(msgspec.Struct, frozen=True):
    """A folder, or with `name` one file in it; `prefix` stands before paths that are relative to the folder."""

    folder: Path
    name: str = ""
    prefix: str = ""

    def shown(self, relative: str) -> str:
        """Return a path below the folder as a person at the working folder would write it, on one line."""
        return visible(self.prefix + relative)

    @property
    def title(self) -> str:
        """The place itself in words."""
        return self.shown(self.name) or "the working folder"


def find_place(raw: str | None, ctx: ToolContext) -> Place:
    """Return the place that `raw` means, the working folder if it is blank.

    Raises PathRefusedError, NotRegularFileError or OSError, as `explain` knows them.
    """
    if raw is None or not raw.strip():
        check_folder(ctx.cwd)
        return Place(ctx.cwd)
    path = Path(os.path.normpath(resolve_path(raw, ctx.cwd)))
    if path.is_dir():
        check_folder(path)
        return Place(path, prefix=_prefix(path, ctx.cwd))
    check_regular(path)
    return Place(path.parent, path.name, _prefix(path.parent, ctx.cwd))


def check_folder(path: Path) -> None:
    """Raise the OSError that explains why the folder cannot be looked into, if it cannot."""
    os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))


def visible(name: str) -> str:
    """Return a file name on one line: control characters as escapes, bytes that are no UTF-8 as U+FFFD."""
    if name.isprintable():
        return name
    return clean_text(
        "".join(
            character if character.isprintable() or "\ud800" <= character <= "\udfff" else _escaped(character)
            for character in name
        )
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _prefix(folder: Path, cwd: Path) -> str:
    if folder == cwd:
        return ""
    if folder.is_relative_to(cwd):
        return f"{folder.relative_to(cwd)}/"
    return f"{folder}/".replace("//", "/")
