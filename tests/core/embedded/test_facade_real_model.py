"""The whole way with a real model: engine, model host, facade, llama.cpp; run where the small model is installed."""

import asyncio
import time

import httpx
import pytest

from smith_core.embedded.catalog import SMALL_MODEL
from smith_core.embedded.runtime.supervisor import LocalModelServer
from smith_core.llm.client import HostClient, start_host_process
from smith_core.paths import cache_dir
from tests.local_eval.tasks import TASKS
from tests.local_eval.trials import run_trial

WEIGHTS = cache_dir() / "models" / SMALL_MODEL.file_name

pytestmark = pytest.mark.slow


async def test_the_small_model_reads_a_file_and_answers_and_frees_its_slot_on_cancel() -> None:
    assert WEIGHTS.is_file(), "install the small model first: smith-tui model install small (make test does it)"
    # One thread: two that wait for each other spin while other tests have the cores, for twice the processor time.
    server, client = LocalModelServer(threads=1), HostClient(start_host_process())
    try:
        endpoint = await server.start(WEIGHTS, "smith-local-0.5b")
        trial = await run_trial(TASKS[0], 0, endpoint, client, "smith-local-0.5b")
        assert trial.passed, trial.trace
        await _cancel_a_long_answer(endpoint.api_url, endpoint.api_key)
    finally:
        await client.aclose()
        await server.aclose()


async def _cancel_a_long_answer(url: str, key: str) -> None:
    """Close in mid-answer, and see that the next request begins soon."""
    body = {"messages": [{"role": "user", "content": "tell me a very long story"}], "stream": True}
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=120) as http:
        async with http.stream("POST", f"{url}/chat/completions", json=body) as response:
            await anext(response.aiter_text())
        started_at = time.perf_counter()
        async with asyncio.timeout(60), http.stream("POST", f"{url}/chat/completions", json=body) as response:
            await anext(response.aiter_text())
        assert time.perf_counter() - started_at < 20
