"""What a small model is shown of a long text: the part that matters, because every line costs time."""

import re

from smith_core.embedded.facade.fileview import FileView

MAX_SHOWN_LINES = 70
MAX_SHOWN_LINE_CHARS = 160
MAX_RESULT_CHARS = 1_600
_AROUND = 6
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]{2,}")
_STOP_WORDS = frozenset({"the", "and", "for", "this", "from", "into", "file", "line", "function", "class", "return"})


def shown_numbers(view: FileView, task: str) -> list[int]:
    """Return the numbers of the lines to show: all of a short file, else those around the words of the task."""
    numbers = range(view.first, view.last + 1)
    if len(numbers) <= MAX_SHOWN_LINES:
        return list(numbers)
    words = {word for word in _WORD.findall(task) if word.lower() not in _STOP_WORDS}
    chosen: set[int] = set()
    hits = [number for number in numbers if any(word in view.line(number) for word in words)]
    for number in hits or list(numbers)[:MAX_SHOWN_LINES]:
        around = range(max(view.first, number - _AROUND), min(view.last, number + _AROUND) + 1)
        if len(chosen.union(around)) > MAX_SHOWN_LINES:
            break
        chosen.update(around)
    return sorted(chosen)


def numbered(number: int, text: str) -> str:
    """Return a line as the model sees it and names it: its number, a bar and its text, shortened if it is long."""
    return f"{number}|{text[:MAX_SHOWN_LINE_CHARS]}"


def number_of(line: str) -> int:
    """Return the number of a line in that form; ValueError when it has none."""
    return int(line.partition("|")[0])


def file_text(view: FileView, task: str) -> str:
    """Return the lines of a file that are shown, gaps marked."""
    rows: list[str] = []
    previous = view.first - 1
    for number in shown_numbers(view, task):
        if number != previous + 1:
            rows.append("...")
        rows.append(numbered(number, view.line(number)))
        previous = number
    if previous < max(view.last, view.total):
        rows.append("...")
    return "\n".join(rows) or "(empty)"


def result_text(result: str) -> str:
    """Return the end of a long result, where commands say what came of them, and the whole of a short one."""
    text = result.strip()
    return text if len(text) <= MAX_RESULT_CHARS else f"...{text[-MAX_RESULT_CHARS:]}"
