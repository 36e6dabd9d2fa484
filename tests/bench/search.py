"""What a search costs among a million messages, against SQLite's FTS5 and ripgrep in the same run."""

import asyncio
import random
import sqlite3
import subprocess
import time
from collections.abc import Callable

from smith_core.store.search.service import SearchService
from tests.bench.corpus import MESSAGES, corpus
from tests.bench.programs import program
from tests.bench.reading import Reading
from tests.bench.timing import median, p95, timed

_ROUNDS, _SEARCHES = 3, 40
_SMALLER = "" if MESSAGES == 1_000_000 else f"among {MESSAGES:,} only; "


def word_in_a_million() -> tuple[Reading, ...]:
    """A word of one message in a hundred, the best twenty: against FTS5 bm25, and ripgrep over lines of JSON.

    They take turns, so that a change of the machine's speed meets all of them.
    """
    made = corpus()
    word = made.source.word_of_frequency(0.01)
    query = "select rowid, snippet(m, 0, '', '', '', 30) from m where m match ? order by bm25(m) limit 20"
    command = [program("rg"), "-wi", "--no-config", word, str(made.lines)]
    ranked, grepped = [], []
    with sqlite3.connect(made.database) as database:
        rank = lambda: database.execute(query, (word,)).fetchall()  # noqa: E731
        look = lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: E731

        def others() -> None:
            ranked.append(timed(rank))
            grepped.extend(timed(look) for _ in range(2))

        ours = _ours([f"{word} "] * _SEARCHES, _ROUNDS, others)
    ranked_ms, grepped_ms = median(ranked) * 1000, median(grepped) * 1000
    told = f"{_SMALLER}{median(ours) * 1000:.1f} ms against "
    return Reading(median(ours) * 1000 / ranked_ms, f"{told}{ranked_ms:.0f} ms"), Reading(
        median(ours) * 1000 / grepped_ms, f"{told}{grepped_ms:.0f} ms"
    )


def search_as_typed() -> tuple[Reading, ...]:
    """Queries of one to three words, letter by letter, with filters and both orders."""
    made = corpus()
    rng = random.Random(3)
    words = [made.source.word_of_frequency(share) for share in (0.3, 0.1, 0.03, 0.01, 0.003, 0.0003)]
    typed: list[str] = []
    for _ in range(12):
        line = " ".join(rng.sample(words, rng.randint(1, 3))) + rng.choice(["", " role:user", " tool:bash"])
        typed += [line[:end] for end in range(1, len(line) + 1)]
    times = _ours(typed, 1)
    return (Reading(p95(times) * 1000, f"{_SMALLER}p50 {median(times) * 1000:.1f} ms"),)


def _ours(queries: list[str], rounds: int, between: Callable[[], object] = lambda: None) -> list[float]:
    """Return how long each search took, in seconds, as the service's caller sees it; `between` runs before a round."""

    async def measure() -> list[float]:
        made = corpus()
        service = SearchService(made.folder, made.source)
        try:
            await service.search(queries[0])
            times = []
            for _ in range(rounds):
                between()
                for number, query in enumerate(queries):
                    begin = time.perf_counter()
                    page = await service.search(query, "newest" if number % 4 == 3 else "best")
                    times.append(time.perf_counter() - begin)
                    if page.notice is not None:
                        raise RuntimeError(page.notice.message)
            return times
        finally:
            await service.aclose()

    return asyncio.run(measure())
