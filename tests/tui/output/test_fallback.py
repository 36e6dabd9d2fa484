"""When the output layer steps back: by a setting, before a Textual that it does not know, and after a mistake."""

import logging
from collections.abc import Iterator

import pytest

from smith_tui.output import support
from smith_tui.output.app import OutputApp


@pytest.fixture(autouse=True)
def heard(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    logger = logging.getLogger("smith")
    before, logger.propagate = logger.propagate, True
    yield
    logger.propagate = before


def test_the_installed_textual_is_the_one_that_is_known() -> None:
    assert support.textual_problem() == ""
    assert OutputApp("diff").canvas is not None


def test_the_setting_leaves_the_screen_to_textual(caplog: pytest.LogCaptureFixture) -> None:
    assert OutputApp("stock").canvas is None
    assert caplog.messages == []


@pytest.mark.parametrize("version", ["8.2.9", "9.0.0"])
def test_another_textual_is_named_in_the_log_and_left_alone(
    version: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(support, "TEXTUAL_VERSION", version)
    assert OutputApp("diff").canvas is None
    assert f"Textual 8.2.8 is installed, and {version} is known" in caplog.text


def test_private_parts_that_have_changed_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from textual._compositor import ChopsUpdate

    monkeypatch.setattr(ChopsUpdate, "__init__", lambda self, chops, spans: None)
    assert "takes other arguments" in support.textual_problem()


async def test_a_mistake_of_the_layer_is_logged_and_costs_no_more(caplog: pytest.LogCaptureFixture) -> None:
    app = OutputApp("diff")
    async with app.run_test() as pilot:
        app._go_on_without()
        await pilot.pause()
        assert app.canvas is None and app.is_running
        assert "as Textual does it" in caplog.text


def test_blanks_are_written_where_erasing_may_lose_the_colour() -> None:
    assert support.has_color_erase({"TERM": "xterm-256color"})
    assert support.has_color_erase({"TERM": "xterm-kitty"})
    for environ in ({"TERM": "screen-256color"}, {"TERM": "xterm-256color", "TMUX": "x"}, {"TERM": "dumb"}, {}):
        assert not support.has_color_erase(environ), environ
    assert not support.has_color_erase({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"})
