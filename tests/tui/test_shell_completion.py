"""Completion scripts: what a real bash offers, and what all three scripts know."""

import shutil
import subprocess
from pathlib import Path

import pytest

from docs.generate.options import subcommands
from smith_tui.command_line import build_parser
from smith_tui.completion_command import SHELLS, completion_script

# Each line of the input is a command line, its words between tabs, of which the last one is being typed.
ASK = """
source "$1"
compopt() { echo -n "($*) "; }
while IFS= read -r line; do
  IFS=$'\\t' read -r -a COMP_WORDS <<< "$line"
  [[ $line == *$'\\t' ]] && COMP_WORDS+=("")
  COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )) COMPREPLY=()
  _smith_tui smith-tui "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
  echo "${COMPREPLY[*]}"
done
"""
OFFERED = {
    "smith-tui\tstor": "store",
    "smith-tui\tstore\tex": "export",
    "smith-tui\trun\t--js": "--json",
    "smith-tui\t--role\t": "direct orchestrator",
    "smith-tui\tcompletion\tf": "fish",
    "smith-tui\t--set\tui.th": "(-o nospace) ui.theme=",
    "smith-tui\t--set\tmodel": "(-o nospace) models.",
    "smith-tui\t--set\tui.theme\t=": "dark light contrast",
    "smith-tui\t--set\tui.theme\t=\tli": "light",
    "smith-tui\t--set\tui.theme\t=\tlight\trun\t--js": "--json",
}


def test_bash_offers_subcommands_options_and_settings(tmp_path: Path) -> None:
    script, ask = tmp_path / "script", tmp_path / "ask"
    script.write_text(completion_script(build_parser(), "bash"))
    ask.write_text(ASK)
    command = ["bash", "--norc", str(ask), str(script)]
    asked = subprocess.run(command, input="\n".join(OFFERED) + "\n", capture_output=True, text=True, timeout=60)
    assert asked.stderr == ""
    assert dict(zip(OFFERED, asked.stdout.splitlines(), strict=True)) == OFFERED


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_knows_all_subcommands_options_and_settings(shell: str, tmp_path: Path) -> None:
    script = completion_script(build_parser(), shell)
    options = [word for command in subcommands() for option in command.options for word in option.words.split()]
    words = [word for command in subcommands() for word in command.words.split()[1:]]
    for name in {*words, *(option.strip("-,") for option in options if option.startswith("--"))}:
        assert name in script, name
    assert "tools.bash_timeout_s=" in script
    assert "<key>" not in script
    path = tmp_path / "script"
    path.write_text(script)
    if shutil.which(shell):  # bash is everywhere, the others where a person has them
        checked = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, timeout=60)
        assert (checked.returncode, checked.stderr) == (0, "")
