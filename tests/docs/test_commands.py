"""Every command that the documentation names is run; those that need no screen in tests/e2e/test_guide_commands.py.

Whether the parser takes each command line is checked in tests/tui/test_guide.py. What opens the full screen, or
fetches a model, is done in the tests that OPENED_IN names.
"""

import itertools
import re
import shlex
import subprocess
from pathlib import Path

from docs.generate.pages import ROOT
from smith_core.events import Notice
from smith_core.llm.protocol import ModelRequest
from tests.bench.table import PARTS
from tests.docs.collected import COMMAND_LINES, IN_APP, MAKE_LINES, WITH_A_MODEL, WITHOUT_A_MODEL
from tests.support.engine import command, open_stored_engine, run_turn
from tests.support.scripted_client import Answer, ScriptedClient, calls

OPENED_IN = {
    r"smith-tui( --(new|role|model|resume|set)\b.*)?": "tests/e2e/test_app.py",
    r"SMITH_LOG=\S+ smith-tui": "tests/core/test_log.py",
    r"cd ~/project && /path/to/this/clone/.venv/bin/smith-tui": "tests/e2e/test_app.py",
    r"smith-tui tour": "tests/e2e/test_tour.py",
    r"smith-tui (setup|doctor)": "tests/tui/test_bootstrap.py",
    r"smith-tui rain": "tests/e2e/test_rain.py",
    r"smith-tui run": "tests/e2e/test_run.py",
    r"smith-tui model install": "tests/core/embedded/test_install.py",
    r"smith-tui completion zsh > .*": "tests/tui/test_shell_completion.py",
    r"(pipx|uvx) .*": "tests/wheel/checks.py",
    r"man smith-tui": "docs/man/smith-tui.1",
}


FIRST = {"/redo": "/undo files 1"}
NUMBERS = itertools.count()


def write_a_file(request: ModelRequest) -> Answer:
    """Write another file in each turn, so that there is something to take back."""
    if request.messages[-1].role == "tool":
        return "fine."
    return calls(("write", {"path": f"{next(NUMBERS)}.txt", "content": "new\n"}))


async def test_every_command_of_the_app_does_something_in_a_conversation(tmp_path: Path) -> None:
    assert len(IN_APP) > 25
    runtime = open_stored_engine(tmp_path, ScriptedClient(write_a_file), is_searched=True)
    failed = []
    # Last those after which a turn may no longer write.
    for line in sorted(IN_APP, key=lambda line: line.startswith(("/config", "/role"))):
        while len(runtime.services.conversation.messages) < 12:
            await run_turn(runtime, "mend the price test")
        if line in FIRST:
            await command(runtime, FIRST[line])
        events = await command(runtime, line)
        failed += [(line, event.text) for event in events if isinstance(event, Notice) and event.level == "error"]
    await runtime.stop_session("test")
    assert failed == []


def test_no_command_line_is_left_out() -> None:
    for line in COMMAND_LINES:
        if line not in (*WITH_A_MODEL, *WITHOUT_A_MODEL):
            assert any(re.fullmatch(pattern, line) for pattern in OPENED_IN), line
    assert all((ROOT / path).exists() for path in OPENED_IN.values())


def test_make_knows_what_to_do_for_every_line_of_it() -> None:
    lines = [shlex.split(line) for line in MAKE_LINES]
    targets = sorted({word for _, *words in lines for word in words if "=" not in word})
    done = subprocess.run(["make", "-n", *targets], cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert len(targets) > 8 and done.returncode == 0, done.stderr
    parts = {name for part in PARTS for name in (part.name, part.module)}
    for _, target, *words in (line for line in lines if line[1:2] == ["bench"]):
        for word in words[0].removeprefix("ARGS=").split() if words else []:
            assert word.startswith("--") or word in parts, f"{target}: {word}"
