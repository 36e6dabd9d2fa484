"""The process that parses: a program of its own, so that neither the screen waits nor a broken file brings us down.

It reads paths from its input, each ended by NUL, and writes for each one line, the FileSymbols as JSON.
"""

import os
import sys

import msgspec

from smith_core.text import clean_text
from smith_core.tools.code.heuristics import find_symbols
from smith_core.tools.code.languages import language_of
from smith_core.tools.code.symbols import FileSymbols, Symbol

MAX_FILE_BYTES = 1_500_000
MAX_SYMBOLS = 5_000
"""Symbols of one file; a generated file has more, and nobody looks for them."""

_MINIFIED_LINE_BYTES = 20_000
_SAMPLE_BYTES = 100_000
_NICENESS = 5  # the screen goes first


def symbols_of(path: str) -> FileSymbols:
    """Return the symbols of a file, or why there are none; raises nothing."""
    language = language_of(path)
    if language is None or not language.has_symbols:
        return FileSymbols(path, problem="no symbols are known for this kind of file")
    try:
        data = _read(path)
    except OSError as error:
        return FileSymbols(path, problem=f"it cannot be read ({error.strerror or error})")
    lines = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    problem = _unfit(data)
    if problem:
        return FileSymbols(path, problem=problem, lines=lines)
    is_whole = True
    try:
        if language.grammar:
            from smith_core.tools.code.grammars import parse_symbols

            symbols, is_whole = parse_symbols(data, language.grammar)
        else:
            symbols = find_symbols(data.decode("utf-8", "replace"), language.rules)
    except (ValueError, RecursionError, ImportError) as error:
        return FileSymbols(path, problem=f"it cannot be parsed ({error})", lines=lines)
    if len(symbols) > MAX_SYMBOLS:
        problem = f"it has {len(symbols)} symbols, of which the first {MAX_SYMBOLS} are known"
    elif not is_whole:
        problem = "a part of it could not be parsed, so that symbols may be missing"
    return FileSymbols(path, tuple(_clean(symbol) for symbol in symbols[:MAX_SYMBOLS]), problem, lines)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(MAX_FILE_BYTES + 1)


def _unfit(data: bytes) -> str:
    if len(data) > MAX_FILE_BYTES:
        return f"it is larger than {MAX_FILE_BYTES:,} bytes; use code_grep on it"
    sample = data[:_SAMPLE_BYTES]
    if b"\0" in sample and not sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is binary"
    if max(map(len, sample.split(b"\n"))) > _MINIFIED_LINE_BYTES:
        return "it is minified or generated (endless lines); use code_grep on it"
    return ""


def _clean(symbol: Symbol) -> Symbol:
    return msgspec.structs.replace(
        symbol,
        name=clean_text(symbol.name),
        container=clean_text(symbol.container),
        signature=clean_text(symbol.signature),
    )


def main() -> None:
    """Serve until the input ends."""
    os.nice(_NICENESS)
    encoder = msgspec.json.Encoder()
    for raw in sys.stdin.buffer.read().split(b"\0"):
        if raw:
            found = symbols_of(os.fsdecode(raw))
            # The path goes back by its place in the order, since JSON cannot hold all of its bytes.
            line = encoder.encode(msgspec.structs.replace(found, path=""))
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
