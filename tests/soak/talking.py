"""What a soak says to the app: prompts, commands, pastes, answers, and edits of what was said."""

import time

from tests.soak.app import CANCEL, ENTER, ESCAPE, App
from tests.soak.hands import DOWN, LEFT, PAGE_UP, UP, choose, command, submit

ALT_ENTER = "\x1b\r"
_MOST_REMOVED = 12
"""Marks that one removal may take away: those of a turn, with what was said to it."""


def send(app: App) -> None:
    """Send a prompt and give the turn some time."""
    app.home()
    submit(app, app.prompt_text(app.rng.choice(("do it", "look at @prices.py ", "línea\x0atwo " * 3, "x" * 3000))))
    app.let_turn_end(app.rng.choice((0.0, 2.0, 10.0, 30.0)))


def queue(app: App) -> None:
    """Send several prompts at once, and do something to those that wait."""
    app.home()
    for _ in range(app.rng.randint(2, 4)):
        submit(app, app.prompt_text("one of several"))
        time.sleep(app.rng.random() * 0.3)
    app.type("\x1bq")
    choose(app, (UP, DOWN, "d", "u", "n", "e"), app.rng.randint(0, 4))
    app.let_turn_end(app.rng.choice((0.0, 10.0)))


def steer(app: App) -> None:
    """Say something to the turn that runs, or send it."""
    app.home()
    submit(app, app.prompt_text("by the way", kind="s"), ALT_ENTER)
    app.let_turn_end(app.rng.choice((0.0, 5.0)))


def cancel(app: App) -> None:
    """Cancel at a random moment; without a turn nothing happens but a hint."""
    time.sleep(app.rng.random())
    app.type(CANCEL)
    time.sleep(2.5)


def edit_history(app: App) -> None:
    """Edit or delete a message, and maybe take that back; while a turn runs it is refused."""
    app.home()
    app.expect_removal(_MOST_REMOVED)
    app.type("\x1bi")
    time.sleep(0.5)
    choose(app, (UP, PAGE_UP, DOWN), app.rng.randint(0, 5))
    match app.rng.randrange(4):
        case 0:
            app.type("d")
        case 1:
            app.type("o")
            time.sleep(1.0)
        case 2:
            app.type("e")
            time.sleep(0.2)
            app.type(" and more words\x13")
        case _:
            app.type("vd")
    time.sleep(0.5)
    choose(app, ("u", "r", "u"), app.rng.randint(0, 2))


def undo(app: App) -> None:
    """Take the last turn back, or ask it again."""
    app.expect_removal(_MOST_REMOVED)
    command(app, app.rng.choice(("/undo", "/retry", "/undo 2")))
    app.let_turn_end(10.0)


def settings(app: App) -> None:
    """Change how it looks or works."""
    lines = [f"/config set ui.theme {theme}" for theme in ("dark", "light", "contrast")]
    lines += [f"/config set ui.rain {rain}" for rain in ("auto", "cells", "off", "kitty")]
    lines += [f"/config set ui.motion {motion}" for motion in ("full", "reduced")]
    lines += ["/role orchestrator", "/role direct", "/config set tool_step_budget 6", "/config unset tool_step_budget"]
    command(app, app.rng.choice(lines))


def commands(app: App) -> None:
    """Run other commands."""
    lines = ("/export markdown", "/export html out.html", "/export json", "/record a b", "/recall a", "/note list")
    more = ("!echo mine", "!!echo kept", "!seq 1 5000", "!exit 2", "/hlp", "/title something", "/fork", "/new")
    command(app, app.rng.choice(lines + more))
    app.let_turn_end(app.rng.choice((0.0, 3.0)))


def delete_and_take_back(app: App) -> None:
    """Delete the conversation, and take that back."""
    app.stop_turn()
    app.look()
    command(app, "/delete")
    time.sleep(1.0)
    command(app, "/undelete")
    time.sleep(1.0)
    app.home()
    app.look()


def ask(app: App) -> None:
    """Let calls ask first for a while, and answer by keys."""
    command(app, "/config set tools.permission ask")
    app.home()
    submit(app, app.prompt_text("ask me"))
    for _ in range(app.rng.randint(1, 5)):
        time.sleep(1.0)
        choose(app, ("\x1bp", "y", "n", "a", "c", ESCAPE), 3)
    command(app, "/config set tools.permission auto")


def paste(app: App) -> None:
    """Paste something small, large or wild; sometimes send it."""
    app.home()
    bodies = (
        "two\nlines",
        "x" * 200_000,
        "word " * 3000 + "\n" * 50,
        "\x1b[31mred\x07 \x00 tab\t/quit\n",
        "日本🎉" * 500,
    )
    body = f"{app.prompt_text('pasted')} {app.rng.choice(bodies)}"
    app.log(f"paste {len(body)} characters")
    app.terminal.type(f"\x1b[200~{body}\x1b[201~")
    choose(app, ("\x1bv", ESCAPE, LEFT, "\x7f", "\x1a", "\x19"), app.rng.randint(0, 3))
    if app.rng.random() < 0.3:
        app.type(ENTER)
        app.let_turn_end(5.0)
