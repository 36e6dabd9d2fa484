"""Slash commands with anything behind them: each line ends in words, and the session goes on."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.command_table import split_command
from smith_core.events import CommandOutput, Notice
from tests.support.engine import command, open_engine, run_turn
from tests.support.scripted_client import ScriptedClient

# These write where they are told, end the session or ask a model.
LEFT_OUT = {"export", "quit", "exit", "retry", "compact", "model"}


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_a_line_is_split_into_a_name_and_the_rest_and_nothing_is_lost(text: str) -> None:
    name, rest = split_command(f"/{text}")
    assert " " not in name and name == name.lower().strip() and rest == rest.strip()
    first, _, behind = text.partition(" ")
    assert (name, rest) == (first.strip().lower(), behind.strip())
    assert split_command(f"/{name} {rest}") == (name, rest)


def test_no_line_ends_the_session(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        runtime = open_engine(tmp_path, ScriptedClient("fine"))
        names = sorted(runtime.services.command.own_names - LEFT_OUT)

        @settings(deadline=None)
        @given(st.sampled_from([*names, "nonsense", ""]), st.text(max_size=40) | st.sampled_from(["-1", "[/x]"]))
        def run(name: str, arguments: str) -> None:
            line = f"/{name} {arguments}"
            for event in runner.run(command(runtime, line)):
                if isinstance(event, CommandOutput | Notice):
                    event.text.encode()

        run()
        assert runner.run(run_turn(runtime, "and now")).text == "fine"
        runner.run(runtime.stop_session("end"))


@pytest.mark.parametrize("line", ["/", "/ ", "//", "/\n", "/\0", "/HELP", "/help\tme"])
def test_odd_lines_are_split(line: str) -> None:
    name, rest = split_command(line)
    assert "\n" not in name and rest == rest.strip()
