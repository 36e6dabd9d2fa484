"""Unified diffs of bounded size, made in time that grows with the text and not with its square."""

import re
from collections.abc import Sequence

from smith_core.patterns import later

CONTEXT_LINES = 3
MAX_DIFF_CHARS = 50_000
"""A person reads no more than this on the screen, and a transcript stays small."""
_ALIGNED_LINES = 800
"""Most changed lines on one side that are aligned one by one; beyond, the old block stands before the new one."""

_ANY_ENDING = later(r"\r\n|\r")
_HUNK = later(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@\n")
_NO_NEWLINE = "\n\\ No newline at end of file\n"


def diff_lines(text: str) -> list[str]:
    r"""Return the lines of a text as `unified_diff` takes them, every ending (\n, \r\n or \r) made \n."""
    return re.findall(r"[^\n]*\n|[^\n]+", _ANY_ENDING.sub("\n", text))


def unified_diff(old: Sequence[str], new: Sequence[str], name: str, *, first_line: int = 1) -> str:
    r"""Return the diff of two lists of lines, "" when they are equal.

    Each line ends in \n, except a last one that has no ending in the file. Both lists begin at line `first_line` of
    their file and hold all that differs. A diff longer than MAX_DIFF_CHARS ends in a line that says so.
    """
    import difflib

    head = _common_prefix(old, new)
    tail = _common_prefix(old[head:][::-1], new[head:][::-1])
    if head + tail == len(old) == len(new):
        return ""
    top = max(0, head - CONTEXT_LINES)
    bottom = max(0, tail - CONTEXT_LINES)
    old, new = old[top : len(old) - bottom], new[top : len(new) - bottom]
    head, tail = head - top, tail - bottom
    if max(len(old), len(new)) - head - tail <= _ALIGNED_LINES:
        hunks = list(difflib.unified_diff(old, new, n=CONTEXT_LINES))[2:]
    else:
        hunks = _one_hunk(old, new, head, tail)
    shown_name = re.sub(r"[\r\n\t]", "?", name)
    lines = [f"--- {shown_name}\n", f"+++ {shown_name}\n"]
    lines += [_moved(line, top + first_line - 1) for line in hunks]
    return _bounded([line if line.endswith("\n") else line + _NO_NEWLINE for line in lines])


def _common_prefix(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = zip(old, new, strict=False)
    return next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(old), len(new)))


def _one_hunk(old: Sequence[str], new: Sequence[str], head: int, tail: int) -> list[str]:
    above, below = old[:head], old[len(old) - tail :]
    return [
        f"@@ -{1 if old else 0},{len(old)} +{1 if new else 0},{len(new)} @@\n",
        *(" " + line for line in above),
        *("-" + line for line in old[head : len(old) - tail]),
        *("+" + line for line in new[head : len(new) - tail]),
        *(" " + line for line in below),
    ]


def _moved(line: str, offset: int) -> str:
    hunk = _HUNK.fullmatch(line)
    if hunk is None:
        return line
    return f"@@ -{int(hunk[1]) + offset}{hunk[2] or ''} +{int(hunk[3]) + offset}{hunk[4] or ''} @@\n"


def _bounded(lines: list[str]) -> str:
    room = MAX_DIFF_CHARS
    for index, line in enumerate(lines):
        room -= len(line)
        if room < 0:
            return "".join(lines[:index]) + f"\\ {len(lines) - index} more lines of the diff are not shown\n"
    return "".join(lines)
