"""Finding out from the bytes of a program whether lines can show its output, or only a screen can."""

import re

# Cursor up and down, absolute places, erasing of more than a line, lines and characters moved, regions, and the
# alternate screen. Moves inside a line, colours and modes need no screen; numbers in excess make a sequence unknown.
_ADDRESSING = re.compile(
    rb"\x1b(?:\[[0-9]*(?:[ABEFLMPSTXde@]|;?[0-9]*[Hfr])|\[[0-9;]*J|\[[su]|\[\?(?:47|1047|1049)h|[78DM])"
)
_ALTERNATE = re.compile(rb"\x1b\[\?(?:47|1047|1049)([hl])")
_LONGEST = 16  # bytes of the sequences above, as programs write them


class Addressing:
    """Watches a stream of output, however it is cut into chunks."""

    def __init__(self) -> None:
        self._end = b""
        self.in_alternate_screen = False
        self.bytes_since = 0
        """Bytes that came since the last chunk that addressed the cursor."""

    def feed(self, data: bytes) -> bool:
        """Take more output; say whether something in it addresses the cursor."""
        joined = self._end + data if self._end else data
        self._end = joined[-_LONGEST:] if joined.rfind(b"\x1b", -_LONGEST) >= 0 else b""
        self.bytes_since += len(data)
        if b"\x1b" not in joined or _ADDRESSING.search(joined) is None:
            return False
        for match in _ALTERNATE.finditer(joined):
            self.in_alternate_screen = match[1] == b"h"
        self.bytes_since = 0
        return True
