"""A program of its own that makes text of a fetched body, so that no page can hold up or bring down the app.

    python -I page_reader.py FD

It reads from the descriptor a line of JSON (`charset`, `address`, `html_characters`: how much is taken as HTML, 0 for
other text) and the body behind it, and writes to standard output a line of JSON (`charset`, `title`, `characters`: of
the decoded body) and the text. It imports nothing of Smith.
"""

import codecs
import html
import json
import os
import re
import sys
from typing import Any

CPU_LIMIT_S = 8
_META_BYTES = 4096
_SAMPLE_BYTES = 64 * 1024
_META_CHARSET = re.compile(rb"<meta[^>]{0,400}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,2000})", re.IGNORECASE)
_LINK_TO_NOWHERE = re.compile(r"\]\(<?(?:data|javascript|blob):[^)]*\)", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What browsers read instead, after https://encoding.spec.whatwg.org/#names-and-labels.
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift-jis": "cp932",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "utf-7": "",
    "punycode": "",
    "idna": "",
    "undefined": "",
    "unicode-escape": "",
    "raw-unicode-escape": "",
}
_LIKELY = (
    *("cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "iso8859_2"),
    *("cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949"),
)
"""Encodings in which pages without a declared one are written; more would only be mistaken for these."""


def main() -> None:
    """Read the job, write the text."""
    _limit_cpu()
    job, body = _read_job(int(sys.argv[1]))
    charset = choose_charset(body, job["charset"], is_html=job["html_characters"] > 0)
    text = body.decode(charset, "replace")
    del body
    facts = {"charset": charset.removesuffix("-sig"), "title": "", "characters": len(text)}
    if job["html_characters"]:
        facts["title"] = title_of(text)
        text = to_markdown(text[: job["html_characters"]], job["address"])
    with os.fdopen(os.dup(1), "wb") as output:
        output.write(json.dumps(facts).encode() + b"\n")
        output.write(text.encode("utf-8", "replace"))


def _read_job(descriptor: int) -> tuple[dict[str, Any], bytes]:
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return json.loads(file.readline()), file.read()


def choose_charset(body: bytes, declared: str, *, is_html: bool) -> str:
    """Return Python's name of the encoding: by mark, header, meta element, as UTF-8 if it is that, or by guess."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return name
    meta = _META_CHARSET.search(body[:_META_BYTES]) if is_html else None
    for label in (declared, meta[1].decode("ascii") if meta else ""):
        name = known_charset(label)
        # A meta element that could be read as bytes is no proof of an encoding of two bytes.
        if name and not (label != declared and name.startswith(("utf-16", "utf-32"))):
            return name
    if is_utf8(body):
        return "utf-8"
    return guess_charset(body[:_SAMPLE_BYTES])


def known_charset(label: str) -> str:
    """Return Python's name of an encoding that a server named, "" if it is none for text."""
    try:
        name = codecs.lookup(label.strip().strip("\"'")).name
        "".encode(name)
    except (LookupError, ValueError, UnicodeError):
        return ""
    return _MEANT.get(name.replace("_", "-"), name)


def is_utf8(body: bytes) -> bool:
    """Whether a body, which may end within a character, is UTF-8."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True


def guess_charset(sample: bytes) -> str:
    """Return the most likely encoding of a sample that is not UTF-8."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, steps=5, chunk_size=2048, cp_isolation=list(_LIKELY)))
    # Where several fit equally well it is Western text, which the others can hold as well.
    best = [match.encoding for match in matches if match.chaos <= matches[0].chaos]
    return known_charset("cp1252" if not best or "cp1252" in best else best[0])


def title_of(page: str) -> str:
    """Return the title of an HTML page as one line, "" without one."""
    found = _TITLE.search(page, 0, _SAMPLE_BYTES)
    return " ".join(html.unescape(found[1]).split()) if found else ""


def to_markdown(page: str, address: str) -> str:
    """Return the readable text of a page as markdown, links absolute, without navigation and pictures."""
    import html_to_markdown as library

    def convert(*, is_cleaned: bool) -> str:
        cleaning = library.PreprocessingOptions(
            enabled=is_cleaned, preset="standard", remove_navigation=True, remove_forms=False
        )
        options = library.ConversionOptions(
            base_url=address, extract_metadata=False, skip_images=True, preprocessing=cleaning
        )
        return library.convert(page, options).content or ""

    text = convert(is_cleaned=True).strip() or convert(is_cleaned=False).strip()
    return _LINK_TO_NOWHERE.sub("]", text)


def _limit_cpu() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        return


if __name__ == "__main__":
    main()
