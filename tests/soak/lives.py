"""The two lives of a soak: one app that lives from begin to end, and one that is ended and started again and again."""

import os
import signal
import subprocess
import time
from contextlib import suppress

from tests.soak.actions import ACTIONS
from tests.soak.app import CANCEL, App, Broken
from tests.soak.hands import command, submit
from tests.soak.measuring import Meter
from tests.soak.place import segments

SAMPLE_S = 10.0
_KINDS = ("xterm-256color", "xterm-kitty")
_LOOK_EVERY = 8
_QUIET_S = 5.0
"""What a turn gets to come to its end before a sample, for most of those shall be without one."""

_GRACE_S = 15.0
"""What a killed app may have left running ends by itself within that time: the commands of the soak are short."""


def act(app: App) -> None:
    """Do one thing by chance."""
    chosen = app.rng.choices(ACTIONS, [action.weight for action in ACTIONS])[0].act
    app.log(f"— {chosen.__name__}")
    app.actions += 1
    chosen(app)
    if app.terminal.process.poll() is not None:
        raise Broken(f"the app has ended in {chosen.__name__}, exit status {app.terminal.process.poll()}")


def live_long(app: App, meter: Meter, until: float) -> None:
    """Use one app until then, and take samples."""
    app.start("--new", kind="xterm-kitty")
    due = 0.0
    while time.monotonic() < until:
        act(app)
        if time.monotonic() >= due:
            app.home()
            app.let_turn_end(_QUIET_S)
            meter.sample(app)
            due = time.monotonic() + SAMPLE_S
        if app.actions % _LOOK_EVERY == 0:
            app.look()
    app.stop_turn()
    app.look()
    leave(app)


def live_short(app: App, until: float, counted: dict[str, int]) -> None:
    """Start, use and end the app until then, in every way in which one can end; `counted` says how often in which."""
    ends = {"killed": _kill, "killed with its host": _kill_both, "host killed": _kill_host, "signal": _signal}
    ends |= {"/quit": leave, "Ctrl+C twice": _leave_by_keys, "hang-up": _hang_up}
    while time.monotonic() < until:
        app.start(*_how_to_start(app), kind=app.rng.choice(_KINDS))
        app.look()
        for _ in range(app.rng.randint(1, 12)):
            act(app)
        way = app.rng.choice(list(ends))
        app.log(f"— end: {way}")
        ends[way](app)
        counted[way] = counted.get(way, 0) + 1
        app.close()
        _look_behind(app, killed=way.startswith("killed"))


def _how_to_start(app: App) -> tuple[str, ...]:
    return app.rng.choice(((), (), (), ("--new",), ("--set", "ui.output=stock"), ("--set", "ui.rain=cells")))


def _kill(app: App) -> None:
    time.sleep(app.rng.random() ** 2 * 3)
    app.ledger.acknowledge(app.model.take_heard())
    app.terminal.process.kill()
    app.ended(-signal.SIGKILL)


def _kill_both(app: App) -> None:
    _end_host(app)
    _kill(app)


def _kill_host(app: App) -> None:
    """The app goes on with another host."""
    _end_host(app)
    app.stop_turn()
    submit(app, app.prompt_text("after the host's end"))
    app.let_turn_end(30.0)
    app.stop_turn()
    leave(app)


def _end_host(app: App) -> None:
    host = app.place.host
    if host:
        app.log(f"kill the host {host}")
        with suppress(ProcessLookupError):
            os.kill(host, signal.SIGKILL)


def _signal(app: App) -> None:
    number = app.rng.choice((signal.SIGTERM, signal.SIGINT))
    app.terminal.process.send_signal(number)
    app.ended(128 + number)


def _hang_up(app: App) -> None:
    app.terminal.process.send_signal(signal.SIGHUP)
    app.ended(128 + signal.SIGHUP)


def leave(app: App) -> None:
    """Quit in good order, whatever runs."""
    command(app, "/quit")
    app.ended(0)


def _leave_by_keys(app: App) -> None:
    app.stop_turn()
    for _ in range(3):
        app.type(CANCEL)
        time.sleep(0.1)
        app.type(CANCEL)
        # A selection is copied first.
        with suppress(subprocess.TimeoutExpired):
            app.terminal.process.wait(10)
            break
    app.ended(0)


def _look_behind(app: App, *, killed: bool) -> None:
    """Check what an app that has ended has left behind: nothing, but for what one that was killed could not help."""
    strays = app.place.strays(seconds=_GRACE_S)
    if strays:
        app.broken(f"processes are left: {strays}")
        app.place.end_strays()
    if killed:
        return
    left = segments(app.process_ids)
    if left or app.place.temporary_files():
        app.broken(f"files are left: {left} {app.place.temporary_files()}")
    if (crashes := app.place.crashes()) != app.crashes_seen:
        app.broken(f"the app reports a mistake of its own: {crashes[len(app.crashes_seen) :]}")
        app.crashes_seen = crashes
