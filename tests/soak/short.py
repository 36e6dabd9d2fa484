"""The app that is ended and started again and again, in a process of its own: FOLDER SHARED SEED SECONDS."""

import sys
import time
from pathlib import Path

import msgspec

from tests.soak.app import App, Broken
from tests.soak.lives import leave, live_short
from tests.soak.model import RandomModel
from tests.soak.place import Place, segments
from tests.support.server_thread import ServerThread


class ShortResult(msgspec.Struct):
    """What is told to the process that has started this one."""

    ends: dict[str, int] = msgspec.field(default_factory=dict)
    requests: int = 0
    faults: int = 0
    acknowledged: int = 0
    broken: list[str] = msgspec.field(default_factory=list)


def main() -> None:
    """Live until the time is over; after a broken invariant with another app."""
    root, shared, seed, seconds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    until = time.monotonic() + seconds
    model = RandomModel(seed)
    result = ShortResult()
    with ServerThread(model, strict=True) as server:
        app = App(Place(root, shared), server, model, seed, root / "actions.txt")
        while time.monotonic() < until:
            try:
                live_short(app, until, result.ends)
            except Broken as caught:
                app.broken(str(caught))
                app.close()
        _look_at_the_end(app)
    result.requests, result.faults = model.requests, model.faults
    result.acknowledged, result.broken = len(app.ledger.known), app.violations
    (root / "result.json").write_bytes(msgspec.json.encode(result))


def _look_at_the_end(app: App) -> None:
    """Start and quit once more in good order: nothing of all the lives before may be left then."""
    try:
        app.start("--new")
        app.look()
        leave(app)
    except Broken as caught:
        app.broken(str(caught))
    app.close()
    for what, left in (
        ("processes", app.place.strays(seconds=15.0)),
        ("temporary files", app.place.temporary_files()),
        ("shared memory", segments(app.process_ids)),
    ):
        if left:
            app.broken(f"{what} left at the end: {left}")
    app.place.end_strays()


if __name__ == "__main__":
    main()
