"""The script of the tour: which prompts it knows, and what it answers to what really happened."""

import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from smith_core.embedded.label import SCRIPTED_MODEL
from smith_core.tour.parts import (
    Answer,
    CallTool,
    Say,
    Situation,
    Think,
    exit_code,
    file_hash,
    first_line,
    number_of_line,
    output_of,
    read_situation,
)
from smith_core.tour.project import PRICES_FILE, RIGHT_LINE, WRONG_LINE

COUNT_TO = 60


class TourStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step: what the person types, the commands that may be tried before it, and how the script answers."""

    prompt: str
    answer: Callable[[Situation], Answer]
    commands: tuple[str, ...] = ()
    is_stopped: bool = False


def answer_to(messages: Sequence[Mapping[str, Any]]) -> Answer:
    """Return the next answer in a conversation; to a prompt that is not of the tour it says what it is."""
    situation = read_situation(messages)
    typed = situation.prompt.strip(" \t\n.!?\"'`").casefold()
    step = next((step for step in STEPS if step.prompt == typed), None)
    return step.answer(situation) if step else _unknown()


def python_command() -> str:
    """Return the command that runs Python in a shell."""
    return "python3" if shutil.which("python3") else shlex.quote(sys.executable)


def _next(prompt: str) -> str:
    return f"\n\nType next: `{prompt}`"


def _unknown() -> Answer:
    known = "\n".join(f"- `{step.prompt}`" for step in STEPS)
    return (
        Say(
            f"I am a {SCRIPTED_MODEL}, so I cannot answer that. I know only the steps of this tour:\n\n{known}\n\n"
            "For a model that answers anything, leave with `/quit` and start `smith-tui setup`."
        ),
    )


def _hello(situation: Situation) -> Answer:
    return (
        Think("Reasoning of a model appears like this, before its answer. "),
        Say(
            f"This is a **{SCRIPTED_MODEL}**: my answers were written beforehand. All else is real: this text streams "
            "over HTTP like a model's, and the files and commands that follow are real ones, in a sample project "
            "that is removed when you leave.\n\n"
            f"The project has a file, `{PRICES_FILE}`, that prints 45.0 where 15.0 is right." + _next("fix the price")
        ),
    )


def _fix_the_price(situation: Situation) -> Answer:
    match situation.results:
        case ():
            return Say("I read the file first.\n"), CallTool("read", {"path": PRICES_FILE})
        case (read,):
            return _edit_or_say_why_not(read)
        case (read, second) if number_of_line(read, WRONG_LINE):
            if "new_hash:" not in second:
                return _edit_refused(second)
            return _run_prices("A discount has to be subtracted. I run the file to see whether that was it.\n")
        case _:
            return _report_price(situation)


def _edit_or_say_why_not(read: str) -> Answer:
    number, found_hash = number_of_line(read, WRONG_LINE), file_hash(read)
    if number:
        arguments = {
            "path": PRICES_FILE,
            "operation": "replace",
            "start_line": number,
            "end_line": number,
            "text": RIGHT_LINE,
            "hash": found_hash,
        }
        return Say(f"Line {number} adds the discount instead of subtracting it.\n"), CallTool("edit", arguments)
    if not found_hash:
        return (
            Say(
                f"I could not read it: {first_line(read)}\n\nPut `{PRICES_FILE}` back, or go on without it."
                + _next("run the tests")
            ),
        )
    if number_of_line(read, RIGHT_LINE):
        return _run_prices("The line is right already, so there is nothing to edit. I only run the file.\n")
    return _run_prices(
        f"`{PRICES_FILE}` is not the file that I know: you have changed it. I leave it alone and only run it.\n"
    )


def _edit_refused(result: str) -> Answer:
    return (
        Say(
            f"The edit was refused: {first_line(result)}\n\nAn edit names the hash of the file that was read, so that "
            "nobody's change is overwritten. Read and edit once more:" + _next("fix the price")
        ),
    )


def _run_prices(text: str) -> Answer:
    return Say(text), CallTool("bash", {"command": f"{python_command()} {PRICES_FILE}"})


def _report_price(situation: Situation) -> Answer:
    result = situation.results[-1]
    printed, code = output_of(result), exit_code(result)
    if code == 0 and printed == "15.0":
        said = f"It prints `{printed}` now, with exit code 0."
    elif code is None:
        said = f"The command did not end by itself: {first_line(result)}"
    else:
        said = (
            f"It ended with exit code {code} and said: `{first_line(printed)}`. That is not the 15.0 that it should be."
        )
    return (
        Say(
            f"{said} The cards above are the record: the read, the edit as a diff, the command with its exit code. "
            "**Ctrl+O** opens the whole output of each call beside them, and closes it again." + _next("run the tests")
        ),
    )


def _run_the_tests(situation: Situation) -> Answer:
    if not situation.results:
        return (
            Say("Not everything goes well. I run the tests:\n"),
            CallTool("bash", {"command": f"{python_command()} -m unittest"}),
        )
    result = situation.results[-1]
    code = exit_code(result)
    if code == 0:
        said = "They all pass, with exit code 0: you have corrected what I wanted to show you."
    elif code is None:
        said = f"The command did not end by itself: {first_line(result)}"
    else:
        reason = next((line for line in result.splitlines() if "Error" in line), first_line(result))
        said = (
            f"They ended with exit code {code}: `{reason.strip()}`. A failed call is marked as an error, and a model "
            "reads it as you do and tries again. I leave it, for I am a script."
        )
    return (
        Say(
            f"{said}\n\nNow something slow. While it runs, its output appears live, and **Ctrl+C** stops it; "
            "stop it when you have seen enough." + _next("count slowly")
        ),
    )


def _count_slowly(situation: Situation) -> Answer:
    if not situation.results:
        command = f"i=0; while [ $i -lt {COUNT_TO} ]; do i=$((i+1)); echo $i; sleep 1; done"
        return (
            Say("I count, one number a second. Press **Ctrl+C** to stop me, then type `go on`.\n"),
            CallTool("bash", {"command": command}),
        )
    return (Say("You let me count to the end." + _next("go on")),)


def _go_on(situation: Situation) -> Answer:
    if situation.earlier_result.rstrip().endswith("[cancelled]"):
        said = "You stopped the command: it ended with everything that it had started, and the conversation goes on."
    else:
        said = "The conversation goes on."
    return (
        Say(
            f"{said}\n\nLines that begin with a slash are commands of the program and go to no model: `/help` lists "
            "them, `/usage` shows the tokens of this session. **Ctrl+P** finds them by name, and **F1** shows all "
            "keys. Try one of them." + _next("find the needle")
        ),
    )


def _find_the_needle(situation: Situation) -> Answer:
    straws = [f"{number}. straw" for number in range(1, 31)]
    straws[6] = straws[6].replace("straw", "a needle")
    straws[21] = straws[21].replace("straw", "another needle")
    return (
        Say(
            "\n".join(straws) + "\n\nPress **Ctrl+F** and type `needle`: Enter goes from match to match, Esc closes. "
            "PgUp and PgDn turn the pages." + _next("finish")
        ),
    )


def _finish(situation: Situation) -> Answer:
    return (
        Say(
            "That was the tour: streaming, a read, an edit as a diff, a command, an error, a stop, commands, the "
            "output pane and the search.\n\nFor real work you need a model. Leave with `/quit`, and then either\n\n"
            "- `smith-tui setup` chooses an endpoint and a model, step by step, or\n"
            "- `smith-tui model install` fetches a small model that runs on this machine.\n\n"
            f"Until then, remember: I am a {SCRIPTED_MODEL}."
        ),
    )


STEPS: tuple[TourStep, ...] = (
    TourStep(prompt="hello", answer=_hello),
    TourStep(prompt="fix the price", answer=_fix_the_price),
    TourStep(prompt="run the tests", answer=_run_the_tests),
    TourStep(prompt="count slowly", answer=_count_slowly, is_stopped=True),
    TourStep(prompt="go on", answer=_go_on),
    TourStep(prompt="find the needle", answer=_find_the_needle, commands=("/help", "/usage")),
    TourStep(prompt="finish", answer=_finish),
)
"""The tour in its order; every answer says what to type next."""
