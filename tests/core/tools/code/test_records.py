from hypothesis import given
from hypothesis import strategies as st

from smith_core.tools.code.records import COLUMNS, BinaryNote, FoundLine, read_records

_PATHS = st.binary(min_size=1, max_size=20).filter(lambda path: b"\0" not in path and b"(found" not in path)
_TEXTS = st.binary(max_size=40).filter(lambda text: b"\0" not in text and b"\n" not in text)
_LINES = st.lists(st.tuples(_PATHS, st.integers(1, 10**9), st.integers(0, 99), st.integers(0, 10**12), _TEXTS))


@given(_LINES, st.integers(1, 50))
def test_every_line_is_read_whatever_name_and_text_hold_and_wherever_it_is_cut(
    lines: list[tuple[bytes, int, int, int, bytes]], size: int
) -> None:
    printed = b""
    for path, number, column, offset, text in lines:
        head = b"%d:%d:%d:" % (number, column, offset) if column else b"%d-%d-" % (number, offset)
        printed += b"./" + path + b"\0" + head + text + b"\n"
    chunks = [printed[start : start + size] for start in range(0, len(printed), size)]
    found = [record for record in read_records(chunks) if isinstance(record, FoundLine)]
    assert [(line.number, line.column, line.offset) for line in found] == [line[1:4] for line in lines]
    assert [line.text for line in found] == [line[4].decode("utf-8", "replace").rstrip("\r") for line in lines]


def test_a_note_on_a_binary_file_is_no_line() -> None:
    printed = b'./a.bin: binary file matches (found "\\0" byte around offset 3)\n./b\0' + b"7:1:60:text\n"
    for chunks in ([printed], [printed[:20], printed[20:70], printed[70:]]):
        note, line = read_records(chunks)
        assert isinstance(note, BinaryNote)
        assert line == FoundLine("b", 7, 1, 60, "text")


def test_a_line_longer_than_is_printed_is_known_to_be_cut() -> None:
    (line,) = read_records([b"./f\x001:1:0:" + b"x" * COLUMNS + b" [... 3 more matches]\n"])
    assert isinstance(line, FoundLine) and line.is_cut
    assert line.text == "x" * COLUMNS
