"""Edit, byte fidelity: whatever is not edited stays as it was, to the byte (B09, B10)."""

from pathlib import Path

from tests.support.file_tools import assert_refused, edit, read, sha256


async def test_b09_line_endings_of_other_lines_stay(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"one\r\ntwo\nthree\r\nfour\n")
    outcome = await edit(tmp_path, "f", "replace", 2, 2, text="TWO")
    assert target.read_bytes() == b"one\r\nTWO\nthree\r\nfour\n"
    assert (outcome.metadata.line_delta, outcome.metadata.new_hash) == (0, sha256(target))
    target.write_bytes(b"a\r\nb\r\nc\r\n")
    outcome = await edit(tmp_path, "f", "insert", 1, text="x")
    assert target.read_bytes() == b"a\r\nx\r\nb\r\nc\r\n"
    assert outcome.metadata.line_delta == 1
    outcome = await edit(tmp_path, "f", "delete", 2, hash=outcome.metadata.new_hash)
    assert target.read_bytes() == b"a\r\nb\r\nc\r\n"
    assert outcome.metadata.line_delta == -1
    target.write_bytes(b"a\rb\r")
    assert (await edit(tmp_path, "f", "replace", 1, text="A")).ok
    assert target.read_bytes() == b"A\rb\r"


async def test_b10_byte_order_mark_stays_once(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"\xef\xbb\xbfalpha\nbeta\n")
    assert "\ufeff" not in (await read(tmp_path, "f")).content
    assert (await edit(tmp_path, "f", "replace", 1, 1, text="ALPHA")).ok
    assert (await edit(tmp_path, "f", "replace", 2, 2, text="BETA\n")).ok
    assert target.read_bytes() == b"\xef\xbb\xbfALPHA\nBETA\n"
    assert (await edit(tmp_path, "f", "insert", 0, text="\ufefftop")).ok
    assert target.read_bytes() == b"\xef\xbb\xbftop\nALPHA\nBETA\n"


async def test_b10_other_encodings_are_kept_or_refused(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"caf\xe9\nok\n")
    assert (await edit(tmp_path, "f", "replace", 2, 2, text="\u00fcber")).ok
    assert target.read_bytes() == b"caf\xe9\n\xfcber\n"
    assert_refused(await edit(tmp_path, "f", "replace", 2, 2, text="\u4e2d"), "Latin-1")
    assert_refused(await edit(tmp_path, "f", "replace", 2, 2, text="\ufffd"), "U+FFFD")
    assert target.read_bytes() == b"caf\xe9\n\xfcber\n"
    target.write_bytes("\ufeffone\r\ntwo\r\n".encode("utf-16-le"))
    assert (await edit(tmp_path, "f", "replace", 2, 2, text="\u4e2d")).ok
    assert target.read_bytes() == "\ufeffone\r\n\u4e2d\r\n".encode("utf-16-le")
    target.write_bytes(b"\0\1\2")
    assert_refused(await edit(tmp_path, "f", "replace", 1, 1, text="x"), "binary")
