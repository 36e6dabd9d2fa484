"""What a soak does to look at things: views, lists, the mouse, other sizes, and keys that nobody would press."""

import signal
import time

import psutil

from tests.soak.app import ANSWER_S, CLEAR, ENTER, ESCAPE, SIZE, App
from tests.soak.hands import DOWN, MOVES, PAGE_DOWN, TAB, UP, choose, command

F1 = "\x1bOP"
_LETTERS = "abcdefghijklmnopqrstuvwxyz äß日🎉.,([{"
_SIZES = ((100, 30), (80, 24), (40, 12), (20, 6), (300, 70), (1, 1), (199, 50), SIZE)


def inspect(app: App) -> None:
    """Look at messages, filter, change nothing."""
    app.type("\x1bi")
    time.sleep(0.3)
    choose(app, (*MOVES, "m", "t", "w", "v", "c", "r" if app.rng.random() < 0.1 else "t"), app.rng.randint(1, 15))
    if app.rng.random() < 0.3:
        app.type("/answer" + ENTER)


def pager(app: App) -> None:
    """Read the conversation, find something there, leave to another program and come back."""
    app.type("\x1bh")
    time.sleep(0.3)
    choose(app, (*MOVES, "[", "]", "j", "k", "f", "n", "N"), app.rng.randint(1, 15))
    if app.rng.random() < 0.3:
        app.type("/places" + ENTER)
        choose(app, ("n", "N"), 3)
    if app.rng.random() < 0.2:
        app.type("o")
        time.sleep(1.0)


def find(app: App) -> None:
    """Find a text in the transcript."""
    app.home()
    app.type("\x06" + app.rng.choice(("the", "places", "[", "zzz", "answer")))
    choose(app, (ENTER, UP, DOWN), app.rng.randint(0, 6))


def search(app: App) -> None:
    """Search everything that was said."""
    command(app, app.rng.choice(("/search round", "/search", '/search "two of', "/search nothing like this")))
    time.sleep(0.5)
    choose(app, (UP, DOWN, TAB, PAGE_DOWN), app.rng.randint(0, 6))


def views(app: App) -> None:
    """Open one of the screens, and walk about there."""
    if app.rng.random() < 0.5:
        command(app, app.rng.choice(("/list", "/model", "/help", "/usage", "/tools", "/prompt", "/config", "/note")))
    else:
        app.type(app.rng.choice((F1, "\x10", "\x0f", "\x1by")))
    time.sleep(0.3)
    choose(app, (*MOVES[:8], "s", "[", "]"), app.rng.randint(0, 10))


def completions(app: App) -> None:
    """Open lists of completions by typing, and close them."""
    app.home()
    for text in app.rng.choices(("/", "/co", "/config set ", "@", "@pri", "look at @n", "/zz", "/export h"), k=3):
        app.type(text)
        choose(app, (DOWN, UP, "\x0e"), app.rng.randint(0, 4))
        app.type(ESCAPE + CLEAR)


def mouse(app: App) -> None:
    """Scroll, click and drag anywhere."""
    rng = app.rng
    for _ in range(rng.randint(3, 30)):
        x, y = rng.randint(1, SIZE[0]), rng.randint(1, SIZE[1])
        kind = rng.choice((64, 64, 65, 65, 0, 35))
        app.terminal.type(f"\x1b[<{kind};{x};{y}M")
        if kind == 0:
            app.terminal.type(f"\x1b[<32;{x + 3};{y}M\x1b[<0;{x + 3};{y}m")
        time.sleep(rng.random() * 0.03)


def stop_and_go(app: App) -> None:
    """Stop the program for a moment, as a shell does at Ctrl+Z, or without being asked."""
    number = app.rng.choice((signal.SIGTSTP, signal.SIGSTOP))
    app.log(f"signal {number.name}, SIGCONT")
    app.terminal.process.send_signal(number)
    # A shell, too, lets a program go on only after it has stopped.
    process, end = psutil.Process(app.terminal.process.pid), time.monotonic() + ANSWER_S
    while process.status() != psutil.STATUS_STOPPED and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(app.rng.random())
    app.terminal.process.send_signal(signal.SIGCONT)


def resize(app: App) -> None:
    """Change the size several times, also to very small ones."""
    for _ in range(app.rng.randint(1, 6)):
        app.resize(*app.rng.choice(_SIZES))
        time.sleep(app.rng.random() * 0.2)
        if app.rng.random() < 0.3:
            choose(app, MOVES, 3)


def panes(app: App) -> None:
    """Use the panes of children, where there are some."""
    choose(app, ("\x1b1", "\x1b2", "\x1b0", "\x1bz", "\x1bt", "\x1bm", "\x18", TAB, ESCAPE), app.rng.randint(1, 8), 0.2)


def keys(app: App) -> None:
    """Press keys that nobody would."""
    app.home()
    choose(app, (*_LETTERS, *MOVES, "\x7f", "\x0c", "\x1bb", "\x17", "\x0b", "\x1a", "\x1b\x1b[A", "\x1bc"), 30, 0.02)
