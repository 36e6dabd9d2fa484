"""What an endpoint lists at `/models`: asked for with limits, read whatever the gateway calls its sizes."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from smith_core.errors import AgentFailure
from smith_core.llm.faults import Target, fault, timeout_fault
from smith_core.llm.json_values import whole_number
from smith_core.llm.keys import NO_KEY
from smith_core.llm.protocol import Endpoint, ModelInfo, Timeouts
from smith_core.llm.refusals import refusal
from smith_core.llm.sse import decode_json
from smith_core.llm.translation import translate
from smith_core.text import clean_text

MAX_BODY_BYTES = 16 * 1024 * 1024
"""Longest listing that is read; the largest public one (OpenRouter) has about 1 MB."""

_CONTEXT_FIELDS = (
    "meta.n_ctx",
    "loaded_context_length",
    "context_length",
    "max_model_len",
    "context_window",
    "max_context_length",
    "top_provider.context_length",
    "capabilities.limits.max_context_window_tokens",
    "limits.max_input_tokens",
    "max_input_tokens",
    "input_token_limit",
    "inputTokenLimit",
    "meta.n_ctx_train",
)
_OUTPUT_FIELDS = (
    "max_output_tokens",
    "max_completion_tokens",
    "top_provider.max_completion_tokens",
    "capabilities.limits.max_output_tokens",
    "limits.max_output_tokens",
    "output_token_limit",
    "outputTokenLimit",
)


async def fetch_models(endpoint: Endpoint, timeouts: Timeouts) -> tuple[ModelInfo, ...]:
    """Ask an endpoint for its models; AgentFailure when it has no address or gives no list."""
    import httpx

    target = Target(model="", endpoint=endpoint)
    limits = httpx.Timeout(
        connect=timeouts.connect_timeout,
        pool=timeouts.connect_timeout,
        write=timeouts.send_timeout,
        read=timeouts.recv_timeout,
    )
    address = endpoint.api_url.strip().rstrip("/").removesuffix("/chat/completions") + "/models"
    headers = {"authorization": f"Bearer {endpoint.api_key or NO_KEY}", "accept": "application/json"}
    try:
        async with (
            asyncio.timeout(timeouts.timeout),
            httpx.AsyncClient(timeout=limits, follow_redirects=True) as client,
            client.stream("GET", address, headers=headers) as response,
        ):
            body = await _read_bounded(response.aiter_bytes(), target)
            status, answer_headers = response.status_code, dict(response.headers)
    except TimeoutError:
        raise AgentFailure(timeout_fault("timeout_total", target, timeouts)) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise AgentFailure(translate(error, target, timeouts, in_stream=False)) from error
    if status != 200:
        raise AgentFailure(refusal(status, answer_headers, body.decode("utf-8", "replace"), target))
    return _read_listing(body, target)


async def _read_bounded(pieces: Any, target: Target) -> bytes:
    body = b""
    async for piece in pieces:
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise AgentFailure(fault("bad_answer", target, detail="a list of more than 16 MB"))
    return body


def _read_listing(body: bytes, target: Target) -> tuple[ModelInfo, ...]:
    try:
        value = decode_json(body)
    except (ValueError, RecursionError):
        detail = "a web page" if body.lstrip().startswith(b"<") else "no JSON"
        raise AgentFailure(fault("bad_answer", target, detail=detail)) from None
    models = read_models(value)
    if models is None:
        raise AgentFailure(fault("bad_answer", target, detail="JSON without a list of models"))
    return models


def read_models(value: Any) -> tuple[ModelInfo, ...] | None:
    """Return the models of a decoded listing, in its order and each once; None when it is no listing."""
    entries = value
    if isinstance(value, Mapping):
        entries = next((value[name] for name in ("data", "models") if isinstance(value.get(name), list)), None)
    if not isinstance(entries, list):
        return None
    models: dict[str, ModelInfo] = {}
    for entry in entries:
        info = ModelInfo(id=clean_text(entry)) if isinstance(entry, str) else _read_model(entry)
        if info is not None and info.id:
            models.setdefault(info.id, info)
    return tuple(models.values())


def _read_model(entry: Any) -> ModelInfo | None:
    if not isinstance(entry, Mapping):
        return None
    name = entry.get("id") or entry.get("name") or entry.get("model")
    if not isinstance(name, str):
        return None
    return ModelInfo(
        id=clean_text(name).strip(),
        context_window=_first_size(entry, _CONTEXT_FIELDS),
        max_output_tokens=_first_size(entry, _OUTPUT_FIELDS),
    )


def _first_size(entry: Mapping[str, Any], paths: Iterable[str]) -> int | None:
    """Return the first field that holds a positive number, written as a number or as digits."""
    for path in paths:
        value: Any = entry
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if number := whole_number(value):
            return number
    return None
