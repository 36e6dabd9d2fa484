"""The lines of an output that is kept in a file of any size; only the blocks that are looked at are read."""

import asyncio
import os
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from smith_core.plainfile import NotRegularFileError, open_regular
from smith_tui.widgets.ansi_line import PLAIN, LineCells, Sgr, resolve_line, sgr_after
from smith_tui.widgets.line_store import StringSwallower, matching_lines

_BLOCK_BYTES = 65_536
_LINE_BYTES = 65_536  # of a longer line no more is read; the screen shows fewer cells than that
_CACHED_BLOCKS = 16
_CACHED_LINES = 300


class FileLines:
    """Lines numbered from 0, as `Lines` wants them."""

    def __init__(self, path: Path) -> None:
        """Open the file and count its lines; raise OSError, also for what is no regular file.

        This reads the whole file, so that it belongs into a thread.
        """
        self._file = os.fdopen(open_regular(path, follow_symlink=False), "rb", buffering=0)
        self._breaks = [0]
        """Line breaks before each block, and those of the whole at the end."""
        self.size = 0
        ends_open = False
        while block := self._file.read(_BLOCK_BYTES):
            # A short read would move the places of all blocks behind it.
            while len(block) < _BLOCK_BYTES and (more := self._file.read(_BLOCK_BYTES - len(block))):
                block += more
            self.size += len(block)
            self._breaks.append(self._breaks[-1] + block.count(b"\n"))
            ends_open = not block.endswith(b"\n")
        self.first_line = 0
        self.end_line = self._breaks[-1] + ends_open
        self._block = lru_cache(_CACHED_BLOCKS)(self._read_block)
        self.line = lru_cache(_CACHED_LINES)(self._resolve)

    def close(self) -> None:
        """Close the file; nothing can be read any more."""
        self.end_line = 0
        self._file.close()

    def page_top(self, height: int) -> int | None:
        """Lines are wrapped and followed at their end; see `Lines`."""
        return None

    def matching(self, wanted: str) -> Iterator[list[int]]:
        """Yield the numbers of lines that hold `wanted`, which is in lower case, for one block after the other."""
        carried = b""
        for index in range(len(self._breaks) - 1):
            block = carried + self._block(index)
            end = block.rfind(b"\n") + 1
            carried = block[end:][-_LINE_BYTES:]
            yield list(matching_lines(self._breaks[index], block[:end], wanted))
        yield list(matching_lines(self._breaks[-1], carried, wanted))

    def _read_block(self, index: int) -> bytes:
        # A search may still be on its way when the file is closed.
        return b"" if self._file.closed else os.pread(self._file.fileno(), _BLOCK_BYTES, index * _BLOCK_BYTES)

    def _resolve(self, number: int) -> LineCells:
        """Return a line, resolved; IndexError outside of `range(first_line, end_line)`."""
        if not 0 <= number < self.end_line:
            raise IndexError(number)
        start = self._start_of(number)
        raw = os.pread(self._file.fileno(), _LINE_BYTES, start).split(b"\n", 1)[0]
        return resolve_line(StringSwallower().feed(raw), self._sgr_before(start))

    def _start_of(self, number: int) -> int:
        """Return where in the file a line begins."""
        if number == 0:
            return 0
        index = bisect_left(self._breaks, number) - 1
        block = self._block(index)
        at = -1
        for _ in range(number - self._breaks[index]):
            at = block.find(b"\n", at + 1)
        return index * _BLOCK_BYTES + at + 1

    def _sgr_before(self, start: int) -> Sgr:
        """Return the colours in force at a place, as far as they were set in the block before it or later."""
        index, inside = divmod(start, _BLOCK_BYTES)
        before = self._block(index - 1) if index else b""
        return sgr_after(PLAIN, before + self._block(index)[:inside])


async def open_lines(path: str) -> FileLines | str:
    """Return the lines of a file, or in words why they cannot be read."""
    try:
        return await asyncio.to_thread(FileLines, Path(path))
    except FileNotFoundError:
        return f"The whole output is no longer on the disk ({path}); its end is here."
    except NotRegularFileError as problem:
        return f"The whole output cannot be read, because {path} is {problem.what}; its end is here."
    except OSError as problem:
        return f"The whole output cannot be read ({problem.strerror}); its end is here."
