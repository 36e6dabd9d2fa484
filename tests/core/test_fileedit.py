import codecs
import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from smith_core.fileedit import EditedFile, EditRefusedError, LineEdit, Operation, apply_edit, split_text
from smith_core.linediff import diff_lines, unified_diff
from smith_core.textformat import detect_format
from tests.support.file_tools import apply_diff

ENDINGS = ("\n", "\r\n", "\r")


def _edit(data: bytes, operation: Operation, first: int, last: int | None = None, text: str = "") -> bytes:
    return apply_edit(data, LineEdit(operation, first, first if last is None else last, text)).data


@pytest.mark.parametrize(
    ("data", "arguments", "expected"),
    [
        (b"one\r\ntwo\nthree\r\nfour\n", ("replace", 2, 2, "TWO"), b"one\r\nTWO\nthree\r\nfour\n"),
        (b"a\r\nb\r\nc\r\n", ("insert", 1, None, "x"), b"a\r\nx\r\nb\r\nc\r\n"),
        (b"a\r\nx\r\nb\r\nc\r\n", ("delete", 2), b"a\r\nb\r\nc\r\n"),
        (b"a\rb\r", ("replace", 2, 2, "B"), b"a\rB\r"),
        (b"a\rb\r", ("insert", 0, None, "x\ny"), b"x\ry\ra\rb\r"),
        # the text's own endings are adapted, and one at its end makes no line
        (b"a\r\nb\r\n", ("replace", 1, 1, "x\ny\n"), b"x\r\ny\r\nb\r\n"),
        (b"a\nb\n", ("replace", 1, 1, "x\r\ny\r\n"), b"x\ny\nb\n"),
        (b"a\nb\n", ("replace", 1, 1, "x\ry"), b"x\ny\nb\n"),
        (b"a\nb\n", ("insert", 2, None, "x\n\n"), b"a\nb\nx\n\n"),
        (b"a\nb\n", ("insert", 1, None, "\n"), b"a\n\nb\n"),
        # mixed endings: each new line takes the one of the line in whose place it comes
        (b"a\r\nb\nc\rd\n", ("replace", 1, 3, "A\nB\nC"), b"A\r\nB\nC\rd\n"),
        (b"a\r\nb\nc\r\nd\n", ("replace", 1, 3, "A\nB"), b"A\r\nB\r\nd\n"),
        (b"a\r\nb\nc\n", ("replace", 1, 1, "A\nB\nC"), b"A\r\nB\r\nC\r\nb\nc\n"),
        # a missing last newline stays missing
        (b"a\nb", ("replace", 2, 2, "B\n"), b"a\nB"),
        (b"a\r\nb", ("replace", 2, 2, "B\nC"), b"a\r\nB\r\nC"),
        (b"a\r\nb", ("insert", 2, None, "c\nd"), b"a\r\nb\r\nc\r\nd"),
        (b"a", ("insert", 1, None, "b"), b"a\nb"),
        (b"a", ("insert", 0, None, "b"), b"b\na"),
        # … unless the last line is empty, which needs one to be a line
        (b"a\r\nb", ("insert", 2, None, "\n"), b"a\r\nb\r\n\r\n"),
        (b"a\nb", ("replace", 2, 2, "\n"), b"a\n\n"),
        (b"a", ("replace", 1, 1, "x\ny"), b"x\ny"),
        (b"a\nb", ("delete", 2), b"a\n"),
        (b"a\nb", ("delete", 1), b"b"),
        # nothing left, nothing there
        (b"a\r\nb\r\n", ("delete", 1, 2), b""),
        (b"a\nb\n", ("replace", 1, 2, ""), b""),
        (b"", ("insert", 0, None, "x"), b"x\n"),
        (b"", ("insert", 0, None, "x\r\ny\r\n"), b"x\ny\n"),
        (b"\n", ("replace", 1, 1, "x"), b"x\n"),
        # no line ends but CR and LF
        ("a\u2028b\x0bc\x0cd\x85e\nf\n".encode(), ("replace", 2, 2, "F"), "a\u2028b\x0bc\x0cd\x85e\nF\n".encode()),
        (b"a\nb\n", ("replace", 1, 1, "x\x0c\u2028y"), "x\x0c\u2028y\nb\n".encode()),
    ],
)
def test_b09_only_the_named_lines_change(data: bytes, arguments: tuple, expected: bytes) -> None:
    assert _edit(data, *arguments) == expected


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "arguments", "expected"),
    [
        (BOM + b"alpha\nbeta\n", ("replace", 1, 1, "ALPHA"), BOM + b"ALPHA\nbeta\n"),
        (BOM + b"ALPHA\nbeta\n", ("replace", 2, 2, "BETA"), BOM + b"ALPHA\nBETA\n"),
        (BOM + b"ALPHA\nBETA\n", ("insert", 0, None, "top"), BOM + b"top\nALPHA\nBETA\n"),
        (BOM + b"a\n", ("replace", 1, 1, "\ufeffA"), BOM + b"A\n"),
        (b"a\n", ("insert", 0, None, "\ufeffA"), b"A\na\n"),
        (BOM + b"a\n", ("delete", 1), BOM),
        (BOM, ("insert", 0, None, "a"), BOM + b"a\n"),
        (b"caf\xe9\nok\n", ("replace", 2, 2, "OK"), b"caf\xe9\nOK\n"),
        (b"caf\xe9\nok\n", ("replace", 2, 2, "\u00fc"), b"caf\xe9\n\xfc\n"),
        (b"\x93a\x94\nb\n", ("replace", 2, 2, "\u2026"), b"\x93a\x94\n\x85\n"),
        (
            "\u00e9\u00e9\n".encode() + b"\xff\nok\n",
            ("replace", 3, 3, "\u00fc"),
            "\u00e9\u00e9\n".encode() + b"\xff\n\xc3\xbc\n",
        ),
        ("\ufffd\nb\n".encode(), ("replace", 2, 2, "\ufffd"), "\ufffd\n\ufffd\n".encode()),
        (b"a\n", ("replace", 1, 1, "\ud83d\ude00"), "\U0001f600\n".encode()),
    ],
)
def test_b10_mark_and_encoding_stay(data: bytes, arguments: tuple, expected: bytes) -> None:
    assert _edit(data, *arguments) == expected


@pytest.mark.parametrize(
    "mark,codec",
    [
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_b10_wide_encodings_are_edited_in_kind(mark: bytes, codec: str) -> None:
    # U+0A0D, U+0D0A and U+0A00 hold the bytes of line endings without being any
    text = "a\u0a0d\r\n\u0d0a\u0a00\U0001f600\r\nlast"
    data = mark + text.encode(codec)
    assert _edit(data, "replace", 2, 2, "\u00fc\nx") == mark + "a\u0a0d\r\n\u00fc\r\nx\r\nlast".encode(codec)
    assert _edit(data, "insert", 3, None, "more") == mark + (text + "\r\nmore").encode(codec)


@pytest.mark.parametrize(
    ("data", "arguments", "word"),
    [
        (b"caf\xe9\nok\n", ("replace", 2, 2, "\u20ac\u4e2d"), "Latin-1"),
        (b"caf\xe9\nok\n", ("replace", 2, 2, "caf\ufffd"), "U+FFFD"),
        ("\u00e9\u00e9\n".encode() + b"\xff\n", ("replace", 2, 2, "\ufffd"), "U+FFFD"),
        (b"a\n", ("replace", 1, 1, "x\ufffd"), "U+FFFD"),
        (b"a\n", ("replace", 1, 1, "x\ud83d"), "surrogate"),
        (b"\xff\xfea\0\n", ("replace", 1, 1, "x"), "middle"),
        (b"\x89PNG\r\n\x1a\n\0", ("replace", 1, 1, "x"), "binary"),
        (b"a\n", ("replace", 1, 1, "x\0y"), "NUL"),
        (b"a\n", ("insert", 0, 0, "\0"), "NUL"),
        (b"a\nb\n", ("replace", 2, 3, "x"), "2 lines"),
        (b"a\nb\n", ("delete", 3, 3), "1 to 2"),
        (b"a\nb\n", ("insert", 3, None, "x"), "0 to 2"),
        (b"", ("replace", 1, 1, "x"), "insert"),
        # CR and LF of two lines would become one line ending
        (b"a\rb\n\n", ("delete", 2), "join"),
        (b"a\rb\n\n", ("replace", 2, 2, "\n"), "join"),
        (b"a\rb\n", ("replace", 1, 2, "\n\n"), "join"),
        (b"a\r\r\nb\n", ("insert", 0, None, "x"), None),
    ],
)
def test_b10_what_cannot_be_kept_is_refused(data: bytes, arguments: tuple, word: str | None) -> None:
    if word is None:
        assert _edit(data, *arguments).endswith(data)
        return
    with pytest.raises(EditRefusedError, match=re.escape(word)):
        _edit(data, *arguments)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\n\r\n", ["a", ""]),
        ("a\rb", ["a", "b"]),
        ("\n\n", ["", ""]),
    ],
)
def test_last_newline_of_a_text_adds_no_line(text: str, lines: list[str]) -> None:
    assert split_text(text) == lines


CODECS = {
    "utf-8": b"",
    "utf-8-sig": BOM,
    "latin-1": b"",
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
CONTENT = st.text(alphabet="abc \t\u00e9\u00fc\x0b\x0c\x85\u00a0", max_size=5)
WIDE_CONTENT = st.text(alphabet="ab\u0a0d\u0d0a\u0a0a\u2028\U0001f600\u00e9", max_size=5)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, str, list[tuple[str, str]]]:
    codec = draw(st.sampled_from(sorted(CODECS)))
    content = CONTENT if codec == "latin-1" else WIDE_CONTENT
    endings = draw(st.sampled_from([("\n",), ("\r\n",), ("\r",), ENDINGS]))
    text = "".join(draw(st.lists(st.tuples(content, st.sampled_from(endings)).map("".join), max_size=8)))
    text += draw(st.just("") | content)
    lines = [(a or c, b) for a, b, c in re.findall("([^\r\n]*)(\r\n|\r|\n)|([^\r\n]+)$", text)]
    plain = "utf-8" if codec == "utf-8-sig" else codec
    return CODECS[codec] + text.encode(plain), plain, lines


@settings(deadline=None)
@given(files(), st.data())
def test_edit_equals_the_same_edit_on_a_list_of_lines(file: tuple, data: st.DataObject) -> None:
    content, codec, lines = file
    found = detect_format(content)
    assume(found is not None and found.codec == codec)
    operation: Operation = data.draw(st.sampled_from(["replace", "insert", "delete"] if lines else ["insert"]))
    start = data.draw(st.integers(0, len(lines)) if operation == "insert" else st.integers(1, len(lines)))
    end = start if operation == "insert" else data.draw(st.integers(start, len(lines)))
    new = (
        []
        if operation == "delete"
        else data.draw(st.lists(st.text("xy\u00e9\x0c", max_size=3), min_size=1, max_size=4))
    )
    joiner = data.draw(st.sampled_from(ENDINGS))
    text = joiner.join(new) + (joiner if new and (not new[-1] or data.draw(st.booleans())) else "")
    before = start if operation == "insert" else start - 1
    try:
        edited = apply_edit(content, LineEdit(operation, start, end, text))
    except EditRefusedError as error:
        assert "join" in str(error)
        assert {ending for _, ending in lines} >= {"\r"}
        return
    mark = content[: len(found.bom)]
    head = "".join(line + ending for line, ending in lines[:before]).encode(codec)
    tail = "".join(line + ending for line, ending in lines[end:]).encode(codec)
    assert edited.data.startswith(mark + head)
    assert edited.data.endswith(tail)
    body = edited.data[len(mark) :].decode(codec)
    got = re.findall("([^\r\n]*)(\r\n|\r|\n)|([^\r\n]+)$", body)
    assert [a or c for a, _, c in got] == [line for line, _ in lines[:before]] + new + [line for line, _ in lines[end:]]
    if not new or new[-1]:
        _check_endings([ending for _, ending, _ in got], [ending for _, ending in lines], before, end, len(new))
    _check_figures(edited, content, codec, before, end, len(new), len(lines))


def _check_endings(got: list[str], old: list[str], before: int, end: int, count: int) -> None:
    used = {ending for ending in old if ending} or {"\n"}
    assert set(got) - {""} <= used
    if old and end == len(old) and count:
        assert got[-1] == old[-1], "the end of the file is as open or as closed as before"
    elif old:
        assert got[before + count :] == old[end:]


def _check_figures(
    edited: EditedFile, content: bytes, codec: str, before: int, end: int, count: int, line_count: int
) -> None:
    assert (edited.first, edited.count) == (before + 1, count)
    assert edited.line_delta == count - (end - before)
    assert edited.line_count == line_count + edited.line_delta
    mark = len(content) - len(content.removeprefix(CODECS[codec] or BOM))
    old_lines, new_lines = (diff_lines(data[mark:].decode(codec)) for data in (content, edited.data))
    diff = unified_diff(edited.old_window, edited.new_window, "f", first_line=edited.window_first)
    assert apply_diff(old_lines, diff) == new_lines


@settings(deadline=None)
@example(b"\0\0\xfe\xff", 0, 0, "insert")
@given(st.binary(max_size=60), st.integers(0, 5), st.integers(0, 5), st.sampled_from(["replace", "insert", "delete"]))
def test_any_bytes_are_edited_faithfully_or_refused(data: bytes, first: int, more: int, operation: Operation) -> None:
    first = max(first, operation != "insert")
    last = first if operation == "insert" else first + more
    try:
        edited = _edit(data, operation, first, last, "" if operation == "delete" else "NEW")
    except EditRefusedError:
        return
    new = edited
    for wide in (b"N\0\0\0E\0\0\0W\0\0\0", b"\0\0\0N\0\0\0E\0\0\0W", b"N\0E\0W\0", b"\0N\0E\0W"):
        new = new.replace(wide, b"NEW")
    head, found, tail = new.partition(b"NEW")
    assert bool(found) == (operation != "delete")
    if found:
        assert data.startswith(head.rstrip(b"\r\n\0"))
        assert data.endswith(tail.lstrip(b"\r\n\0"))
        assert b"\xef\xbf\xbd" not in new or b"\xef\xbf\xbd" in data
