"""The live output of one tool call as lines: bytes in at full speed, lines resolved only when they are looked at.

Pure and bounded: whole blocks of old lines are dropped, and the count of dropped lines is kept, so that the number
of a line never changes.
"""

import re
from bisect import bisect_right
from codecs import utf_8_decode
from collections import OrderedDict, deque
from collections.abc import Iterator

from smith_tui.widgets.ansi_line import PLAIN, LineCells, LineGrid, Sgr, resolve_line, sgr_after

MAX_BYTES = 8_000_000
_BLOCK_BYTES = 32_768
_PIECE_BYTES = 65_536
_LONG_LINE_BYTES = 16_384  # an unfinished line longer than this is resolved while it comes in
_CACHED_LINES = 300
_CACHED_BLOCKS = 4

_STRING_START = re.compile(rb"\x1b[\]PX^_]")
# BEL ends an OSC only; a line feed, CAN, SUB and any other escape sequence end every string, so that one that is
# never closed hides no more than its line.
_OSC_END = re.compile(rb"\x1b\\|[\x07\n\x18\x1a\x1b]")
_STRING_END = re.compile(rb"\x1b\\|[\n\x18\x1a\x1b]")
_OPEN_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*)?[ -/]*\Z")
_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?|[\x00-\x09\x0b-\x1f]")


class StringSwallower:
    """Takes OSC, DCS, APC, PM and SOS sequences out of a stream of bytes, however it is cut into chunks."""

    def __init__(self) -> None:
        self._end: re.Pattern[bytes] | None = None
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Return what is left of `data`; an escape character at the very end waits for its successor."""
        data = self._held + data
        self._held = b""
        if data.endswith(b"\x1b"):
            data, self._held = data[:-1], b"\x1b"
        if self._end is None and b"\x1b" not in data:
            return data
        kept: list[bytes] = []
        position = 0
        while position < len(data):
            if self._end is None:
                position = self._copy(data, position, kept)
            else:
                position = self._swallow(data, position, self._end)
        return b"".join(kept)

    def _copy(self, data: bytes, position: int, kept: list[bytes]) -> int:
        match = _STRING_START.search(data, position)
        if match is None:
            kept.append(data[position:])
            return len(data)
        # CAN ends a sequence that the string broke off, so that it cannot go on behind the string.
        kept.append(data[position : match.start()] + b"\x18")
        self._end = _OSC_END if match[0] == b"\x1b]" else _STRING_END
        return match.end()

    def _swallow(self, data: bytes, position: int, end: re.Pattern[bytes]) -> int:
        match = end.search(data, position)
        if match is None:
            return len(data)
        self._end = None
        return match.start() if match[0] in (b"\x1b", b"\n") else match.end()


class _Block:
    """Finished lines as raw bytes, each ended by a line feed, and the colours in force at the start."""

    __slots__ = ("data", "first_line", "line_count", "sgr")

    def __init__(self, first_line: int, sgr: Sgr) -> None:
        self.data = bytearray()
        self.first_line = first_line
        self.line_count = 0
        self.sgr = sgr

    def split(self) -> tuple[list[bytes], list[Sgr]]:
        """Return the lines and the colours in force at the start of each."""
        lines = bytes(self.data).split(b"\n")[:-1]
        if b"\x1b" not in self.data:
            return lines, [self.sgr] * len(lines)
        states, state = [], self.sgr
        for line in lines:
            states.append(state)
            if b"\x1b" in line:
                state = sgr_after(state, line)
        return lines, states


class LineStore:
    """Lines numbered from 0; those in `range(first_line, end_line)` can be read."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.first_line = 0
        self._max_bytes = max_bytes
        self._bytes = 0
        self._blocks: deque[_Block] = deque([_Block(0, PLAIN)])
        self._tail = bytearray()
        self._tail_grid: LineGrid | None = None
        self._strings = StringSwallower()
        self._resolved: OrderedDict[int, LineCells] = OrderedDict()
        self._split: OrderedDict[tuple[int, int], tuple[list[bytes], list[Sgr]]] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return self._bytes + len(self._tail)

    @property
    def end_line(self) -> int:
        """One past the number of the last line; an unfinished line counts once it has anything in it."""
        unfinished = bool(self._tail) or self._tail_grid is not None
        return self._finished_end + unfinished

    @property
    def _finished_end(self) -> int:
        last = self._blocks[-1]
        return last.first_line + last.line_count

    def feed(self, data: bytes) -> None:
        """Take more output, cut anywhere."""
        data = self._strings.feed(data)
        for start in range(0, len(data), _PIECE_BYTES):
            self._take(data[start : start + _PIECE_BYTES])

    def _take(self, data: bytes) -> None:
        first, last = data.find(b"\n"), data.rfind(b"\n")
        if first < 0:
            self._tail += data
        else:
            self._tail += data[:first]
            self._append_lines(self._finish_tail() + data[first : last + 1])
            self._tail += data[last + 1 :]
        if len(self._tail) > _LONG_LINE_BYTES:
            self._resolve_tail()

    def line(self, number: int) -> LineCells:
        """Return a line, resolved; IndexError outside of `range(first_line, end_line)`."""
        if not self.first_line <= number < self.end_line:
            raise IndexError(number)
        if number == self._finished_end:
            return self._unfinished_line()
        cached = self._resolved.get(number)
        if cached is None:
            cached = self._resolved[number] = self._resolve(number)
            if len(self._resolved) > _CACHED_LINES:
                self._resolved.popitem(last=False)
        else:
            self._resolved.move_to_end(number)
        return cached

    def shorten(self, most: int) -> None:
        """Drop the oldest blocks until no more than so many bytes are kept, or one block."""
        while self._bytes > most and len(self._blocks) > 1:
            self._bytes -= len(self._blocks.popleft().data)
            self.first_line = self._blocks[0].first_line

    def rest(self) -> None:
        """Give back what makes looking at it quick: many times the size of short lines."""
        self._resolved.clear()
        self._split.clear()

    def page_top(self, height: int) -> int | None:
        """Lines are wrapped and followed at their end; see `Lines`."""
        return None

    def matching(self, wanted: str) -> Iterator[list[int]]:
        """Yield the numbers of lines that hold `wanted`, which is in lower case, for one block after the other."""
        for block in list(self._blocks):
            yield list(matching_lines(block.first_line, bytes(block.data), wanted))
        if self.end_line > self._finished_end and wanted in self._unfinished_line().text.lower():
            yield [self._finished_end]

    def recent(self, limit: int) -> bytes:
        """Return about the last `limit` bytes as they came, from the start of a line where there is one."""
        parts = [self._tail_grid.encode() + bytes(self._tail) if self._tail_grid else bytes(self._tail)]
        size = len(parts[0])
        for block in reversed(self._blocks):
            if size >= limit:
                break
            parts.append(bytes(block.data[-(limit - size) :]))
            size += len(parts[-1])
        data = b"".join(reversed(parts))
        return data if size < limit else data[data.find(b"\n") + 1 :]

    def _resolve(self, number: int) -> LineCells:
        index = bisect_right(self._blocks, number, key=lambda block: block.first_line) - 1
        block = self._blocks[index]
        key = (block.first_line, block.line_count)
        split = self._split.get(key)
        if split is None:
            split = self._split[key] = block.split()
            if len(self._split) > _CACHED_BLOCKS:
                self._split.popitem(last=False)
        lines, states = split
        return resolve_line(lines[number - block.first_line], states[number - block.first_line])

    def _unfinished_line(self) -> LineCells:
        if self._tail_grid is not None:
            return self._tail_grid.snapshot()
        text, _ = utf_8_decode(bytes(self._tail), "replace", False)
        grid = LineGrid(self._sgr_at_tail())
        grid.feed(text)
        return grid.snapshot()

    def _sgr_at_tail(self) -> Sgr:
        block = self._blocks[-1]
        return sgr_after(block.sgr, block.data)

    def _append_lines(self, data: bytes) -> None:
        block = self._blocks[-1]
        if len(block.data) >= _BLOCK_BYTES:
            block = _Block(self._finished_end, self._sgr_at_tail())
            self._blocks.append(block)
        block.data += data
        block.line_count += data.count(b"\n")
        self._bytes += len(data)
        self.shorten(self._max_bytes)

    def _finish_tail(self) -> bytes:
        """Return the bytes of the unfinished line and forget it."""
        tail = bytes(self._tail)
        self._tail.clear()
        if self._tail_grid is not None:
            self._tail_grid.feed(tail.decode("utf-8", "replace"))
            tail = self._tail_grid.encode()
            self._tail_grid = None
        return tail

    def _resolve_tail(self) -> None:
        """Move what has come of an endless line into a grid, up to the last whole sequence and character."""
        if self._tail_grid is None:
            self._tail_grid = LineGrid(self._sgr_at_tail())
        open_sequence = _OPEN_SEQUENCE.search(self._tail)
        cut = open_sequence.start() if open_sequence else len(self._tail)
        if cut == 0:  # nothing but one endless sequence
            self._tail.clear()
            return
        text, consumed = utf_8_decode(bytes(self._tail[:cut]), "replace", False)
        self._tail_grid.feed(text)
        del self._tail[:consumed]


def matching_lines(first_line: int, data: bytes, wanted: str) -> Iterator[int]:
    """Yield the number of each line of `data` that holds `wanted` when sequences and controls are left out.

    first_line: number of the first line. wanted: in lower case. A line that was overwritten may match by what was
    there before.
    """
    text = data.decode("utf-8", "replace")
    if not text.isprintable():
        text = _SEQUENCES.sub("", text)
    text = text.lower()
    number, counted = first_line, 0
    at = text.find(wanted)
    while at >= 0:
        number += text.count("\n", counted, at)
        counted = at
        yield number
        end = text.find("\n", at)
        at = text.find(wanted, end) if end >= 0 else -1
