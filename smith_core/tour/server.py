"""The tour's endpoint: OpenAI's chat completions over server-sent events on loopback, in threads of its own.

Format: https://platform.openai.com/docs/api-reference/chat-streaming
"""

import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from smith_core.embedded.label import SCRIPTED_MODEL
from smith_core.errors import failure
from smith_core.tour.parts import Answer, CallTool, Say, Think
from smith_core.tour.script import answer_to

PACE_S = 0.012
"""Pause between two words of an answer: about as fast as a quick model."""
CONTEXT_LENGTH = 32_768
_MAX_REQUEST_BYTES = 64 * 1024 * 1024


class TourServer:
    """Serves the script while it is entered; `url` is its base address. pace_s: pause between two words."""

    def __init__(self, pace_s: float = PACE_S) -> None:
        self._pace_s = pace_s
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base address for `llm_config.api_url`."""
        assert self._server is not None, "the server has not been started"
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "TourServer":
        try:
            self._server = _Server(self._pace_s)
        except OSError as error:
            raise failure(
                "transport",
                "no_port",
                f"no free port on 127.0.0.1 for the tour ({error.strerror}); close other programs and try again",
                origin="tour",
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._server is not None and self._thread is not None
        self._server.is_ending.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, pace_s: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pace_s = pace_s
        self.is_ending = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: the screen belongs to the app, and the only errors are clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: standard error is the app's screen."""

    def do_GET(self) -> None:
        """List the one model, which is none."""
        if self.path.rstrip("/") != "/v1/models":
            self._send_error(404, f"there is nothing at {self.path}")
            return
        entry = {"id": SCRIPTED_MODEL, "object": "model", "owned_by": "tour", "context_length": CONTEXT_LENGTH}
        self._send_json(200, {"object": "list", "data": [entry]})

    def do_POST(self) -> None:
        """Answer a chat completion."""
        if self.path.rstrip("/") != "/v1/chat/completions":
            self._send_error(404, f"there is nothing at {self.path}")
            return
        request = self._read_request()
        if request is None:
            self._send_error(400, "the request is no JSON object with messages")
            return
        answer = answer_to(request["messages"])
        if request.get("stream"):
            self._stream(answer)
        else:
            self._send_json(200, _whole(answer))

    def _read_request(self) -> dict[str, Any] | None:
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > _MAX_REQUEST_BYTES:
            return None
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return None
        messages = request.get("messages") if isinstance(request, dict) else None
        is_list_of_objects = isinstance(messages, list) and all(isinstance(message, dict) for message in messages)
        return request if is_list_of_objects else None

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        for delta in _deltas(answer):
            self._send_event(_chunk(delta))
            if self.server.is_ending.wait(self.server.pace_s):
                return
        self._send_event(_chunk({}, _finish_reason(answer)))
        self.wfile.write(b"data: [DONE]\n\n")

    def _send_event(self, chunk: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def _send_error(self, status: int, message: str) -> None:
        self._send_json(status, {"error": {"message": message, "type": "invalid_request_error", "code": None}})

    def _send_json(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    """Yield the deltas of a stream: texts word by word, a call in a few fragments."""
    yield {"role": "assistant", "content": ""}
    for part in answer:
        match part:
            case Think(text):
                yield from ({"reasoning_content": word} for word in _words(text))
            case Say(text):
                yield from ({"content": word} for word in _words(text))
            case CallTool(name, arguments):
                call = {"index": 0, "id": _call_id(), "type": "function", "function": {"name": name, "arguments": ""}}
                yield {"tool_calls": [call]}
                for piece in re.findall(r".{1,24}", json.dumps(arguments)):
                    yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def _whole(answer: Answer) -> dict[str, Any]:
    """Return the answer in one piece, for clients that do not stream."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(part.text for part in answer if isinstance(part, Say)),
    }
    calls = [part for part in answer if isinstance(part, CallTool)]
    if calls:
        message["tool_calls"] = [
            {
                "id": _call_id(),
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(answer)}
    return {**_frame("chat.completion"), "choices": [choice]}


def _chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {**_frame("chat.completion.chunk"), "choices": [choice]}


def _frame(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-tour", "object": kind, "created": int(time.time()), "model": SCRIPTED_MODEL}


def _finish_reason(answer: Answer) -> str:
    return "tool_calls" if any(isinstance(part, CallTool) for part in answer) else "stop"


def _call_id() -> str:
    return f"call_{time.time_ns():x}"


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)
