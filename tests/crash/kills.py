"""Kills writers with SIGKILL at random moments or at chosen points, and looks at what is left."""

import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec

from smith_core.store.journal.storage import JournalStorage
from smith_core.store.journal.tail import read_entries
from smith_core.store.schema import CHILD_MESSAGES
from smith_core.store.store import Store
from tests.crash.workload import CONVERSATION, COUNTER, State, apply

_START_LIMIT_S = 30.0
_LONGEST_START_S = 5.0
"""What the next start may take until it can show the end of the conversation."""
_SHOWN_AT_A_START = 100


class Tally(msgspec.Struct):
    """How often what happened; `bad` describes everything that must not happen."""

    kills: int = 0
    acknowledged: int = 0
    bad: list[str] = msgspec.field(default_factory=list)


class Victim:
    """A writer in a process of its own."""

    def __init__(
        self, kind: str, folder: Path, first: int, *, name: str = "-", point: str = "", count: int = 1
    ) -> None:
        command = [sys.executable, "-m", "tests.crash.writer", kind, str(folder), str(first), name, point, str(count)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._lines: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._ready = threading.Event()
        self._reader.start()
        self.started = self._ready.wait(_START_LIMIT_S)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line)
            self._ready.set()
        self._ready.set()

    def kill(self, after_s: float) -> None:
        """Kill it after some time, or find that it has killed itself."""
        try:
            self._process.wait(after_s)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def end(self) -> tuple[int | None, str]:
        """Return the last number that was acknowledged, and what it said on standard error."""
        assert self._process.stderr is not None
        error = self._process.stderr.read().decode(errors="replace")
        self._process.wait()
        self._reader.join()
        numbers = [int(line) for line in self._lines if line.strip().isdigit()]
        return (numbers[-1] if numbers else None), error


def kill_journal_writers(folder: Path, tries: int, seed: int, points: tuple[str, ...] = ("",)) -> Tally:
    """Kill a writer of one journal again and again; each goes on where the one before was."""
    tally, rng = Tally(), random.Random(seed)
    state: State = {}
    last = 0
    for attempt in range(tries):
        point = points[attempt % len(points)]
        victim = Victim("journal", folder, last + 1, point=point, count=rng.randint(1, 4 if "replace" in point else 20))
        victim.kill(10.0 if point else rng.random() ** 2)
        acknowledged, error = victim.end()
        acknowledged = last if acknowledged is None else acknowledged
        tally.kills += 1
        tally.acknowledged += acknowledged - last
        if error:
            tally.bad.append(error[-300:])
        found = read_journal(folder / "a.jrnl")
        number = msgspec.json.decode(found.get(COUNTER, b'{"n":0}'))["n"]
        for done in range(last + 1, number + 1):
            state = apply(state, done)
        if not acknowledged <= number <= acknowledged + 1:
            tally.bad.append(f"batch {acknowledged} was acknowledged, {number} is there")
        elif found != state:
            tally.bad.append(f"batch {number} is there in part")
        state, last = found, number
    return tally


def read_journal(path: Path) -> State:
    """Open a journal as the next start does, and return all that is in it."""
    if not path.exists():
        return {}
    storage = JournalStorage(path)
    found: State = {}
    for table in storage.read():
        found.update(((table, key), value) for key, value in storage.items(table, storage.keys(table)))
    storage.close()
    return found


def kill_turn_writers(folder: Path, tries: int, seed: int) -> Tally:
    """Kill a process that saves prompts and turns; what it acknowledged has to be whole and in order."""
    tally, rng = Tally(), random.Random(seed)
    acknowledged = 0
    first = 1
    for _ in range(tries):
        victim = Victim("turns", folder, first)
        victim.kill(rng.random() ** 2)
        number, error = victim.end()
        tally.kills += 1
        if error:
            tally.bad.append(error[-300:])
        if number is not None:
            tally.acknowledged += number - first + 1
            acknowledged = number
        started = time.monotonic()
        store = Store(folder)
        store.tail(CONVERSATION, _SHOWN_AT_A_START)
        active = store.global_file.active_conversation()
        if time.monotonic() - started > _LONGEST_START_S:
            tally.bad.append(f"opening took more than {_LONGEST_START_S:.0f} s")
        contents = [stored.message.content for stored in store.messages(CONVERSATION)]
        if contents and active != CONVERSATION:
            tally.bad.append("the conversation to go on with is lost")
        children = _children(store.layout.conversation(CONVERSATION))
        store.close()
        tally.bad += _problems_of_turns(contents, acknowledged)
        if children != [int(text.split()[1]) for text in contents if text.startswith("answer ")]:
            tally.bad.append(f"the children {children[-3:]} are there, but not their turns, or the other way round")
        first = 1 + max((int(text.split()[1]) for text in contents if text.startswith("prompt")), default=0)
        # A turn that was cut stays behind as a prompt alone, and the next writer goes on behind it.
        acknowledged = first - 1
    return tally


def _children(journal: Path) -> list[int]:
    """Return the numbers of the children whose transcripts are in a journal, in order."""
    jobs = {entry.key.split(":")[1] for entry in read_entries(journal) if entry.table == CHILD_MESSAGES.name}
    return sorted(int(job.removeprefix("job-")) for job in jobs)


def _problems_of_turns(contents: list[str], acknowledged: int) -> list[str]:
    problems = []
    numbers = [int(text.split()[1]) for text in contents if text.startswith("prompt ")]
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) < acknowledged:
        problems.append(f"prompts {numbers[-3:]} are there, {acknowledged} turns were acknowledged")
    answers = [text for text in contents if text.startswith("answer ")]
    if len(contents) != len(numbers) + 3 * len(answers):
        problems.append("a turn is there in part")
    return problems


def kill_shared_writers(folder: Path, tries: int, seed: int, writers: int = 3) -> Tally:
    """Kill several processes that change the same settings; none may take back what another was told."""
    tally, rng = Tally(), random.Random(seed)
    counts = {f"w{number}": 0 for number in range(writers)}
    for _ in range(max(1, tries // writers)):
        victims = {name: Victim("shared", folder, count + 1, name=name) for name, count in counts.items()}
        for victim in victims.values():
            victim.kill(rng.random() * 0.3)
        ends = {name: victim.end() for name, victim in victims.items()}
        store = Store(folder)
        patch = store.global_file.overrides()
        store.close()
        for name, (number, error) in ends.items():
            tally.kills += 1
            acknowledged = counts[name] if number is None else number
            tally.acknowledged += acknowledged - counts[name]
            if error:
                tally.bad.append(error[-300:])
            there = patch.get(name, 0)
            if not acknowledged <= there <= acknowledged + 1:
                tally.bad.append(f"{name}: {acknowledged} was acknowledged, {there} is there")
            counts[name] = there
    return tally


def fresh(folder: Path, name: str) -> Path:
    """Return an empty folder of that name."""
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / name).mkdir(parents=True)
    return folder / name
