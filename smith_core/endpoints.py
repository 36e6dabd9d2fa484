"""Where models can be had: the common providers as a table, and the servers that listen on this machine."""

import time
from collections.abc import Sequence

import msgspec

from smith_core.text import clean_text

PROBE_TIMEOUT_S = 0.3
"""How long a server on this machine may take to list its models."""
_MAX_LISTING_BYTES = 1_000_000


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A provider: requests go to `api_url`, or without one to the provider that the prefix of the model id names.

    key_variable: the environment variable that usually holds its key. models: example ids, the most capable first.
    """

    label: str
    key_variable: str
    models: tuple[str, ...]
    api_url: str | None = None


PRESETS: tuple[Preset, ...] = (
    Preset(
        label="OpenAI",
        api_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        models=("gpt-5.6", "gpt-5.4-mini"),
    ),
    Preset(
        label="Anthropic",
        key_variable="ANTHROPIC_API_KEY",
        models=("anthropic/claude-opus-5-5", "anthropic/claude-sonnet-5-5", "anthropic/claude-haiku-5-5"),
    ),
    Preset(
        label="OpenRouter",
        api_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        models=("qwen/qwen3-coder", "deepseek/deepseek-chat"),
    ),
    Preset(
        label="Google Gemini",
        key_variable="GEMINI_API_KEY",
        models=("gemini/gemini-pro-latest", "gemini/gemini-flash-latest"),
    ),
    Preset(
        label="Mistral",
        api_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        models=("mistral-code-agent-latest", "mistral-large-latest"),
    ),
    Preset(
        label="DeepSeek",
        api_url="https://api.deepseek.com/v1",
        key_variable="DEEPSEEK_API_KEY",
        models=("deepseek-v4-pro", "deepseek-chat"),
    ),
    Preset(
        label="Groq",
        api_url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        models=("openai/gpt-oss-120b", "qwen/qwen3.8-27b"),
    ),
    Preset(
        label="xAI",
        api_url="https://api.x.ai/v1",
        key_variable="XAI_API_KEY",
        models=("grok-4.20-reasoning", "grok-code-fast"),
    ),
    Preset(
        label="Together AI",
        api_url="https://api.together.xyz/v1",
        key_variable="TOGETHER_API_KEY",
        models=("moonshotai/Kimi-K2.7-Code", "zai-org/GLM-5.1"),
    ),
    Preset(
        label="Cerebras",
        api_url="https://api.cerebras.ai/v1",
        key_variable="CEREBRAS_API_KEY",
        models=("gpt-oss-120b", "qwen-3.8-27b"),
    ),
)
"""The providers that the first start offers. Models are those of litellm's table; an endpoint's own list goes first."""


class LocalServer(msgspec.Struct, frozen=True, kw_only=True):
    """A program that serves models, and the loopback port that it uses unless it is told another one."""

    program: str
    port: int


LOCAL_SERVERS: tuple[LocalServer, ...] = (
    LocalServer(program="Ollama", port=11434),
    LocalServer(program="llama.cpp", port=8080),
    LocalServer(program="LM Studio", port=1234),
    LocalServer(program="vLLM", port=8000),
)
_PROGRAMS_BY_OWNER = {"llamacpp": "llama.cpp", "vllm": "vLLM", "library": "Ollama"}
"""What some programs write into `owned_by`, which says more than the port."""


class LocalEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A server that answers on this machine; needs_key: it lists its models only to those who have a key."""

    program: str
    api_url: str
    models: tuple[str, ...] = ()
    needs_key: bool = False


class _Entry(msgspec.Struct):
    id: str
    owned_by: str | None = None


class _Listing(msgspec.Struct):
    data: list[_Entry] | None


def detect_local_endpoints(
    servers: Sequence[LocalServer] = LOCAL_SERVERS, timeout_s: float = PROBE_TIMEOUT_S
) -> tuple[LocalEndpoint, ...]:
    """Ask the usual ports of 127.0.0.1 for models, all at once, and return what answers, in the order of `servers`.

    Blocks for about `timeout_s`, so call it in a thread.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=max(1, len(servers))) as pool:
        found = pool.map(lambda server: _probe(server, timeout_s), servers)
    return tuple(endpoint for endpoint in found if endpoint is not None)


def _probe(server: LocalServer, timeout_s: float) -> LocalEndpoint | None:
    from http.client import HTTPException

    address = f"http://127.0.0.1:{server.port}/v1"
    try:
        status, body = _get(server.port, "/v1/models", timeout_s)
    except (OSError, HTTPException):
        return None
    if status in (401, 403):
        return LocalEndpoint(program=server.program, api_url=address, needs_key=True)
    if status != 200:
        return None
    try:
        entries = msgspec.json.decode(body, type=_Listing).data or []
    except msgspec.DecodeError:
        return None
    owner = entries[0].owned_by if entries else None
    return LocalEndpoint(
        program=_PROGRAMS_BY_OWNER.get(owner or "", server.program),
        api_url=address,
        models=tuple(dict.fromkeys(clean_text(entry.id) for entry in entries)),
    )


def _get(port: int, path: str, timeout_s: float) -> tuple[int, bytes]:
    """Return status and body; OSError when they have not all come within the time, or are too long."""
    from http.client import HTTPConnection

    deadline = time.monotonic() + timeout_s
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", path, headers={"accept": "application/json"})
        response = connection.getresponse()
        body = b""
        while piece := response.read1(65536):
            body += piece
            if time.monotonic() > deadline or len(body) > _MAX_LISTING_BYTES:
                raise TimeoutError
        return response.status, body
    finally:
        connection.close()
