"""Orchestrator mode from end to end: plan, two explorers and a worker at the same time, review, answer."""

import asyncio
import json
import re
import subprocess
from typing import Any

from tests.e2e.conftest import SMITH, Place
from tests.support.demo_task import RIGHT_LINE, TASK
from tests.support.model_steps import AnyStep, call_tools, say
from tests.support.server_thread import ServerThread

EXPLORERS = ("Find the file that computes the total.", "Find out what the file prints.")
CHANGE = "Correct the sign in prices.py and run it."
JOBS = [("dispatch", {"role": "explorer", "task": task}) for task in EXPLORERS] + [
    ("dispatch", {"role": "worker", "task": CHANGE, "files": ["prices.py"]})
]


class Team:
    """Plays all agents; the first requests of the three children are answered only when all of them have come."""

    def __init__(self) -> None:
        self.together = asyncio.Event()
        self.children = 0

    async def __call__(self, request: dict[str, Any]) -> list[AnyStep]:
        messages = request["messages"]
        said = sum(message["role"] == "assistant" for message in messages)
        if "You are Tank" in messages[0]["content"]:
            return self._orchestrator(said, request)
        if said == 0:
            self.children += 1
            if self.children == len(JOBS):
                self.together.set()
            await asyncio.wait_for(self.together.wait(), 20)
        worker = "You are Niobe" in messages[0]["content"]
        return _worker(said, messages) if worker else _explorer(said)

    def _orchestrator(self, said: int, request: dict[str, Any]) -> list[AnyStep]:
        offered = {tool["function"]["name"] for tool in request["tools"]}
        review = ("git", {"subcommand": "diff"}) if "git" in offered else ("read", {"path": "prices.py"})
        rounds = [
            call_tools(("record", {"key": "plan", "value": "explore, correct, review"}), text="A plan first."),
            call_tools(*JOBS),
            call_tools(review),
            say("`prices.py` subtracts the discount now; the worker ran it."),
        ]
        return rounds[said]


def _explorer(said: int) -> list[AnyStep]:
    report = {"status": "done", "summary": "It is prices.py.", "findings": "total adds", "evidence": "prices.py:3"}
    return [call_tools(("bash", {"command": "cat prices.py"})), call_tools(("report", report))][said]


def _worker(said: int, messages: list[dict[str, Any]]) -> list[AnyStep]:
    if said == 0:
        return call_tools(("read", {"path": "prices.py"}))
    if said == 1:
        known = re.search(r"hash: (\w{64})", messages[-1]["content"])
        assert known, messages[-1]
        place = {"path": "prices.py", "operation": "replace", "start_line": 3, "hash": known[1]}
        return call_tools(("edit", {**place, "text": RIGHT_LINE}))
    if said == 2:
        return call_tools(("bash", {"command": "python3 prices.py"}))
    done = {"status": "ok", "summary": "Corrected.", "changes": ["prices.py: sign"], "verification": ["prints 15.0"]}
    return call_tools(("report", done))


def start(place: Place, url: str, *more: str) -> "subprocess.Popen[str]":
    settings = ["--set", f"llm_config.api_url={url}", "--role", "orchestrator"]
    command = [SMITH, "run", *settings, *more, TASK]
    return subprocess.Popen(
        command, cwd=place.project, env=place.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_task_is_planned_delegated_reviewed_and_answered(place: Place) -> None:
    with ServerThread(Team(), strict=True) as server:
        out, err = (process := start(place, server.url)).communicate(timeout=90)
        assert process.returncode == 0, err
        assert server.server.violations == []
        assert server.server.script_errors == []
        last = server.requests[-1].json["messages"]
    assert RIGHT_LINE in (place.project / "prices.py").read_text()
    assert "subtracts the discount" in out and "subtracts the discount" not in err
    results = [
        json.loads(message["content"]) for message in last if message.get("tool_call_id") and _is_result(message)
    ]
    assert [(result["role"], result["status"]) for result in results] == [
        ("explorer", "ok"), ("explorer", "ok"), ("worker", "ok"),
    ]  # fmt: skip
    assert all(result["recall_key"] == f"dispatch/{result['job_id']}" for result in results)
    assert RIGHT_LINE.strip() in last[-1]["content"], "the review sees the change"
    for line in (
        rf"▸ Link \S{{4}} begins: {EXPLORERS[0]}",
        rf"▸ Niobe \S{{4}} begins: {CHANGE}",
        r"\[Niobe \S{4}\] ▸ edit",
    ):
        assert re.search(line, err), err
    assert len(re.findall(r"✓ Link \S{4} ok after [\d.]+ s, 2 tool calls: It is prices.py.", err)) == 2


def _is_result(message: dict[str, Any]) -> bool:
    return message["role"] == "tool" and message["content"].startswith('{"job_id"')
