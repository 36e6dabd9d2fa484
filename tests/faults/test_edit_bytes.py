"""Edit, byte fidelity: whatever is not edited stays as it was, to the byte (B09, B10)."""

import re
from pathlib import Path

from tests.support.file_tools import assert_refused, edit, read, sha256
from tests.support.model_steps import call_tools
from tests.support.seat import Seat


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


FILES: dict[str, tuple[bytes, int, bytes]] = {
    "mixed ends": (b"one\r\ntwo\nthree\r\nfour\n", 2, b"one\r\nTWO\nthree\r\nfour\n"),
    "mark": (b"\xef\xbb\xbfalpha\nbeta\n", 1, b"\xef\xbb\xbfTWO\nbeta\n"),
    "UTF-16BE": ("\ufeffa\r\nb\r\n".encode("utf-16-be"), 2, "\ufeffa\r\nTWO\r\n".encode("utf-16-be")),
    "Latin-1": (b"caf\xe9\nok\n", 2, b"caf\xe9\nTWO\n"),
    "no last end": (b"a\r\nb", 2, b"a\r\nTWO"),
    "other breaks": ("a\x0bb\x0cc\u2028d\x85e\n2\n".encode(), 2, "a\x0bb\x0cc\u2028d\x85e\nTWO\n".encode()),
    "tabs and blanks": (b"\t a \t\r\n \r\n\r\n", 2, b"\t a \t\r\nTWO\r\n\r\n"),
}


def test_b09_b10_edits_of_the_running_app_leave_every_other_byte_alone(seat: Seat) -> None:
    names = [f"file {number}" for number in range(len(FILES))]
    for name, (content, _, _) in zip(names, FILES.values(), strict=True):
        (seat.project / name).write_bytes(content)
    seat.ask("read them", call_tools(*(("read", {"path": name}) for name in names)))
    assert not any("\ufeff" in result for result in seat.results())
    hashes = [re.search(r"hash: (\w{64})", result) for result in seat.results()]
    edits = [
        {"path": name, "operation": "replace", "start_line": line, "text": "TWO", "hash": found[1] if found else ""}
        for name, found, (_, line, _) in zip(names, hashes, FILES.values(), strict=True)
    ]
    screen = seat.ask("edit them", call_tools(*(("edit", edit) for edit in edits)))
    after = {way: (seat.project / name).read_bytes() for name, way in zip(names, FILES, strict=True)}
    assert after == {way: expected for way, (_, _, expected) in FILES.items()}
    assert screen.count("TWO") >= 2
