"""Finds out how a file's bytes stand for text, chunk by chunk, and decodes them without losing one."""

import codecs

import msgspec

from smith_core.patterns import later

SNIFF_BYTES = 8_000
"""Leading bytes that decide whether a file is binary; as many as git looks at."""
BINARY_SHARE = 0.05
"""Share of control characters (or of undecodable ones) in the first bytes from which a file is no text."""

_MARKS = (
    # The mark of UTF-32 LE begins with that of UTF-16 LE, so it is tried first.
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32 LE with BOM"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32 BE with BOM"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 LE with BOM"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 BE with BOM"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with BOM"),
)
_CONTROL = later("[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_ESCAPED_BYTE = later("[\udc80-\udcff]")
_C1_ESCAPED = frozenset(map(chr, range(0xDC80, 0xDCA0)))
_UNDEFINED_IN_1252 = frozenset("\udc81\udc8d\udc8f\udc90\udc9d")


class TextFormat(msgspec.Struct, frozen=True):
    """How a file stores text: its encoding in words, Python's codec for it, and the mark at offset 0 ("" without one).

    is_damaged: some bytes do not decode, so they are shown as U+FFFD.
    """

    name: str
    codec: str
    bom: bytes = b""
    is_damaged: bool = False

    @property
    def unit_bytes(self) -> int:
        """Return how many bytes one code unit has: 1, 2 or 4."""
        return len("\n".encode(self.codec))

    def decode(self, data: bytes) -> str:
        """Return the text of a piece that has no mark; bytes that do not decode become U+FFFD."""
        return data.decode(self.codec, "replace")


UTF8 = TextFormat("UTF-8", "utf-8")


class TextDecoder:
    """Decodes a file as its chunks come; its format is known for certain after `finish`.

    The first chunk has at least SNIFF_BYTES bytes unless the file is shorter. Bytes that are no UTF-8 come out as
    lone surrogates (PEP 383) until `shown` gives them their meaning.
    """

    def __init__(self) -> None:
        self._decoder: codecs.IncrementalDecoder | None = None
        self._format = UTF8
        self._is_binary = False
        self._has_controls = False
        self._bytes = 0
        self._chars = 0
        self._undecodable = 0
        self._escaped: set[str] = set()

    def feed(self, chunk: bytes) -> str:
        """Return the text of the next chunk, without the byte-order mark."""
        if self._decoder is not None:
            return self._decode(self._decoder, chunk)
        self._format = _marked_format(chunk)
        wide = self._format.unit_bytes > 1
        self._decoder = codecs.getincrementaldecoder(self._format.codec)("replace" if wide else "surrogateescape")
        text = self._decode(self._decoder, chunk[len(self._format.bom) :])
        head = text[:SNIFF_BYTES]
        limit = len(head) * BINARY_SHARE
        self._has_controls = len(_CONTROL.findall(head)) > limit
        self._is_binary = "\0" in head or (wide and head.count("\ufffd") > limit)
        return text

    def finish(self) -> str:
        """Return the text of what was held back, a character cut short by the end of the file."""
        return self._decode(self._decoder, b"", final=True) if self._decoder else ""

    @property
    def format(self) -> TextFormat | None:
        """The format by all that was fed, None for a binary file."""
        if self._is_binary:
            return None
        if not self._undecodable:
            return self._format
        # Every multi-byte character adds to this difference and no stray byte does. Text in a one-byte encoding
        # hardly ever has the pairs of bytes that make a valid UTF-8 character.
        multibyte_surplus = self._bytes - self._chars
        if self._format.bom or multibyte_surplus >= self._undecodable:
            return msgspec.structs.replace(
                self._format, name=f"{self._format.name}, partly not decodable", is_damaged=True
            )
        if self._has_controls:
            return None
        if self._escaped & _C1_ESCAPED and not self._escaped & _UNDEFINED_IN_1252:
            return TextFormat("Windows-1252", "cp1252")
        return TextFormat("Latin-1", "latin-1")

    def shown(self, text: str) -> str:
        """Return text that `feed` gave, decoded by the final format; bytes that do not decode become U+FFFD."""
        if text.isascii():
            return text
        final = self.format or UTF8
        if final.unit_bytes > 1:
            return text
        return final.decode(text.encode("utf-8", "surrogateescape"))

    def _decode(self, decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> str:
        text = decoder.decode(chunk, final)
        self._bytes += len(chunk)
        self._chars += len(text)
        if not text.isascii():
            if self._format.unit_bytes > 1:
                self._undecodable += text.count("\ufffd")
            else:
                found = _ESCAPED_BYTE.findall(text)
                self._undecodable += len(found)
                self._escaped.update(found)
        return text


def detect_format(data: bytes) -> TextFormat | None:
    """Return the format of a whole file, None when it is binary."""
    decoder = TextDecoder()
    decoder.feed(data)
    decoder.finish()
    return decoder.format


def _marked_format(head: bytes) -> TextFormat:
    for mark, codec, name in _MARKS:
        if head.startswith(mark):
            return TextFormat(name, codec, mark)
    return UTF8
