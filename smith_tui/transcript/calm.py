"""How an unfinished line is shown, so that text does not jump while markup is only half there."""

from smith_core.patterns import later

_STRUCTURE = later(r"[ \t>]*(?:[-=_*+~`#|:][-=_*+~`#|: \t]*|\d{1,9}[.)]?[ \t]*)?")
"""A line of which nobody can tell yet what it will be: a rule, an item, a heading, a fence, a row of a table."""


def settled(line: str) -> str:
    """Return an unfinished line of markdown as it will probably look when it is whole.

    Open emphasis and code are closed, marks at the very end are held back.
    """
    if _STRUCTURE.fullmatch(line):
        return ""
    if line.count("`") % 2:
        return line[:-1] if line.endswith("`") else line + "`"
    if line.count("**") % 2:
        return line[:-2] if line.endswith("**") else line.rstrip(" *") + "**"
    return line[:-1] if line.endswith("*") and not line.endswith("**") else line


def settled_code(line: str, mark: str = "`~") -> str:
    """Return an unfinished line of code; one that may become the end of the fence is held back."""
    return "" if line.strip() and not line.strip(" \t" + mark) else line
