"""A whole engine for tests: real services and tools, a scripted model, a folder of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smith_core.events import AnyEvent, TurnEnded
from smith_core.frozen import EMPTY_MAPPING
from smith_core.messages import Message, TurnResult
from smith_core.model import ModelService
from smith_core.runtime import Runtime, compose_services
from tests.support.scripted_client import ScriptedClient

FAST: Mapping[str, Any] = {
    "default_model": "scripted",
    "empty_response_retry_backoff_ms": [1, 1],
    "llm_config": {"retry_backoff_ms": [1, 1], "api_url": "http://127.0.0.1:1/v1"},
}


def open_engine(
    folder: Path,
    client: ScriptedClient,
    settings: Mapping[str, Any] = EMPTY_MAPPING,
    handles: Mapping[str, Any] = EMPTY_MAPPING,
) -> Runtime:
    """Return a started runtime that works in `folder`; `settings` go above fast retries."""
    services = compose_services({**FAST, **settings}, {"model": ModelService(client), **handles})
    spill_dir = folder / ".spill"
    spill_dir.mkdir(exist_ok=True)
    runtime = Runtime(services, cwd=folder, spill_dir=spill_dir)
    runtime.start_session()
    return runtime


async def run_turn(runtime: Runtime, text: str, events: list[AnyEvent] | None = None) -> TurnResult:
    """Run one turn to its end and return its result; `events` collects what it reported."""
    collected = [] if events is None else events
    async for event in runtime.process_raw_input(text):
        collected.append(event)
    ended = [event.result for event in collected if isinstance(event, TurnEnded)]
    assert ended, f"the turn did not end: {collected}"
    return ended[-1]


def shape(messages: tuple[Message, ...]) -> list[str]:
    """Return a transcript as short words: role, and the ids of its calls or of the call that it answers."""
    return [
        " ".join([message.role, *(call.id for call in message.tool_calls), message.tool_call_id]).strip()
        for message in messages
    ]
