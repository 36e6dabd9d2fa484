"""Reads the body of an answer up to a limit."""

import asyncio
from collections.abc import AsyncIterator

from smith_core.tools.web.body import SNIFF_BYTES, BodyDecoder, binary_type, is_html
from smith_core.tools.web.fetched import Fetched


class BodyReading:
    """Takes in a body up to `max_bytes`; of one that is no text it only counts the bytes.

    declared_size: bytes of the whole body as the server says, -1 if it does not.
    """

    def __init__(self, media_type: str, charset: str, max_bytes: int, declared_size: int = -1) -> None:
        self._media_type = media_type
        self._charset = charset
        self._max_bytes = max_bytes
        self._declared_size = declared_size
        self._start = b""
        self._counted = 0
        self._body = bytearray()

    @property
    def has_begun(self) -> bool:
        """Whether anything came."""
        return self._counted > 0

    async def read(self, pieces: AsyncIterator[bytes], decoder: BodyDecoder) -> str:
        """Read on; return why the body is cut, "" if it is whole."""
        packed_bytes = 0
        async for piece in pieces:
            packed_bytes += len(piece)
            for data in decoder.feed(piece):
                if self._take(data):
                    return ""
                if self._counted > self._max_bytes:
                    return f"it is longer than {self._max_bytes} bytes"
                # Unpacking is work, and more than one step of it comes from one piece.
                await asyncio.sleep(0)
            if packed_bytes > 2 * self._max_bytes:
                return f"it is longer than {self._max_bytes} bytes"
        return ""

    def result(self, address: str, hops: int, cut: str) -> Fetched:
        """Return what was read."""
        binary = self._binary()
        return Fetched(
            address=address,
            media_type=self._media_type,
            charset=self._charset,
            is_html=not binary and is_html(self._media_type, self._start),
            binary=binary,
            size=self._declared_size if cut else max(self._declared_size, self._counted),
            cut=cut,
            hops=hops,
            body=b"" if binary else bytes(self._body),
        )

    def _take(self, data: bytes) -> bool:
        """Take a piece; say whether all that there is to know is known."""
        self._counted += len(data)
        if len(self._start) < SNIFF_BYTES:
            self._start += data[: SNIFF_BYTES - len(self._start)]
        if len(self._start) >= SNIFF_BYTES and self._binary():
            self._body.clear()
            return self._declared_size >= 0
        self._body += data[: self._max_bytes - len(self._body)]
        return False

    def _binary(self) -> str:
        return binary_type(self._media_type, self._charset, self._start)
