"""What a line of markdown may begin or end, as far as the line alone can tell (CommonMark 0.31)."""

import re

from smith_core.patterns import later

FENCE = later(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
"""A fence at the margin: its mark and its info string, in groups 1 and 2 or 3 and 4."""
ANY_FENCE = later(r" {0,3}(?:(`{3,})[^`]*$|(~{3,}))")
HEADING = later(r" {0,3}#{1,6}(?:[ \t][^|]*$|$)")
"""Without bars: a line with bars may be the head of a table."""
ITEM = later(r"(?:([-+*])|(\d{1,9})([.)]))([ \t]+(?=\S)|[ \t]*$)")
"""A list item at the margin: its bullet, or its number and delimiter, and the space behind them."""
INDENTED_ITEM = later(r"[ \t]+(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)")
RULE = later(r"(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$")
"""A rule that could be taken for an item."""
DEFINITION = later(r""" {0,3}\[(?:[^\[\]\\]|\\.)+\]:[ \t]*\S+(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$""")
"""A link reference definition on one line."""
HTML = later(r" {0,3}<")
_RAW = "script|pre|style|textarea"
HTML_UNTIL_MARK = (
    (
        later(rf" {{0,3}}<(?:{_RAW})(?:\s|>|$)", re.IGNORECASE),
        later(rf"</(?:{_RAW})>", re.IGNORECASE | re.ASCII),
    ),
    (later(r" {0,3}<!--"), later(r"-->")),
    (later(r" {0,3}<\?"), later(r"\?>")),
    (later(r" {0,3}<!\[CDATA\["), later(r"\]\]>")),
    (later(r" {0,3}<![A-Za-z]"), later(r">")),
)
"""How HTML blocks that go on over blank lines begin and end (CommonMark 0.31, HTML blocks 1 to 5)."""


def without_blank_end(lines: list[str]) -> list[str]:
    """Return the lines without the blank ones at the end; the first line stays."""
    end = len(lines)
    while end > 1 and not lines[end - 1].strip(" \t"):
        end -= 1
    return lines[:end]


def closes_fence(line: str, mark: str) -> bool:
    """Whether a line ends the fence that `mark` began (CommonMark 0.31, section 4.5)."""
    bare = line.strip(" \t")
    return len(bare) >= len(mark) and not bare.strip(mark[0]) and indentation(line) < 4


def indentation(line: str) -> int:
    """Return the columns of space at the start of a line, tab stops every four."""
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))
