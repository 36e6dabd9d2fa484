"""`make soak`: an hour of random use with faults, and a picture; the exit status is 1 if anything did not hold.

One app lives for the whole time and is measured; a second one is killed, ended and started again all the while. Each
has a folder with the log of all that was done to it (actions.txt), the app's own log (log.txt), and its home.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.bench.timing import exact_threads
from tests.soak.app import App, Broken
from tests.soak.lives import live_long
from tests.soak.measuring import Meter, Sample
from tests.soak.model import RandomModel
from tests.soak.picture import of_samples
from tests.soak.place import Place, segments
from tests.soak.result import Result, growth_mb_an_hour, in_words, slower, thirds
from tests.soak.short import ShortResult
from tests.support.server_thread import ServerThread


def main() -> int:
    """Run it all and tell."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1, help="decides what is done; the log names each step")
    parser.add_argument("--picture", type=Path, help="where the SVG goes (default: into the folder)")
    parser.add_argument("--folder", type=Path, help="where everything is kept (default: a new one)")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="smith-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"folder: {folder}", flush=True)
    exact_threads()
    result, samples = soak(folder.resolve(), arguments.seed, arguments.minutes * 60)
    picture = arguments.picture or folder / "soak.svg"
    title = f"{result.minutes:.0f} minutes of random use, {result.actions} actions, {len(result.broken)} broken"
    picture.write_text(of_samples(title, samples), encoding="utf-8")
    (folder / "result.json").write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    (folder / "samples.json").write_bytes(msgspec.json.encode(samples))
    print(in_words(result))
    return 1 if result.misses else 0


def soak(folder: Path, seed: int, seconds: float) -> tuple[Result, Sequence[Sample]]:
    """Run both lives for so long; return what was found, and the samples of the long one."""
    shared = folder / "shared"
    command = [sys.executable, "-m", "tests.soak.short", str(folder / "short"), str(shared), str(seed), str(seconds)]
    model = RandomModel(seed)
    with ServerThread(model, strict=True) as server, Meter() as meter:
        app = App(Place(folder / "long", shared), server, model, seed, folder / "actions.txt")
        short = subprocess.Popen(command)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                live_long(app, meter, until)
            except Broken as caught:
                app.broken(str(caught))
            app.close()
        _look_at_the_end(app)
        short.wait(seconds + 600)
        app.place.stop_host()
    told = _told(folder / "short")
    return _result(app, seed, meter.samples, told), meter.samples


def _told(folder: Path) -> ShortResult:
    try:
        return msgspec.json.decode((folder / "result.json").read_bytes(), type=ShortResult)
    except FileNotFoundError:
        return ShortResult(broken=["the second app's driver has failed"])


def _look_at_the_end(app: App) -> None:
    for what, left in (
        ("processes", app.place.strays(seconds=15.0)),
        ("temporary files", app.place.temporary_files()),
        ("shared memory", segments(app.process_ids)),
        ("reports of mistakes", app.place.crashes()),
    ):
        if left:
            app.broken(f"{what} left at the end: {left}")
    app.place.end_strays()


def _result(app: App, seed: int, samples: Sequence[Sample], told: ShortResult) -> Result:
    parts = thirds(samples)
    first, last = samples[0], samples[-1]
    return Result(
        seed=seed,
        minutes=last.at / 60,
        actions=app.actions,
        requests=app.model.requests + told.requests,
        faults=app.model.faults + told.faults,
        acknowledged=len(app.ledger.known) + told.acknowledged,
        ends=told.ends,
        growth_mb=growth_mb_an_hour(samples),
        rss_mb=(first.rss / 1e6, last.rss / 1e6),
        files=(first.files, last.files),
        threads=(first.threads, last.threads),
        thirds=parts,
        slower=slower(parts),
        broken=tuple([*app.violations, *told.broken]),
    )


if __name__ == "__main__":
    sys.exit(main())
