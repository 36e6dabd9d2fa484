"""A million generated messages in three forms: our index, SQLite's FTS5 and lines of JSON.

Building them takes minutes, so `make bench ARGS=--prepare` does that once, in `.cache/bench`.
SMITH_BENCH_MESSAGES makes the corpus smaller, to try something out.
"""

import json
import os
import random
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from smith_core.store.search.service import rebuild
from smith_core.store.search.source import Journal, JournalEntry
from tests.bench.reading import NotMeasuredError
from tests.bench.timing import timed

MESSAGES = int(os.environ.get("SMITH_BENCH_MESSAGES", "1000000"))
WORDS_PER_MESSAGE = 60
VOCABULARY = 50_000
_DONE = "done"


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
    """Return the corpus. Raises NotMeasuredError when it was not built yet."""
    made = _place()
    if not (made.folder / _DONE).exists():
        raise NotMeasuredError("the corpus is not there; build it once with `make bench ARGS=--prepare` (some minutes)")
    return made


def prepare() -> None:
    """Build the corpus, unless it is there."""
    made = _place()
    if (made.folder / _DONE).exists():
        return
    made.folder.mkdir(parents=True, exist_ok=True)
    took = timed(lambda: rebuild(made.folder, made.source))
    print(f"index of {MESSAGES:,} messages: {took:.0f} s", flush=True)
    took = timed(lambda: _write_others(made))
    print(f"the same in FTS5 and as lines: {took:.0f} s", flush=True)
    (made.folder / _DONE).touch()


def _place() -> Corpus:
    return Corpus(source=GeneratedJournals(MESSAGES), folder=Path(f".cache/bench/corpus-{MESSAGES}").absolute())


def _write_others(made: Corpus) -> None:
    made.database.unlink(missing_ok=True)
    with sqlite3.connect(made.database) as database, made.lines.open("w") as lines:
        database.execute("create virtual table m using fts5(text)")
        for text in made.source.texts():
            database.execute("insert into m values (?)", (text,))
            lines.write(json.dumps({"content": text}) + "\n")
