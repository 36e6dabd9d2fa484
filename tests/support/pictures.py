"""What a terminal with Kitty graphics makes of the bytes that it is sent: pictures, where they are, and its answers."""

import _posixshmem  # type: ignore[import-not-found]
import base64
import os
import re
import threading
import time
import zlib
from typing import Any, NamedTuple

from tests.support.terminal import Terminal

_SEQUENCE = re.compile(rb"\x1b_G([^\x1b]*)\x1b\\|\x1b\[(\d+);(\d+)H|\x1b\[>q|\x1b\[c")
_UNFINISHED = re.compile(rb"\x1b(?:_[^\x1b]*\x1b?|\[[<=>?0-9;]*)?\Z")


class Picture(NamedTuple):
    """Pixels, four bytes each: red, green, blue, opacity."""

    width: int
    height: int
    pixels: bytes


class Placement(NamedTuple):
    """Where a picture is shown, in cells, and how far below the text."""

    x: int
    y: int
    columns: int
    rows: int
    z: int


class Frame(NamedTuple):
    """One picture as it was sent: how ("s": shared memory, "d": directly), and in how many bytes, moves included."""

    way: str
    size: int
    placement: Placement


class PictureBox:
    """Takes bytes in any pieces. name: answer to XTVERSION, "" for none; direct, memory: which ways it can show.

    frames: all that were shown. log: "frame", "lost", "delete", "name?" and "pictures?", in their order. modes: of the
    shared memory that was read. delay_s: before each answer.
    """

    def __init__(
        self, name: str = "kitty(0.26.5)", *, direct: bool = True, memory: bool = True, delay_s: float = 0.0
    ) -> None:
        self.delay_s = delay_s
        self.name, self.direct, self.memory = name, direct, memory
        self.images: dict[int, Picture] = {}
        self.placements: dict[int, Placement] = {}
        self.frames: list[Frame] = []
        self.log: list[str] = []
        self.modes: list[int] = []
        self.graphics_bytes = 0
        self._pending = b""
        self._cursor = (0, 0)
        self._chunks: tuple[dict[str, str], list[bytes], int] | None = None

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Take bytes; return those that are no graphics, whole sequences at a time, and what the terminal answers."""
        data = self._pending + data
        unfinished = _UNFINISHED.search(data)
        end = unfinished.start() if unfinished else len(data)
        self._pending = data[end:]
        answers, others, last = b"", b"", 0
        for found in _SEQUENCE.finditer(data, 0, end):
            text = found[0]
            if found[1] is not None:
                others += data[last : found.start()]
                last = found.end()
                self.graphics_bytes += len(text)
                answers += self._graphics(found[1], len(text))
            elif found[2] is not None:
                self._cursor = (int(found[3]) - 1, int(found[2]) - 1)
            elif text == b"\x1b[>q":
                self.log.append("name?")
                answers += f"\x1bP>|{self.name}\x1b\\".encode() if self.name else b""
            elif text == b"\x1b[c":
                answers += b"\x1b[?62;c"
        return others + data[last:end], answers

    def pixel(self, x: int, y: int) -> tuple[int, int, int, int]:
        """Return the most opaque pixel that is seen in a cell of the screen."""
        best = (0, 0, 0, 0)
        for image, placement in self.placements.items():
            picture, column, row = self.images[image], x - placement.x, y - placement.y
            if not (0 <= column < placement.columns and 0 <= row < placement.rows):
                continue
            left, right = (edge * picture.width // placement.columns for edge in (column, column + 1))
            top, bottom = (edge * picture.height // placement.rows for edge in (row, row + 1))
            for line in range(top, bottom):
                for at in range((line * picture.width + left) * 4, (line * picture.width + right) * 4, 4):
                    red, green, blue, opacity = picture.pixels[at : at + 4]
                    best = max(best, (red, green, blue, opacity), key=lambda pixel: pixel[3])
        return best

    def lit(self, left: int, top: int, right: int, bottom: int) -> int:
        """Return how many cells of a rectangle of the screen show something of a picture."""
        return sum(self.pixel(x, y)[3] > 0 for y in range(top, bottom) for x in range(left, right))

    def _graphics(self, body: bytes, size: int) -> bytes:
        control, _, data = body.partition(b";")
        keys = dict(pair.split("=", 1) for pair in control.decode().split(",") if pair)
        if self._chunks is not None:
            first, parts, sizes = self._chunks
            parts.append(data)
            self._chunks = (first, parts, sizes + size)
            if keys.get("m") == "1":
                return b""
            keys, data, size = first, b"".join(parts), sizes + size
            self._chunks = None
        elif keys.get("m") == "1":
            self._chunks = (keys, [data], size)
            return b""
        return self._command(keys, data, size)

    def _command(self, keys: dict[str, str], data: bytes, size: int) -> bytes:
        if not self.direct and not self.memory:
            return b""
        number = int(keys.get("i", "0"))
        if keys.get("a") == "d":
            self.log.append("delete")
            self.images.pop(number, None)
            self.placements.pop(number, None)
            return b""
        picture = self._picture(keys, data)
        if keys.get("a") == "q":
            self.log.append("pictures?")
            return f"\x1b_Gi={number};{'OK' if picture else 'EBADF:no'}\x1b\\".encode()
        if picture is None:
            # Taken away before it was read, as at the end of the rain.
            self.log.append("lost")
            return b""
        assert keys["C"] == "1" and keys["q"] == "2"
        placement = Placement(*self._cursor, int(keys["c"]), int(keys["r"]), int(keys["z"]))
        self.images[number], self.placements[number] = picture, placement
        # The cursor is saved, moved, and put back.
        moves = len(f"\x1b7\x1b[{placement.y + 1};{placement.x + 1}H\x1b8")
        self.frames.append(Frame(keys["t"], size + moves, placement))
        self.log.append("frame")
        return b""

    def _picture(self, keys: dict[str, str], data: bytes) -> Picture | None:
        payload = base64.b64decode(data)
        if keys["t"] == "s":
            width, height = int(keys["s"]), int(keys["v"])
            pixels = self._from_memory(payload.decode(), width * height * 4) if self.memory else None
            return None if pixels is None else Picture(width, height, pixels)
        if not self.direct:
            return None
        if keys["f"] == "100":
            return decode_png(payload)
        return Picture(int(keys["s"]), int(keys["v"]), payload)

    def _from_memory(self, name: str, size: int) -> bytes | None:
        try:
            descriptor = _posixshmem.shm_open(name, os.O_RDONLY, 0)
        except FileNotFoundError:
            return None
        self.modes.append(os.fstat(descriptor).st_mode & 0o777)
        data = os.pread(descriptor, size, 0)
        os.close(descriptor)
        assert len(data) == size
        _posixshmem.shm_unlink(name)
        return data


class PictureTerminal(Terminal):
    """A terminal double with pictures, which are in `box`; while it `stands_still` it reads nothing."""

    def __init__(self, *arguments: Any, box: PictureBox, **options: Any) -> None:
        self.box = box
        self.stands_still = False
        super().__init__(*arguments, **options)

    def _feed(self, data: bytes) -> None:
        while self.stands_still and not self._closed:
            time.sleep(0.01)
        others, answers = self.box.feed(data)
        if answers and self.box.delay_s:
            threading.Timer(self.box.delay_s, self.send, [answers]).start()
        elif answers:
            self.send(answers)
        super()._feed(others)


def decode_png(file: bytes) -> Picture:
    """Return the pixels of a PNG file of 4 bits a pixel with a table, without filters; no other one is understood."""
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(file):
        length, kind = int.from_bytes(file[at : at + 4], "big"), file[at + 4 : at + 8]
        body = file[at + 8 : at + 8 + length]
        assert int.from_bytes(file[at + 8 + length : at + 12 + length], "big") == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    header = chunks[b"IHDR"]
    width, height = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big")
    assert header[8:] == bytes((4, 3, 0, 0, 0))
    colors, opacities = chunks[b"PLTE"], chunks[b"tRNS"]
    table = [colors[3 * index : 3 * index + 3] + opacities[index : index + 1] for index in range(len(opacities))]
    lines, stride = zlib.decompress(chunks[b"IDAT"]), 1 + width // 2
    pixels = bytearray()
    for y in range(height):
        line = lines[y * stride : (y + 1) * stride]
        assert line[0] == 0
        for byte in line[1:]:
            pixels += table[byte >> 4] + table[byte & 15]
    return Picture(width, height, bytes(pixels))
