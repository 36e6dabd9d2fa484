"""What the code tools cost: against plain ripgrep over 50,000 generated files, and over the library of Python."""

import asyncio
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from smith_core.cancel import new_root
from smith_core.fuzzy import PathIndex
from smith_core.project import Project
from smith_core.tools.base import ToolContext, ToolSpec
from smith_core.tools.code.tools import code_tools
from tests.bench.programs import program
from tests.bench.reading import Reading
from tests.bench.timing import median, p95, timed
from tests.bench.trees import NOUNS, VERBS, library, tree

PATHS = 100_000


def grep_against_ripgrep() -> tuple[Reading, ...]:
    """A name that is in some hundred of 50,000 files, against rg with the same pattern; runs take turns."""
    folder, pattern = tree(), "loadPageMap4[0-9]{3}x"
    ours, theirs = [], []
    for _ in range(11):
        theirs.append(timed(lambda: _run_ripgrep(folder, "-n", pattern)))
        ours.append(_call("code_grep", folder, pattern=pattern))
    told = f"{median(ours) * 1000:.0f} ms"
    return (Reading(median(ours) / median(theirs), told),)


def _run_ripgrep(folder: Path, option: str, pattern: str) -> None:
    subprocess.run([program("rg"), option, pattern, "."], cwd=folder, stdout=subprocess.PIPE, check=True)


def symbols_in_the_library() -> tuple[Reading, ...]:
    """A common name in Python's own library (1,800 files, 860,000 lines), cold and warm."""
    folder, query = library(), "connect"
    cold, warm = [], []
    for _ in range(3):
        tools = {tool.name: tool for tool in code_tools()}
        cold.append(_call("code_symbols", folder, tools, query=query))
        warm += [_call("code_symbols", folder, tools, query=query) for _ in range(3)]
    return Reading(median(cold)), Reading(median(warm))


def symbols_in_many_files() -> tuple[Reading, ...]:
    """A name in 50,000 files: cold, and warm against rg naming the files that hold it; runs take turns."""
    folder, query = tree(), "loadPageMap400"
    cold, warm, theirs = [], [], []
    for _ in range(4):
        tools = {tool.name: tool for tool in code_tools()}
        cold.append(_call("code_symbols", folder, tools, query=query))
        theirs.append(timed(lambda: _run_ripgrep(folder, "-il", query)))
        warm.append(_call("code_symbols", folder, tools, query=query))
    return Reading(median(cold)), Reading(median(warm), f"{median(warm) / median(theirs):.2f}× rg -il")


def paths_as_typed() -> tuple[Reading, ...]:
    """Paths among 100,000, letter by letter: begins of names, letters left out, two words, and what is not there."""
    rng = random.Random(2)
    parts = [f"{verb}{noun}{end}" for verb in VERBS for noun in NOUNS for end in ("", "s", "_v2")]
    paths = [
        "/".join(
            [*rng.choices(parts, k=rng.randint(1, 5)), f"{rng.choice(parts)}{number}.{rng.choice(('py', 'ts', 'go'))}"]
        )
        for number in range(PATHS)
    ]
    index = PathIndex(paths)
    index.prepare()
    times = [timed(lambda query=query: index.search(query, 20)) for query in _typed(rng, paths)]
    return (Reading(p95(times) * 1000, f"p50 {median(times) * 1000:.1f} ms"),)


def _typed(rng: random.Random, paths: list[str]) -> Iterator[str]:
    for path in rng.sample(paths, 30):
        folder, _, name = path.rpartition("/")
        for words in (name, name[::2], f"{name[:4]} {folder[:4]}", f"{folder.rpartition('/')[2]}/{name[:5]}", "zzqx"):
            yield from (words[:end] for end in range(1, len(words) + 1))


def _call(tool: str, folder: Path, tools: Mapping[str, ToolSpec] | None = None, **arguments: str) -> float:
    """Return the seconds that a call took, as the executor's caller sees them."""
    spec = (tools or {known.name: known for known in code_tools()})[tool]
    context = ToolContext(
        call_id="c",
        role="direct",
        turn_id="t",
        cancel_token=new_root(),
        cwd=folder,
        project=Project(root=str(folder)),
        emit_output=lambda data: None,
        child_env=dict(os.environ),
        spill_dir=Path(tempfile.gettempdir()),
    )
    decoded = msgspec.convert(arguments, spec.arguments)

    async def run() -> float:
        begin = time.perf_counter()
        outcome = await spec.handler(decoded, context)
        took = time.perf_counter() - begin
        if not outcome.ok or outcome.content.startswith("no "):
            raise RuntimeError(outcome.content)
        return took

    return asyncio.run(run())
