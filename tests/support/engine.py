"""A whole engine for tests: real services and tools, a scripted model, a folder of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smith_core.commands.opening import NEW, ResumeWish
from smith_core.events import AnyEvent, CommandOutput, Notice, TurnEnded
from smith_core.frozen import EMPTY_MAPPING
from smith_core.messages import Message, TurnResult
from smith_core.model import ModelService
from smith_core.runtime import Runtime, compose_services, open_search
from smith_core.store.interface import Persistence
from smith_core.store.journal.disk import Disk
from tests.support.scripted_client import ScriptedClient
from tests.support.store_disks import open_store

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


def open_stored_engine(
    folder: Path,
    client: ScriptedClient,
    wish: ResumeWish = NEW,
    settings: Mapping[str, Any] = EMPTY_MAPPING,
    *,
    disk: Disk | None = None,
    persistence: Persistence | None = None,
    is_searched: bool = False,
) -> Runtime:
    """Return a started runtime that works in `folder` and keeps everything in `folder`/data; it opens on first use."""
    data = folder / "data"
    store = persistence or open_store(data, disk)
    services = compose_services({**FAST, **settings}, {"model": ModelService(client), "persistence": store})
    services.config.keep_overrides_in(store)
    spill_dir = folder / ".spill"
    spill_dir.mkdir(exist_ok=True)
    search = open_search(data) if is_searched else None
    runtime = Runtime(services, cwd=folder, spill_dir=spill_dir, wish=wish, search=search, undo_folder=data / "undo")
    runtime.start_session()
    return runtime


async def command(runtime: Runtime, line: str) -> list[AnyEvent]:
    """Run a slash command to its end and return what it reported."""
    return [event async for event in runtime.process_raw_input(line)]


def said(events: list[AnyEvent]) -> str:
    """Return the words of all notices and command outputs."""
    return "\n".join(event.text for event in events if isinstance(event, CommandOutput | Notice))


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
