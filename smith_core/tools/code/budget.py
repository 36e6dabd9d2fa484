"""Texts of a bounded size: blocks are taken as they come until there is no room, and the rest is counted."""


class Page:
    """Lines of at most `limit` characters in all, line ends included."""

    def __init__(self, limit: int) -> None:
        self._room = limit
        self._lines: list[str] = []

    @property
    def room(self) -> int:
        """Characters that are left."""
        return self._room

    def add(self, *lines: str) -> bool:
        """Append lines together if there is room for all of them; whether there was."""
        size = sum(len(line) + 1 for line in lines)
        if size > self._room:
            return False
        self._room -= size
        self._lines += lines
        return True

    def force(self, line: str) -> None:
        """Append a line for which room was kept elsewhere."""
        self._lines.append(line)

    @property
    def text(self) -> str:
        """All lines so far."""
        return "\n".join(self._lines)


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun: 1 file, 1,200 files."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def in_bytes(size: int) -> str:
    """Return a size as a person reads it: 812 bytes, 41 KB, 3.2 MB."""
    if size < 1000:
        return counted(size, "byte")
    for unit in ("KB", "MB", "GB"):
        size_in_unit = size / 1000
        if size_in_unit < 999.5 or unit == "GB":
            return f"{size_in_unit:.0f} {unit}" if size_in_unit >= 10 else f"{size_in_unit:.1f} {unit}"
        size = round(size_in_unit)
    raise AssertionError
