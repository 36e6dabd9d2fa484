"""One try of one task: a fresh repository, the whole engine with its own tools, the local model behind it."""

import asyncio
import subprocess
import tempfile
import time
from pathlib import Path

import msgspec

from smith_core.events import AnyEvent, TextDelta, ToolCallProgress, ToolEnded, ToolStarted, TurnEnded
from smith_core.llm.client import HostClient
from smith_core.llm.protocol import Endpoint
from smith_core.model import ModelService
from smith_core.runtime import Runtime, compose_services
from tests.local_eval.tasks import Outcome, Task

TRIAL_TIMEOUT_S = 600


class Trial(msgspec.Struct, frozen=True):
    """How one try went; times in seconds, `first_s` until the first character or call, of each request apart."""

    passed: bool
    seconds: float
    first_s: float
    trace: tuple[str, ...]


async def run_trial(task: Task, variant: int, endpoint: Endpoint, client: HostClient, model: str) -> Trial:
    """Run a task once in a temporary repository and judge what came of it."""
    with tempfile.TemporaryDirectory(prefix="smith-eval-") as name:
        folder = Path(name) / "work"
        folder.mkdir()
        await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(folder)], check=True)
        task.prepare(folder, variant)
        spill_dir = Path(name) / "spill"
        spill_dir.mkdir()
        config = {"default_model": model, "llm_config": {"api_url": endpoint.api_url, "recv_timeout": 600}}
        service = ModelService(client, environ={"LLM_API_KEY": endpoint.api_key})
        runtime = Runtime(compose_services(config, {"model": service}), cwd=folder, spill_dir=spill_dir)
        runtime.start_session()
        started_at = time.perf_counter()
        events: list[tuple[float, AnyEvent]] = []
        async with asyncio.timeout(TRIAL_TIMEOUT_S):
            async for event in runtime.process_raw_input(task.prompt(variant)):
                events.append((time.perf_counter() - started_at, event))
        outcome, trace = _outcome([event for _, event in events])
        passed = await asyncio.to_thread(task.judge, folder, variant, outcome)
    first = next((at for at, event in events if isinstance(event, TextDelta | ToolCallProgress | ToolStarted)), 0.0)
    return Trial(passed, events[-1][0], first, trace)


def _outcome(events: list[AnyEvent]) -> tuple[Outcome, tuple[str, ...]]:
    answer, tools, trace = "", [], []
    for event in events:
        match event:
            case ToolStarted(name=name, arguments=arguments):
                tools.append(name)
                trace.append(f"{name} {arguments}")
            case ToolEnded(result=result):
                trace.append(f"  {'ok' if result.ok else 'failed'}: {result.content[-120:]!r}")
            case TurnEnded(result=result):
                answer = result.text
                trace.append(f"{result.stop_reason}: {result.text!r} {result.error.message if result.error else ''}")
    return Outcome(answer, tuple(tools)), tuple(trace)
