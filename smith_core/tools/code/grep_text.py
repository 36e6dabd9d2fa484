"""What a model reads of a search: as many lines of as many files as there is room for, and what was left out."""

from collections import Counter
from collections.abc import Sequence

from smith_core.text import clean_text
from smith_core.tools.code.budget import Page, counted
from smith_core.tools.code.grep_ranking import FileMatches
from smith_core.tools.code.longlines import excerpt_line
from smith_core.tools.code.place import Place
from smith_core.tools.code.records import COLUMNS, FoundLine

PAGE_CHARS = 20_000
"""Most characters of a result: some 6,000 tokens."""

_ROOM_FOR_ENDING = 700
_PER_FILE = (1_000_000, 40, 20, 10, 5, 3, 2, 1)
_COPIES_NAMED = 5
_FOLDERS_NAMED = 4


def found_text(files: Sequence[FileMatches], heading: str, place: Place) -> str:
    """Return the text under a heading."""
    texts = [_FileText(file, place) for file in files]
    most = next((most for most in _PER_FILE if _size(texts, most) <= PAGE_CHARS - _ROOM_FOR_ENDING), _PER_FILE[-1])
    page = Page(PAGE_CHARS - _ROOM_FOR_ENDING)
    page.add(heading)
    shown = left_out = 0
    for text in texts:
        block, matches = text.block(most)
        if not page.add("", *block):
            break
        shown += 1
        left_out += text.file.matches - matches
    rest = texts[shown:]
    left_out += sum(text.file.matches for text in rest)
    if rest:
        page.force("")
        page.force(_rest_in_words(rest, place))
    if left_out:
        page.force("[narrow the search with a longer pattern, path or glob to see what is left out]")
    return page.text


def _size(texts: Sequence["_FileText"], most: int) -> int:
    total = 0
    for text in texts:
        total += text.estimate(most)
        if total > PAGE_CHARS:
            break
    return total


def _rest_in_words(rest: Sequence["_FileText"], place: Place) -> str:
    folders = Counter(text.file.path.rpartition("/")[0] for text in rest)
    named = ", ".join(
        f"{place.shown(folder + '/') if folder else place.shown('') or './'} ({count:,})"
        for folder, count in folders.most_common(_FOLDERS_NAMED)
    )
    matches = sum(text.file.matches for text in rest)
    words = (
        f"[left out: {counted(matches, 'matching line')} in {counted(len(rest), 'more file')}, most of them in {named}]"
    )
    return words if len(words) < _ROOM_FOR_ENDING - 120 else words[: _ROOM_FOR_ENDING - 121] + "…"


class _FileText:
    """One file's part of the page."""

    def __init__(self, file: FileMatches, place: Place) -> None:
        self.file = file
        self._place = place
        self._title = place.shown(file.path)
        self._lines: dict[int, str] = {}

    def estimate(self, most: int) -> int:
        """Return about how many characters the block takes; at most twice too much."""
        shown = self._chosen(most)
        return len(self._title) + 60 + sum(min(len(line.text), COLUMNS) + 10 for line in shown)

    def block(self, most: int) -> tuple[list[str], int]:
        """Return the lines to show, of at most `most` matches, and how many matches they are."""
        chosen = self._chosen(most)
        lines = [self._title]
        last = 0
        for line in chosen:
            if last and line.number > last + 1 and self._has_context:
                lines.append("  --")
            lines.append(self._line(line))
            last = line.number
        matches = sum(line.column > 0 for line in chosen)
        if matches < self.file.matches:
            lines.append(f"  [{counted(self.file.matches - matches, 'more matching line')} in this file]")
        if self.file.same_in:
            lines.append(self._copies())
        return lines, matches

    @property
    def _has_context(self) -> bool:
        return self.file.matches < len(self.file.lines)

    def _chosen(self, most: int) -> Sequence[FoundLine]:
        if self.file.matches <= most:
            return self.file.lines
        matches = [line.number for line in self.file.lines if line.column]
        by_weight = sorted(matches, key=lambda number: (number not in self.file.definitions, number))
        kept = set(by_weight[:most])
        chosen = []
        for index, line in enumerate(self.file.lines):
            near = self.file.lines[max(0, index - 1) : index + 2]
            belongs = not line.column and any(other.number in kept and other.column for other in near)
            if line.number in kept or belongs:
                chosen.append(line)
        return chosen

    def _line(self, line: FoundLine) -> str:
        if line.number not in self._lines:
            self._lines[line.number] = self._made(line)
        return self._lines[line.number]

    def _made(self, line: FoundLine) -> str:
        mark = ":" if line.column else "-"
        if not line.is_cut:
            return f"{line.number:>5}{mark} {clean_text(line.text)}"
        found = excerpt_line(self._place.folder / self.file.path, line.offset, line.column, line.text)
        if found is None:
            return f"{line.number:>5}{mark} {clean_text(line.text[:COLUMNS])}… [cut: a long line]"
        length = "more than 32 MB" if found.length < 0 else f"{found.length} bytes"
        return f"{line.number:>5}{mark} {clean_text(found.text)} [cut: the line has {length}]"

    def _copies(self) -> str:
        named = ", ".join(self._place.shown(path) for path in self.file.same_in[:_COPIES_NAMED])
        more = len(self.file.same_in) - _COPIES_NAMED
        others = f" and {counted(more, 'more file')}" if more > 0 else ""
        return f"  [the same lines in {named}{others}]"
