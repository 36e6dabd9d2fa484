"""Bodies of answers: unpacked in bounded steps, told apart, decoded."""

import gzip
import itertools
import sys
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smith_core.tools.foreign_text import ForeignText, without_controls
from smith_core.tools.web.body import (
    BodyDecoder,
    DamagedBodyError,
    UnknownEncodingError,
    binary_type,
    charset_of,
    is_html,
    media_type_of,
)
from smith_core.tools.web.page_reader import choose_charset, title_of, to_markdown


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("x-gzip", gzip.compress), ("deflate", zlib.compress), ("Deflate", raw_deflate),
     ("identity", bytes), ("", bytes)],
)  # fmt: skip
@given(data=st.binary(max_size=3000), cut=st.integers(1, 50))
def test_a_body_comes_out_as_it_went_in_however_it_is_cut(encoding: str, pack: object, data: bytes, cut: int) -> None:
    packed = pack(data)  # type: ignore[operator]
    decoder = BodyDecoder(encoding)
    pieces = [packed[start : start + cut] for start in range(0, len(packed), cut)]
    assert b"".join(out for piece in pieces for out in decoder.feed(piece)) == data


def test_several_gzip_members_are_one_body() -> None:
    decoder = BodyDecoder("gzip")
    assert b"".join(decoder.feed(gzip.compress(b"one ") + gzip.compress(b"two"))) == b"one two"


def test_b29_a_bomb_comes_out_in_small_steps() -> None:
    sizes = [len(piece) for piece in BodyDecoder("gzip").feed(gzip.compress(b" " * 5_000_000))]
    assert sum(sizes) == 5_000_000
    assert max(sizes) <= 256 * 1024


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip, br", "compress"])
def test_b29_a_packing_that_was_not_asked_for_is_not_unpacked(encoding: str) -> None:
    with pytest.raises(UnknownEncodingError, match=encoding):
        BodyDecoder(encoding)


def test_a_damaged_body_is_an_error() -> None:
    packed = bytearray(gzip.compress(b"x" * 1000))
    packed[12] ^= 0xFF
    with pytest.raises(DamagedBodyError):
        list(BodyDecoder("gzip").feed(bytes(packed)))


@pytest.mark.parametrize(
    ("header", "start", "binary"),
    [
        ("text/html; charset=utf-8", b"<p>", ""),
        ("application/json", b'{"a": 1}', ""),
        ("application/vnd.api+json", b"{}", ""),
        ("", b"plain", ""),
        ("application/octet-stream", b"#!/bin/sh\n", ""),
        ("image/svg+xml", b"<svg/>", ""),
        ("text/plain; charset=utf-16", b"\xff\xfea\0", ""),
        ("application/pdf", b"%PDF-1.7\n", "application/pdf"),
        ("text/html", b"%PDF-1.7\n", "application/pdf"),
        ("text/plain", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("image/webp", b"RIFFxxxxWEBP", "image/webp"),
        ("video/mp4", b"text", "video/mp4"),
        ("text/plain", b"a\0b", "text/plain"),
        ("", b"\0\1\2", "application/octet-stream"),
        ("application/x-thing", b"\xf0\x9f", "application/x-thing"),
    ],
)
def test_binary_bodies_are_known_by_their_bytes_and_their_type(header: str, start: bytes, binary: str) -> None:
    assert binary_type(media_type_of(header), charset_of(header), start) == binary


def test_html_is_known_without_a_type() -> None:
    assert is_html("", b"\xef\xbb\xbf \n<!DOCTYPE html><p>")
    assert is_html("application/xhtml+xml", b"")
    assert not is_html("text/plain", b"<html>")


@pytest.mark.parametrize(
    ("declared", "text", "encoding", "chosen"),
    [
        ("utf-8", "héllo", "utf-8", "utf-8"),
        ("", "héllo", "utf-8", "utf-8"),
        ("", "héllo", "utf-8-sig", "utf-8-sig"),
        ("utf-8", "héllo", "utf-16", "utf-16"),
        ("ISO-8859-1", "“café” €", "cp1252", "cp1252"),
        ("shift_jis", "日本語①", "cp932", "cp932"),
        ("gb2312", "汉字囍", "gb18030", "gb18030"),
        ("", '<meta charset="windows-1251"><p>Привет', "cp1251", "cp1251"),
        ("", '<meta http-equiv=x content="text/html; charset=koi8-r">Привет', "koi8-r", "koi8-r"),
        ("", '<meta charset="utf-16"><p>Grüße', "utf-8", "utf-8"),
        ("no-such-charset", "Grüße", "utf-8", "utf-8"),
        ("unicode_escape", "Grüße", "utf-8", "utf-8"),
        ("rot13", "Grüße", "utf-8", "utf-8"),
    ],
)
def test_the_charset_is_found(declared: str, text: str, encoding: str, chosen: str) -> None:
    body = text.encode(encoding)
    assert choose_charset(body, declared, is_html=True) == chosen
    assert body.decode(chosen) == text


@pytest.mark.parametrize(
    ("prose", "encoding"),
    [
        ("Это обычный русский текст, который никто не подписал. ", "cp1251"),
        ("Это обычный русский текст, который никто не подписал. ", "koi8-r"),
        ("Le projet a été créé à l’été dernier; où êtes-vous allés? Ça coûte 3 €. ", "cp1252"),
        ("Zażółć gęślą jaźń. Wszystko będzie dobrze, powiedział łabędź. ", "cp1250"),
        ("これは普通の日本語の文章です。漢字とかなが混ざっています。", "cp932"),
        ("这是一个没有声明编码的普通中文网页，里面有很多汉字。", "gb18030"),
    ],
)
def test_a_body_without_any_sign_is_guessed(prose: str, encoding: str) -> None:
    body = (prose * 20).encode(encoding)
    assert body.decode(choose_charset(body, "", is_html=False)) == prose * 20


def test_a_body_that_is_cut_within_a_character_is_utf8_still() -> None:
    assert choose_charset("naïve €".encode()[:-1], "", is_html=False) == "utf-8"


def test_a_page_becomes_markdown_with_links_that_lead_somewhere() -> None:
    page = """<html><head><title> A &amp; B\n c</title><style>p{}</style></head><body><nav><a href=/n>Nav</a></nav>
    <h1>Head</h1><form><p>See <a href="../x?q=1">that</a>, <a href="javascript:evil()">this</a>.</p></form>
    <script>evil()</script><img src=a.png alt=pic><table><tr><th>k<th>v<tr><td>1<td>2</table></body></html>"""
    text = to_markdown(page, "https://example.org/a/b")
    assert title_of(page) == "A & B c"
    assert "# Head" in text
    assert "[that](https://example.org/x?q=1)" in text
    assert "| 1 | 2 |" in text
    assert not any(word in text for word in ("evil", "p{}", "Nav", "a.png"))
    assert "[Only](https://example.org/n)" in to_markdown("<nav><a href=/n>Only</a></nav>", "https://example.org")


def test_the_page_reader_imports_nothing_of_ours() -> None:
    assert not [name for name in vars(sys.modules[to_markdown.__module__]) if name.startswith("smith")]


@example("\x1bP\x9bé", [])
@given(st.text(alphabet="a\x1b[]31m;\x07\r\n\\Pé\x9b\0", max_size=60), st.lists(st.integers(0, 70), max_size=4))
def test_cleaning_does_not_depend_on_where_the_pieces_are_cut(text: str, cuts: list[int]) -> None:
    data = text.encode()
    cleaner = ForeignText()
    marks = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    cleaned = "".join(cleaner.feed(data[a:b]) for a, b in itertools.pairwise(marks)) + cleaner.finish()
    assert cleaned == without_controls(text)
    assert all(character in "\t\n" or character.isprintable() or character == "␛" for character in cleaned)
