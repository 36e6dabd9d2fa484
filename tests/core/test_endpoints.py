"""The table of providers holds what the settings take, and local servers are found however they answer."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from smith_core.config.schema import check
from smith_core.endpoints import LOCAL_SERVERS, PRESETS, LocalServer, Preset, detect_local_endpoints
from smith_core.llm.catalog import offline_limits

PREFIXES = {"Together AI": "together_ai/"}
"""How litellm's table writes a provider where that is not its label."""

Serve = Callable[[int, bytes], int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that answers every request in one way, and return its port."""
    running: list[ThreadingHTTPServer] = []

    def start(status: int, body: bytes) -> int:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                assert self.path == "/v1/models"
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        running.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return int(server.server_address[1])

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def program(port: int, name: str = "Thing") -> LocalServer:
    return LocalServer(program=name, port=port)


def test_the_four_usual_ports_are_asked() -> None:
    assert {(server.program, server.port) for server in LOCAL_SERVERS} == {
        ("Ollama", 11434),
        ("llama.cpp", 8080),
        ("LM Studio", 1234),
        ("vLLM", 8000),
    }


def test_what_answers_is_named_with_its_models_in_the_order_of_the_table(serve: Serve) -> None:
    first = serve(200, b'{"data": [{"id": "a"}, {"id": "b", "owned_by": null}, {"id": "a"}]}')
    second = serve(200, b'{"data": [{"id": "m", "owned_by": "llamacpp"}]}')
    found = detect_local_endpoints([program(first), program(free_port(), "Nobody"), program(second)], timeout_s=5)
    assert [(endpoint.program, endpoint.models) for endpoint in found] == [("Thing", ("a", "b")), ("llama.cpp", ("m",))]
    assert found[0].api_url == f"http://127.0.0.1:{first}/v1"


@pytest.mark.parametrize("body", [b'{"data": []}', b'{"object": "list", "data": null}'])
def test_a_server_without_models_is_still_there(serve: Serve, body: bytes) -> None:
    (found,) = detect_local_endpoints([program(serve(200, body))], timeout_s=5)
    assert (found.models, found.needs_key) == ((), False)


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_wants_a_key_says_so(serve: Serve, status: int) -> None:
    (found,) = detect_local_endpoints([program(serve(status, b"no"))], timeout_s=5)
    assert found.needs_key


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, b"<html>"),
        (500, b""),
        (302, b""),
        (200, b"<html>hello</html>"),
        (200, b"{}"),
        (200, b"[]"),
        (200, b'{"data": 1}'),
        (200, b'{"data": [{"name": "a"}]}'),
        (200, b'{"data": [1]}'),
        (200, b"\xff\xfe"),
        (200, b'{"data": [' + b" " * 1_100_000 + b"]}"),
    ],
)
def test_any_other_server_is_none_of_ours(serve: Serve, status: int, body: bytes) -> None:
    assert detect_local_endpoints([program(serve(status, body))], timeout_s=5) == ()


def test_a_server_that_says_nothing_or_drips_holds_nobody_up() -> None:
    def drip() -> None:
        try:
            client, _ = dripping.accept()
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for _ in range(100):
                client.sendall(b" ")
                time.sleep(0.05)
        except OSError:
            pass

    with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as dripping:
        threading.Thread(target=drip, daemon=True).start()
        started = time.monotonic()
        servers = [program(listener.getsockname()[1]) for listener in (silent, dripping, silent, dripping)]
        assert detect_local_endpoints(servers) == ()
        assert time.monotonic() - started < 2


def test_no_servers_to_ask_is_no_mistake() -> None:
    assert detect_local_endpoints([]) == ()


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.label)
async def test_a_preset_is_made_of_valid_settings_and_known_models(preset: Preset) -> None:
    settings = {"llm_config": {"api_url": preset.api_url, "api_key_env": preset.key_variable}}
    assert check({**settings, "default_model": preset.models[0]}).problems == ()
    assert preset.key_variable.endswith("_API_KEY")
    if preset.api_url is None:
        assert all("/" in model for model in preset.models), "the prefix names the provider"
    if preset.label == "OpenRouter":
        return  # litellm's table does not list what it resells
    prefix = PREFIXES.get(preset.label, f"{preset.label.lower()}/") if preset.api_url else ""
    for model in preset.models:
        known = await offline_limits(f"{prefix}{model}")
        assert known.context_window, f"{prefix}{model} is not in litellm's table"


def test_labels_and_variables_are_told_apart() -> None:
    assert len({preset.label for preset in PRESETS}) == len(PRESETS)
    assert len({preset.key_variable for preset in PRESETS}) == len(PRESETS)
