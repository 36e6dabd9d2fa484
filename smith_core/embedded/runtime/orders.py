"""What the app and the local model's process say to each other: JSON lines over one socket."""

import asyncio
from typing import Final

import msgspec

from smith_core.errors import AgentError
from smith_core.frozen import encode_hook

MAX_LINE_BYTES: Final = 1024 * 1024


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """App to process, once: load these weights and serve them under `model`, for whoever knows `token`.

    weights: a GGUF file. context_size: tokens. threads: of the computation. listener: the file descriptor of the
    listening socket that the process inherited.
    """

    weights: str
    model: str
    token: str
    context_size: int
    threads: int
    listener: int


class Loaded(msgspec.Struct, frozen=True, tag_field="kind", tag="loaded"):
    """Process to app: the model answers, so many seconds after the order."""

    after_s: float


class LoadFailed(msgspec.Struct, frozen=True, tag_field="kind", tag="failed"):
    """Process to app: it does not, and never will."""

    error: AgentError


Report = Loaded | LoadFailed
_order_decoder: Final[msgspec.json.Decoder[Order]] = msgspec.json.Decoder(Order)
_report_decoder: Final[msgspec.json.Decoder[Report]] = msgspec.json.Decoder(Loaded | LoadFailed)


def encode_line(value: Order | Report) -> bytes:
    """Return a message as it goes over the socket."""
    return msgspec.json.encode(value, enc_hook=encode_hook) + b"\n"


async def read_order(reader: asyncio.StreamReader) -> Order | None:
    """Return the order, or None when the app has gone."""
    line = await _read_line(reader)
    return None if line is None else _order_decoder.decode(line)


async def read_report(reader: asyncio.StreamReader) -> Report | None:
    """Return the next report, or None when the process has ended."""
    line = await _read_line(reader)
    return None if line is None else _report_decoder.decode(line)


async def _read_line(reader: asyncio.StreamReader) -> bytes | None:
    try:
        return await reader.readuntil(b"\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
