import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.textformat import SNIFF_BYTES, TextDecoder, detect_format

PNG = b"\x89PNG\r\n\x1a\n\0" + bytes(1015)


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        (b"", "UTF-8", ""),
        (b"plain\n", "UTF-8", "plain\n"),
        ("gr\u00fc\u00df \U0001f600".encode(), "UTF-8", "gr\u00fc\u00df \U0001f600"),
        (b"\xef\xbb\xbfa", "UTF-8 with BOM", "a"),
        (b"\xff\xfea\0\xe9\0", "UTF-16 LE with BOM", "a\u00e9"),
        (b"\xfe\xff\0a\xd8\x3d\xde\x00", "UTF-16 BE with BOM", "a\U0001f600"),
        (b"\xff\xfe\0\0a\0\0\0", "UTF-32 LE with BOM", "a"),
        (b"caf\xe9\n", "Latin-1", "caf\u00e9\n"),
        (b"\x93quoted\x94\n", "Windows-1252", "\u201cquoted\u201d\n"),
        (b"\x81 is undefined there\n", "Latin-1", "\x81 is undefined there\n"),
        ("stra\u00dfe\n".encode() + b"cut \xc3", "UTF-8, partly not decodable", "stra\u00dfe\ncut \ufffd"),
        (b"\xef\xbb\xbfa\xff", "UTF-8 with BOM, partly not decodable", "a\ufffd"),
        (b"\xff\xfea\0b", "UTF-16 LE with BOM, partly not decodable", "a\ufffd"),
        (b"\x1b[31mred\x1b[0m \xe9\n", "Latin-1", "\x1b[31mred\x1b[0m \u00e9\n"),
    ],
)
def test_text_is_decoded_and_its_encoding_named(data: bytes, name: str, text: str) -> None:
    decoder = TextDecoder()
    fed = decoder.feed(data) + decoder.finish()
    assert decoder.format is not None
    assert (decoder.format.name, decoder.shown(fed)) == (name, text)


@pytest.mark.parametrize(
    "data",
    [
        PNG,
        b"\0",
        b"text then \0",
        gzip.compress(random.Random(7).randbytes(3000), mtime=0),
        b"\xff\xfe\0\0" + bytes(40),
        b"\xff\xfe" + b"\0\xdc" * 50,
        bytes(range(1, 256)) * 3,
    ],
    ids=["png", "nul", "text-nul", "gzip", "zeros-behind-mark", "halves-behind-mark", "all-bytes"],
)
def test_b04_binary_is_recognised(data: bytes) -> None:
    assert detect_format(data) is None


@settings(deadline=None)
@given(st.binary(max_size=400) | st.text().map(str.encode), st.integers(1, 9))
def test_format_and_text_do_not_depend_on_the_chunks(tail: bytes, size: int) -> None:
    data = b"x" * SNIFF_BYTES + tail
    whole, chunked = TextDecoder(), TextDecoder()
    expected = whole.feed(data) + whole.finish()
    got = chunked.feed(data[:SNIFF_BYTES])
    for start in range(SNIFF_BYTES, len(data), size):
        got += chunked.feed(data[start : start + size])
    got += chunked.finish()
    assert (got, chunked.format) == (expected, whole.format)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_shown_text_of_any_bytes_can_be_encoded(data: bytes) -> None:
    decoder = TextDecoder()
    decoder.shown(decoder.feed(data) + decoder.finish()).encode("utf-8")
