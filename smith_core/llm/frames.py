"""What the app and the model host say to each other: msgpack frames, each behind its length in four bytes."""

import asyncio
from typing import Annotated, Any, Final

import msgspec

from smith_core.errors import AgentError
from smith_core.frozen import encode_hook
from smith_core.llm.host_stamp import HostStamp
from smith_core.llm.protocol import AnyStreamPart, Endpoint, ModelInfo, Timeouts
from smith_core.llm.wire import WireRequest
from smith_core.text import clean_text

LENGTH_BYTES: Final = 4
MAX_FRAME_BYTES: Final = 512 * 1024 * 1024
MAX_REQUEST_BYTES: Final = 128 * 1024 * 1024
"""Most bytes of a frame that a host takes; a conversation of ten million tokens has a third of that."""

LingerSeconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class Frame(msgspec.Struct, frozen=True, tag_field="frame", array_like=True):
    """Base of all frames; `id` is the request's, counted by the app."""


class StartStream(Frame, frozen=True, tag="start"):
    """App to host: make this call.

    Its messages begin with `kept` bytes of those of the last request of a conversation; 0 is none that is kept.
    """

    id: int
    request: WireRequest
    conversation: int = 0
    kept: Annotated[int, msgspec.Meta(ge=0)] = 0


class ListModels(Frame, frozen=True, tag="list"):
    """App to host: ask this endpoint for its models."""

    id: int
    endpoint: Endpoint
    timeouts: Timeouts


class Cancel(Frame, frozen=True, tag="cancel"):
    """App to host: give this request up; nothing more is said of it."""

    id: int


class Attach(Frame, frozen=True, tag="attach"):
    """App to shared host, first of all: serve me if you are such a host, and outlive me for so many seconds."""

    stamp: HostStamp
    linger_s: LingerSeconds


class Linger(Frame, frozen=True, tag="linger"):
    """App to shared host: outlive me for so many seconds instead."""

    linger_s: LingerSeconds


class Ask(Frame, frozen=True, tag="ask"):
    """Anybody to shared host: how are you? The answer is a Status."""


class Stop(Frame, frozen=True, tag="stop"):
    """Anybody to shared host: end. when_idle: only after the last app has left, and take no new one."""

    when_idle: bool


class Welcome(Frame, frozen=True, tag="welcome"):
    """Shared host to app: you are attached to a host with this stamp."""

    stamp: HostStamp
    pid: int


class Status(Frame, frozen=True, tag="status"):
    """Shared host to whoever asks; seconds since its start, bytes of resident memory, what it serves."""

    pid: int
    age_s: float
    rss_bytes: int
    apps: int
    streams: int
    linger_s: float
    is_ready: bool


class Ready(Frame, frozen=True, tag="ready"):
    """Host to app: litellm is imported and warm, so many seconds after the start of the process."""

    after_s: float


class Parts(Frame, frozen=True, tag="parts"):
    """Host to app: parts of one answer, in order; the last one of an answer is StreamDone."""

    id: int
    parts: tuple[AnyStreamPart, ...]


class Models(Frame, frozen=True, tag="models"):
    """Host to app: what an endpoint lists."""

    id: int
    models: tuple[ModelInfo, ...]


class Failed(Frame, frozen=True, tag="failed"):
    """Host to app: this request ended with an error."""

    id: int
    error: AgentError


ToHost = StartStream | ListModels | Cancel | Attach | Linger | Ask | Stop
ToApp = Ready | Parts | Models | Failed | Welcome | Status

_encoder = msgspec.msgpack.Encoder(enc_hook=encode_hook)
to_host_decoder: Final[msgspec.msgpack.Decoder[ToHost]] = msgspec.msgpack.Decoder(ToHost)
to_app_decoder: Final[msgspec.msgpack.Decoder[ToApp]] = msgspec.msgpack.Decoder(ToApp)


def encode_frame(frame: Frame) -> bytes:
    """Return a frame as it goes over the socket; text that is not fit for UTF-8 is cleaned on the way."""
    try:
        body = _encoder.encode(frame)
    except UnicodeEncodeError:
        body = _encoder.encode(_cleaned(msgspec.to_builtins(frame, builtin_types=(bytes,), enc_hook=encode_hook)))
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list | tuple) else value


async def read_frame(reader: asyncio.StreamReader, max_bytes: int = MAX_FRAME_BYTES) -> bytes | None:
    """Return the body of the next frame, or None when the other side has closed, or sends more than `max_bytes`."""
    try:
        length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
        return await reader.readexactly(length) if length <= max_bytes else None
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
