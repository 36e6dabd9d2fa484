"""The body of an answer: unpacked in bounded steps, and told apart into text and everything else."""

import zlib
from collections.abc import Iterator

ACCEPTED_ENCODINGS = "gzip, deflate"
"""What is asked for: packings that the standard library unpacks with a bound on each step."""

_STEP_BYTES = 256 * 1024
_EITHER_HEADER = 32 + zlib.MAX_WBITS
_HEADER_BYTES = 2
SNIFF_BYTES = 1024

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n", "image/png"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf", "application/x-7z-compressed"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x7fELF", "application/x-executable"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"wOF", "font/woff"),
    (b"SQLite format 3", "application/vnd.sqlite3"),
)
_BINARY_FAMILIES = ("image/", "audio/", "video/", "font/")
_TEXT_APPLICATIONS = ("json", "xml", "javascript", "ecmascript", "yaml", "toml", "x-sh", "x-httpd-php", "sql", "rtf")
_WIDE = ("utf-16", "utf-32", "ucs-2")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")


class UnknownEncodingError(Exception):
    """The body is packed in a way that was not asked for."""


class DamagedBodyError(Exception):
    """The body cannot be unpacked further."""


class BodyDecoder:
    """Unpacks a body piece by piece; no step makes more than 256 KB of it."""

    def __init__(self, encoding: str) -> None:
        """Take the value of Content-Encoding; raise UnknownEncodingError for one that was not asked for."""
        self._encoding = encoding.strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise UnknownEncodingError(self._encoding)
        self.is_packed = self._encoding not in ("", "identity")
        self._unpacker = zlib.decompressobj(_EITHER_HEADER)
        self._start = b""
        self._has_begun = self._encoding != "deflate"

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what a piece of the body unpacks to; raise DamagedBodyError where that is impossible."""
        if not self.is_packed:
            yield data
            return
        if not self._has_begun:
            self._start += data
            if len(self._start) < _HEADER_BYTES:
                return
            self._has_begun, data = True, self._start
            # Some servers send deflate without the header that belongs to it (RFC 1950, section 2.2).
            if data[0] & 0x0F != zlib.DEFLATED or int.from_bytes(data[:_HEADER_BYTES]) % 31:
                self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        while data:
            try:
                out = self._unpacker.decompress(data, _STEP_BYTES)
            except zlib.error as error:
                raise DamagedBodyError(str(error)) from error
            data = self._unpacker.unconsumed_tail
            if self._unpacker.eof:
                data = self._unpacker.unused_data
                self._unpacker = zlib.decompressobj(_EITHER_HEADER)
            if out:
                yield out


def media_type_of(content_type: str) -> str:
    """Return the type in a Content-Type header, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def charset_of(content_type: str) -> str:
    """Return the charset parameter of a Content-Type header, or ""."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")[:40]
    return ""


def binary_type(media_type: str, charset: str, start: bytes) -> str:
    """Return the type of a body that is no text, as its first bytes or its header say it; "" for text."""
    for magic, name in _MAGIC:
        if start.startswith(magic):
            return name
    if media_type.startswith(_BINARY_FAMILIES) and not media_type.endswith("+xml"):
        return media_type
    is_wide = charset.lower().startswith(_WIDE) or start.startswith(_WIDE_MARKS)
    if b"\0" in start and not is_wide:
        return media_type or "application/octet-stream"
    if media_type in ("", "application/octet-stream", "binary/octet-stream") or media_type.startswith("text/"):
        return ""
    kind = media_type.partition("/")[2]
    if media_type.startswith("application/") and not any(word in kind for word in _TEXT_APPLICATIONS):
        return media_type if any(byte >= 0x80 for byte in start) else ""
    return ""


def is_html(media_type: str, start: bytes) -> bool:
    """Whether a text is a page of HTML, by its type or, without one, by its beginning."""
    if media_type in ("text/html", "application/xhtml+xml"):
        return True
    opening = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:15].lower()
    return media_type in ("", "application/octet-stream") and opening.startswith((b"<!doctype html", b"<html"))
