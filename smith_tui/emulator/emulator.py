"""The output of one program as the screen that it drew, in step with its frames however fast it writes."""

import codecs
import re
from collections.abc import Callable, Iterator
from time import perf_counter

from smith_core.tools.terminal import COLUMNS, ROWS
from smith_tui.emulator.screen import PageScreen
from smith_tui.emulator.stream import TolerantStream, tokens
from smith_tui.widgets.ansi_line import PLAIN, LineCells, sgr_sequence
from smith_tui.widgets.line_store import LineStore, StringSwallower

FRAME_BUDGET_S = 0.006
"""Most seconds that one frame spends on emulation."""
MAX_WAITING_BYTES = 65_536
KEPT_BYTES = 16_384
"""What is still drawn when more than MAX_WAITING_BYTES wait: a person could not have seen the rest anyway."""
_SCROLLBACK_BYTES = 1_000_000
_PIECE_BYTES = 8_192
_TOKENS_PER_LOOK = 4  # tokens between two looks at the clock
_MAX_OPEN_BYTES = 8_192
_OPEN_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*)?[ -/]*\Z")
_MODES = re.compile(rb"\x1b(?:\[\?[0-9;]*[hl]|\[[0-9;]*r|c)")
_MAX_MODES = 64
_START = re.compile(rb"[\x1b\n]|\A[\x80-\xbf]{1,3}")
_START_BYTES = 1_024


class Emulator:
    """Takes bytes and shows lines: those that scrolled off the top, then the rows of the screen.

    Lines are numbered from 0; a row keeps its number when it scrolls off. columns, lines: size of the program's
    terminal. clock: steady seconds.
    """

    def __init__(self, columns: int = COLUMNS, lines: int = ROWS, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._scrollback = LineStore(_SCROLLBACK_BYTES)
        self.screen = PageScreen(columns, lines, self._keep_row)
        self._stream = TolerantStream(self.screen)
        self._strings = StringSwallower()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = bytearray()
        self._tokens: Iterator[re.Match[str]] = iter(())
        self._is_idle = True
        self.skipped = 0
        """Bytes that were never drawn because the program wrote faster."""

    # Taking output

    @property
    def is_up_to_date(self) -> bool:
        """Whether everything that came has been drawn."""
        return self._is_idle and not self._waiting

    def feed(self, data: bytes) -> None:
        """Take more output, cut anywhere; `advance` draws it."""
        self._waiting += self._strings.feed(data)
        if len(self._waiting) > MAX_WAITING_BYTES:
            self._skip()

    def advance(self, budget_s: float = FRAME_BUDGET_S) -> bool:
        """Draw for at most about `budget_s` seconds; say whether everything is drawn."""
        end = self._clock() + budget_s
        while True:
            for count, token in enumerate(self._tokens, 1):
                self._stream.take(token)
                if count % _TOKENS_PER_LOOK == 0 and self._clock() >= end:
                    self._is_idle = False
                    return False
            self._is_idle = True
            if not self._next_piece():
                return True

    def _next_piece(self) -> bool:
        """Make tokens of the next bytes, up to the last whole sequence; say whether there are any."""
        piece = bytes(self._waiting[:_PIECE_BYTES])
        open_sequence = _OPEN_SEQUENCE.search(piece)
        cut = open_sequence.start() if open_sequence else len(piece)
        if cut == 0:
            if len(piece) < min(_PIECE_BYTES, _MAX_OPEN_BYTES):
                return False
            cut = len(piece)  # nothing but one endless sequence
        del self._waiting[:cut]
        self._tokens = tokens(self._decoder.decode(piece[:cut]))
        return True

    def _skip(self) -> None:
        """Forget all but the newest bytes, and of what is forgotten keep what switches screens and regions."""
        dropped, kept = self._waiting[:-KEPT_BYTES], self._waiting[-KEPT_BYTES:]
        # Half a sequence or half a character at the cut would show as rubbish.
        start = _START.search(kept, 0, _START_BYTES)
        if start is not None:
            cut = start.start() or (start.end() if kept[0] >= 0x80 else 0)
            dropped += kept[:cut]
            del kept[:cut]
        self.skipped += len(dropped)
        self._decoder.reset()
        self._waiting = bytearray(b"".join(_MODES.findall(dropped)[-_MAX_MODES:])) + kept

    # Lines

    @property
    def first_line(self) -> int:
        """Number of the first line that is kept; the alternate screen stands alone."""
        return self._top if self.screen.in_alternate_screen else self._scrollback.first_line

    @property
    def end_line(self) -> int:
        """One past the number of the last row that holds something."""
        return self._top + self.screen.used_rows

    def line(self, number: int) -> LineCells:
        """Return a line; IndexError outside of `range(first_line, end_line)`."""
        if not self.first_line <= number < self.end_line:
            raise IndexError(number)
        return self._scrollback.line(number) if number < self._top else self.screen.row(number - self._top)

    def page_top(self, height: int) -> int | None:
        """Return the line at which a window of `height` rows begins; None when rows are wrapped and followed.

        The window begins with the screen unless the cursor stands below it.
        """
        if not (self.screen.is_page or self.screen.in_alternate_screen):
            return None
        below = 0 if self.screen.cursor.hidden else self.screen.cursor.y + 1 - height
        return self._top + max(0, below)

    def matching(self, wanted: str) -> Iterator[list[int]]:
        """Yield the numbers of lines that hold `wanted`, which is in lower case, for one block after the other."""
        if not self.screen.in_alternate_screen:
            yield from self._scrollback.matching(wanted)
        rows = range(self.screen.used_rows)
        yield [self._top + y for y in rows if wanted in self.screen.row(y).text.lower()]

    @property
    def _top(self) -> int:
        return self._scrollback.end_line

    def _keep_row(self, row: LineCells) -> None:
        text = "".join(
            run if sgr == PLAIN else f"{sgr_sequence(sgr)}{run}{sgr_sequence(PLAIN)}" for run, sgr in row.spans()
        )
        self._scrollback.feed(text.encode("utf-8", "replace") + b"\n")
