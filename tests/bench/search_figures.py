"""Figures of search, measured over a generated corpus against SQLite's FTS5 and ripgrep in the same run.

SMITH_BENCH_MESSAGES sets the size of the corpus (1,000,000) and SMITH_BENCH_FOLDER a folder to keep it in; building
takes minutes.
"""

import asyncio
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from smith_core.store.search.service import SearchService, rebuild
from smith_core.store.search.source import Journal, JournalEntry
from tests.bench.figures import Figure

MESSAGES = int(os.environ.get("SMITH_BENCH_MESSAGES", "1000000"))
WORDS_PER_MESSAGE = 60
VOCABULARY = 50_000
_ROUNDS = 40


class GeneratedJournals:
    """A source that makes the same messages each time: words of Zipf's distribution, one in eight an identifier."""

    def __init__(self, messages: int) -> None:
        self.messages = messages
        rng = random.Random(7)
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
        self.words = []
        for rank in range(VOCABULARY):
            word = "".join(rng.choices(syllables, k=2 + rank % 3)) + (str(rank) if rank % 16 == 0 else "")
            self.words.append(word.title() + "".join(rng.choices(syllables, k=2)).title() if rank % 8 == 5 else word)
        self._weights: list[float] = []
        total = 0.0
        for rank in range(VOCABULARY):
            total += 1 / (rank + 3)
            self._weights.append(total)

    def word_of_frequency(self, share: float) -> str:
        """Return the plain word that occurs in about this share of the messages."""
        total = self._weights[-1]
        for rank, word in enumerate(self.words):
            if word.isalpha() and word.islower() and WORDS_PER_MESSAGE / ((rank + 3) * total) <= share:
                return word
        raise ValueError(share)

    def texts(self) -> Iterator[str]:
        """Yield the text of every message."""
        rng = random.Random(11)
        for _ in range(self.messages):
            chosen = rng.choices(self.words, cum_weights=self._weights, k=WORDS_PER_MESSAGE)
            yield " ".join(chosen)

    def journals(self) -> list[Journal]:
        return [Journal(name="everything", size=self.messages, generation="1", projects=("0123456789abcdef", "demo"))]

    def entries(self, journal: Journal, offset: int) -> Iterator[JournalEntry]:
        for number, text in enumerate(self.texts(), 1):
            if number <= offset:
                continue
            role = ("user", "assistant", "tool", "tool")[number % 4]
            record = {
                "role": role,
                "content": text,
                "created_at": 1.7e9 + number,
                "name": "bash" if role == "tool" else "",
            }
            yield JournalEntry(table="conversation", key=f"everything:{number:08d}", record=record, offset_after=number)


class Corpus(msgspec.Struct, frozen=True):
    """The same messages in three forms, and the words to look for."""

    source: GeneratedJournals
    folder: Path

    @property
    def database(self) -> Path:
        """A database with an FTS5 table `m`."""
        return self.folder / "fts.sqlite"

    @property
    def lines(self) -> Path:
        """One message per line."""
        return self.folder / "messages.jsonl"


@cache
def corpus() -> Corpus:
    """Return the corpus, built unless SMITH_BENCH_FOLDER has it already."""
    kept = os.environ.get("SMITH_BENCH_FOLDER")
    folder = Path(kept) if kept else Path(tempfile.mkdtemp(prefix="smith-bench-"))
    if not kept:
        import atexit

        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    made = Corpus(source=GeneratedJournals(MESSAGES), folder=folder)
    done = folder / f"done-{MESSAGES}"
    if not done.exists():
        _build(made)
        done.touch()
    return made


def _build(made: Corpus) -> None:
    begin = time.perf_counter()
    rebuild(made.folder, made.source)
    print(f"  index of {MESSAGES:,} messages: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    begin = time.perf_counter()
    made.database.unlink(missing_ok=True)
    with sqlite3.connect(made.database) as database, made.lines.open("w") as lines:
        database.execute("create virtual table m using fts5(text)")
        for text in made.source.texts():
            database.execute("insert into m values (?)", (text,))
            lines.write(json.dumps({"content": text}) + "\n")
    print(f"  the same in FTS5 and as lines: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)


def word_against_fts5() -> Figure:
    """A word that is in one message of a hundred, the best twenty, against FTS5 bm25."""
    made = corpus()
    word = made.source.word_of_frequency(0.01)
    ours = _ours([f"{word} "])
    with sqlite3.connect(made.database) as database:
        query = "select rowid, snippet(m, 0, '', '', '', 30) from m where m match ? order by bm25(m) limit 20"
        theirs = _times(lambda: database.execute(query, (word,)).fetchall(), rounds=10)
    return _ratio("mid-frequency word against FTS5 bm25, p50", ours, theirs, 0.1)


def word_against_ripgrep() -> Figure:
    """The same word against ripgrep over lines of JSON."""
    made = corpus()
    word = made.source.word_of_frequency(0.01)
    ours = _ours([f"{word} "])
    ripgrep = shutil.which("rg", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "rg"
    command = [ripgrep, "-wi", "--no-config", word, str(made.lines)]
    theirs = _times(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True), rounds=5)
    return _ratio("mid-frequency word against ripgrep, p50", ours, theirs, 0.01)


def search_as_typed() -> Figure:
    """Queries of one to three words, letter by letter, with filters and both orders."""
    made = corpus()
    rng = random.Random(3)
    words = [made.source.word_of_frequency(share) for share in (0.3, 0.1, 0.03, 0.01, 0.003, 0.0003)]
    typed: list[str] = []
    for _ in range(12):
        line = " ".join(rng.sample(words, rng.randint(1, 3))) + rng.choice(["", " role:user", " tool:bash"])
        typed += [line[:end] for end in range(1, len(line) + 1)]
    times = _ours(typed, rounds=1)
    p95 = statistics.quantiles(times, n=20)[-1]
    return Figure(
        name=f"search as typed at {MESSAGES:,} messages, p95 (p50)",
        value=f"{p95 * 1000:.1f} ms ({statistics.median(times) * 1000:.1f} ms)",
        goal="≤ 30 ms",
        good=p95 <= 0.03,
    )


def _ours(queries: list[str], rounds: int = _ROUNDS) -> list[float]:
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


def _times(action: Callable[[], object], rounds: int) -> list[float]:
    action()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return times


def _ratio(name: str, ours: list[float], theirs: list[float], most: float) -> Figure:
    mine, other = statistics.median(ours), statistics.median(theirs)
    return Figure(
        name=name,
        value=f"{mine / other:.4f}× ({mine * 1000:.1f} ms)",
        goal=f"≤ {most}×",
        good=mine / other <= most,
    )


FIGURES = (word_against_fts5, word_against_ripgrep, search_as_typed)
