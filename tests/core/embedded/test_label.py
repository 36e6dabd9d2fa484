"""What a model is called, and that no small or scripted one is mistaken for more."""

from pathlib import Path

import pytest

from smith_core.embedded.catalog import DEFAULT_MODEL, MODELS
from smith_core.embedded.label import CONNECT_LINES, SCRIPTED_MODEL, label_of
from smith_core.events import AnyEvent, Notice
from smith_tui.cli import main
from tests.support.engine import open_engine, run_turn
from tests.support.scripted_client import ScriptedClient

STATUS_BAR_CELLS = 40


@pytest.mark.parametrize("model", [f"embedded:{model.name}" for model in MODELS])
def test_an_embedded_model_is_named_with_its_limits_and_the_way_to_an_endpoint(model: str) -> None:
    label = label_of(model)
    assert "not a capable coder" in label.limits
    assert all(line in label.notice for line in CONNECT_LINES)
    assert "local" in label.short
    assert len(label.short) <= STATUS_BAR_CELLS


def test_the_words_of_the_default_model() -> None:
    wanted = "local 1.5B model: reads, simple edits, commands; not a capable coder"
    assert label_of(f"embedded:{DEFAULT_MODEL.name}").limits == wanted


def test_the_script_is_called_one_everywhere() -> None:
    label = label_of(SCRIPTED_MODEL)
    assert label.short == SCRIPTED_MODEL == "scripted demo, no language model"
    assert label.limits.startswith(SCRIPTED_MODEL)


def test_a_file_is_named_without_its_folders() -> None:
    label = label_of("file:/very/long/way/to/model.gguf")
    assert label.short == "model.gguf (local)"
    assert label.limits


@pytest.mark.parametrize("model", ["", "gpt", "anthropic/claude", "qwen2.5-coder-1.5b", "embedded:nothing-we-know"])
def test_any_other_model_speaks_for_itself(model: str) -> None:
    assert label_of(model).short == model
    assert label_of(model).notice == ""


async def test_the_limits_are_told_before_the_first_answer_and_once(tmp_path: Path) -> None:
    runtime = open_engine(tmp_path, ScriptedClient("one", "two"), {"default_model": SCRIPTED_MODEL})
    first: list[AnyEvent] = []
    second: list[AnyEvent] = []
    await run_turn(runtime, "a", first)
    await run_turn(runtime, "b", second)
    notices = [event.text for event in first if isinstance(event, Notice)]
    assert notices == [label_of(SCRIPTED_MODEL).notice]
    assert not any(isinstance(event, Notice) for event in second)


def test_the_connecting_command_is_one_that_the_program_takes(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = CONNECT_LINES[1].removeprefix("smith-tui ").split()
    assert main(arguments) == 2
    assert "needs a terminal" in capsys.readouterr().err
