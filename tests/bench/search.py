"""What a search costs among a million messages, against SQLite's FTS5 and ripgrep in the same run."""

import asyncio
import random
import sqlite3
import subprocess
import time

from smith_core.store.search.service import SearchService
from tests.bench.corpus import MESSAGES, corpus
from tests.bench.programs import program
from tests.bench.reading import Reading
from tests.bench.timing import median, p95, timed

_ROUNDS = 40
_SMALLER = "" if MESSAGES == 1_000_000 else f"among {MESSAGES:,} only; "


def word_in_a_million() -> tuple[Reading, ...]:
    """A word of one message in a hundred, the best twenty: against FTS5 bm25, and ripgrep over lines of JSON."""
    made = corpus()
    word = made.source.word_of_frequency(0.01)
    ours = median(_ours([f"{word} "], _ROUNDS))
    query = "select rowid, snippet(m, 0, '', '', '', 30) from m where m match ? order by bm25(m) limit 20"
    with sqlite3.connect(made.database) as database:
        database.execute(query, (word,)).fetchall()
        ranked = median(timed(lambda: database.execute(query, (word,)).fetchall()) for _ in range(5))
    command = [program("rg"), "-wi", "--no-config", word, str(made.lines)]
    look = lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: E731
    look()
    grepped = median(timed(look) for _ in range(3))
    told = f"{_SMALLER}{ours * 1000:.1f} ms against "
    return Reading(ours / ranked, f"{told}{ranked * 1000:.0f} ms"), Reading(
        ours / grepped, f"{told}{grepped * 1000:.0f} ms"
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


def _ours(queries: list[str], rounds: int) -> list[float]:
    """Return how long each search took, in seconds, as the service's caller sees it."""

    async def measure() -> list[float]:
        made = corpus()
        service = SearchService(made.folder, made.source)
        try:
            await service.search(queries[0])
            times = []
            for number in range(rounds):
                for query in queries:
                    begin = time.perf_counter()
                    page = await service.search(query, "newest" if number % 4 == 3 else "best")
                    times.append(time.perf_counter() - begin)
                    if page.notice is not None:
                        raise RuntimeError(page.notice.message)
            return times
        finally:
            await service.aclose()

    return asyncio.run(measure())
