"""What hands do in every action of a soak: press keys, send prompts and commands."""

import time

from tests.soak.app import ENTER, ESCAPE, App

UP, DOWN, LEFT, RIGHT = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"
HOME, END, PAGE_UP, PAGE_DOWN, TAB = "\x1b[H", "\x1b[F", "\x1b[5~", "\x1b[6~", "\t"
MOVES = (UP, DOWN, LEFT, RIGHT, HOME, END, PAGE_UP, PAGE_DOWN, TAB, " ")


def command(app: App, line: str) -> None:
    """Send a command of the app; the list of completions that it opens is closed first."""
    app.home()
    app.type(line)
    # Keys that come all at once count as a paste.
    app.saw(lambda text: line[:8] in text, 2.0)
    time.sleep(0.1)
    app.type(ESCAPE)
    time.sleep(0.1)
    app.type(ENTER)


def choose(app: App, keys: tuple[str, ...], count: int, pause: float = 0.05) -> None:
    """Press some of these keys."""
    pressed = app.rng.choices(keys, k=count)
    app.log(f"keys {''.join(pressed)!r}")
    for key in pressed:
        app.terminal.type(key)
        time.sleep(app.rng.random() * pause)


def submit(app: App, text: str, key: str = ENTER) -> None:
    """Type a prompt, and send it as soon as it is there."""
    app.type(text)
    app.saw(lambda shown: text[:6] in shown, 5.0)
    time.sleep(0.1)
    app.type(key)
