"""The rain in a pseudo terminal with pictures: when it falls, how it ends, and what is left of it: nothing."""

import time

from smith_tui.graphics.leftovers import IMAGE_ID
from tests.e2e.conftest import SMITH, Place
from tests.support.pictures import PictureBox, PictureTerminal
from tests.support.rainy import Children, app, assert_given_back, rain, segments_of, until


def test_it_rains_behind_the_transcript_alone_until_the_first_output(
    rainy: Place, rain_model: tuple[Children, str]
) -> None:
    with app(rainy, rain_model[1]) as terminal:
        until(terminal, lambda box: box.log == ["delete"])
        rain(terminal)
        box = terminal.box
        rows = terminal.text().split("\n")
        panes = next(y for y, row in enumerate(rows) if row.startswith("╭"))
        until(terminal, lambda box: box.placements[IMAGE_ID][:4] == (0, 0, 42, panes))
        assert set(box.modes) == {0o600}
        # The marks around one update, which this terminal does not have, take 16 more.
        assert max(frame.size for frame in box.frames) <= 130 - 16
        began, count = time.monotonic(), len(box.frames)
        time.sleep(1)
        assert 3 <= len(box.frames) - count <= 10 * (time.monotonic() - began) + 2
        terminal.type("\x1bOP")
        terminal.wait_for("─ Help ─")
        assert box.log[-1] == "delete" and not box.images
        terminal.type("\x1b[27u")
        terminal.wait_for(lambda text: "─ Help ─" not in text)
        until(terminal, lambda box: bool(box.images))
        rain_model[0].answer()
        terminal.wait_for("all is done")
        assert not box.images and box.log[-1] == "delete"
        assert segments_of(terminal.process.pid) == []
        # Idle is idle again.
        terminal.wait_for("idle")
        time.sleep(0.5)
        written, log = len(terminal.raw), len(box.log)
        time.sleep(1)
        assert len(box.log) == log
        assert len(terminal.raw) - written < 500


def test_doctor_says_how_the_rain_is_shown(rainy: Place) -> None:
    for kind, box, words in (
        ("xterm-kitty", PictureBox(), "✓ rain         pictures behind the text, through shared memory"),
        ("xterm", PictureBox("XTerm(379)"), "✓ rain         dim characters in blank cells: this terminal is not known"),
    ):
        options = {"cwd": rainy.project, "environ": rainy.environ, "columns": 150}
        command = [SMITH, "doctor", "--set", "llm_config.api_url=http://127.0.0.1:9/v1", "--model", "m"]
        with PictureTerminal(command, box=box, kind=kind, **options) as seen:
            seen.wait_for(words)
            seen.wait_for("settings")
            assert "Gi=" not in seen.text()


def test_the_command_shows_the_rain_over_the_whole_screen_and_ends_by_any_key(rainy: Place) -> None:
    options = {"cwd": rainy.project, "environ": rainy.environ, "kind": "xterm-kitty"}
    with PictureTerminal([SMITH, "rain"], box=PictureBox(memory=False), **options) as terminal:
        until(terminal, lambda box: len(box.frames) > 2)
        assert terminal.box.frames[-1].placement == (0, 0, 78, 24, -10)
        assert {frame.way for frame in terminal.box.frames} == {"d"}
        terminal.type("x")
        assert terminal.wait_for_exit() == 0
        assert_given_back(terminal)
        assert "through the line of the terminal" in terminal.text()
