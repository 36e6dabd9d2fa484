"""`make local-eval`: let the local model do eight simple tasks, ten times each, and print what came of them.

    python -m tests.local_eval [--model small|default] [--tries 10] [--tasks "rename,fix"] [--write] [-v]

The exit status is 1 when the default model misses a goal. Which tasks the facade's examples resemble stands in
tests/local_eval/tasks.py.
"""

import argparse
import asyncio
import os
import platform
import statistics
import sys
import time
from pathlib import Path

from smith_core.embedded.catalog import find_model
from smith_core.embedded.runtime.supervisor import LocalModelServer
from smith_core.errors import AgentFailure
from smith_core.llm.client import HostClient, start_host_process
from smith_core.llm.protocol import Endpoint
from smith_core.paths import cache_dir
from tests.local_eval.tasks import TASKS, Task
from tests.local_eval.trials import Trial, run_trial

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
GOAL_PASSES, GOAL_PASSES_ONE = 0.9, 0.7
GOAL_FIRST_S, GOAL_TASK_S = 3.0, 8.0


class Row:
    """The tries of one task."""

    def __init__(self, task: Task, trials: list[Trial]) -> None:
        self.name = task.name
        self.tries = len(trials)
        self.passes = sum(trial.passed for trial in trials)
        self.median_s = statistics.median(trial.seconds for trial in trials)
        self.fastest_s = min(trial.seconds for trial in trials)
        self.first_s = statistics.median(trial.first_s for trial in trials)

    @property
    def share(self) -> float:
        """Passes of all tries."""
        return self.passes / self.tries

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        times = (self.median_s, self.fastest_s, self.first_s)
        return self.name, f"{self.passes}/{self.tries}", *(f"{seconds:.1f}" for seconds in times)


def main() -> int:
    """Measure one model and print, or write, its table."""
    parser = argparse.ArgumentParser(description="Measure the local model on eight simple tasks.")
    parser.add_argument("--model", default="default", help="small or default")
    parser.add_argument("--weights", type=Path, help="a GGUF file; without it the installed one")
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--tasks", default="", help="words of task names, separated by commas")
    parser.add_argument("--address", default="", help="a facade that runs already; its token in LLM_API_KEY")
    parser.add_argument("--threads", type=int, help="threads of the computation; without it all cores")
    parser.add_argument("--write", action="store_true", help=f"write the table to {PAGE.name}")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what the model did")
    arguments = parser.parse_args()
    words = [word.strip() for word in arguments.tasks.split(",") if word.strip()]
    tasks = [task for task in TASKS if not words or any(word in task.name for word in words)]
    try:
        rows = asyncio.run(_measure(arguments, tasks))
    except AgentFailure as caught:
        print(caught.error.message, file=sys.stderr)
        return 2
    model = find_model(arguments.model)
    print(_table(rows))
    if arguments.write:
        _write(model.label, rows)
    return 1 if model.alias == "default" and not _goals_hold(rows) else 0


async def _measure(arguments: argparse.Namespace, tasks: list[Task]) -> list[Row]:
    model = find_model(arguments.model)
    weights = arguments.weights or cache_dir() / "models" / model.file_name
    client = HostClient(start_host_process())
    server = LocalModelServer(threads=arguments.threads)
    started_at = time.perf_counter()
    try:
        endpoint = Endpoint(api_url=arguments.address, api_key=os.environ.get("LLM_API_KEY", ""))
        if not arguments.address:
            endpoint = await server.start(weights, "smith-local")
        print(f"{model.label}: loaded and warm after {time.perf_counter() - started_at:.1f} s", flush=True)
        await client.wait_until_ready()
        rows = []
        for task in tasks:
            trials = []
            for variant in range(arguments.tries):
                trial = await run_trial(task, variant, endpoint, client, "smith-local")
                trials.append(trial)
                if arguments.verbose:
                    _show(task, variant, trial)
            rows.append(Row(task, trials))
            print("  ".join(rows[-1].cells()), flush=True)
        return rows
    finally:
        await server.aclose()
        await client.aclose()


def _show(task: Task, variant: int, trial: Trial) -> None:
    mark = "✓" if trial.passed else "✗"
    print(f"{mark} {task.name} {variant}: {trial.seconds:.1f} s, first {trial.first_s:.1f} s")
    for line in trial.trace:
        print(f"      {line}")


def _goals_hold(rows: list[Row]) -> bool:
    shares = sorted(row.share for row in rows)
    few = shares[0] >= GOAL_PASSES_ONE and all(share >= GOAL_PASSES for share in shares[1:])
    times = all(row.first_s <= GOAL_FIRST_S for row in rows)
    return few and times and statistics.median(row.median_s for row in rows) <= GOAL_TASK_S


def _table(rows: list[Row]) -> str:
    head = ("task", "passes", "median seconds", "fastest", "first token, median seconds")
    lines = [head, ("---",) * len(head), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _write(label: str, rows: list[Row]) -> None:
    """Put the table of this model into the page, in place of an earlier one."""
    heading = f"## {label}\n"
    page = PAGE.read_text() if PAGE.exists() else _PAGE_HEAD
    before, _, after = page.partition(heading)
    rest = after.partition("\n## ")
    machine = f"{os.cpu_count()} cores ({platform.machine()}), {time.strftime('%Y-%m-%d')}"
    note = f"Measured on {machine}; other programs that run at the same time make the medians longer."
    section = f"{heading}\n{note}\n\n{_table(rows)}\n"
    following = f"\n## {rest[2]}" if rest[1] else ""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(f"{before.rstrip()}\n\n{section}{following}")


_PAGE_HEAD = """# The local model on eight simple tasks

`make local-eval` lets the model do each task in fresh repositories through the whole engine with its own tools, and
judges by running the result. Goals for the default model: 9 of 10 on seven tasks, 7 of 10 on the eighth, the first
token within 3 s, the median task within 8 s. Which tasks the facade's examples resemble stands in
`tests/local_eval/tasks.py`.
"""

if __name__ == "__main__":
    sys.exit(main())
