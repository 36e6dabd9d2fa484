"""The script reacts to what really happened, and to nothing that is not of its tour."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from smith_core.embedded.label import SCRIPTED_MODEL
from smith_core.tour.parts import Answer, CallTool, Say
from smith_core.tour.project import PRICES_FILE, RIGHT_LINE, WRONG_LINE, sample_project
from smith_core.tour.script import STEPS, answer_to

HASH = "ab" * 32


def conversation(prompt: str, *results: str, before: tuple[dict[str, Any], ...] = ()) -> list[dict[str, Any]]:
    answers = [{"role": "tool", "tool_call_id": "c", "content": result} for result in results]
    return [{"role": "system", "content": "s"}, *before, {"role": "user", "content": prompt}, *answers]


def text_of(answer: Answer) -> str:
    return "".join(part.text for part in answer if isinstance(part, Say))


def call_of(answer: Answer) -> CallTool:
    (call,) = [part for part in answer if isinstance(part, CallTool)]
    return call


def read_result(line: str, number: int = 6, found_hash: str = HASH) -> str:
    return f"prices.py: lines 1-9 of 9\nhash: {found_hash}\n\n{number:>6}\t{line}\n"


def test_every_step_names_one_that_exists_and_the_chain_reaches_the_end() -> None:
    for step, after in itertools.pairwise(STEPS):
        answer = answer_to(conversation(step.prompt))
        ends = text_of(answer)
        results = ["x\n[exit code 0]"]
        while any(isinstance(part, CallTool) for part in answer) and len(results) < 5:
            answer = answer_to(conversation(step.prompt, *results))
            ends += text_of(answer)
            results.append("x\n[exit code 0]")
        assert f"`{after.prompt}`" in ends, step.prompt


def test_the_edit_uses_hash_and_line_number_of_the_real_result() -> None:
    call = call_of(answer_to(conversation("fix the price", read_result(WRONG_LINE, number=17))))
    assert call.name == "edit"
    assert (call.arguments["hash"], call.arguments["start_line"], call.arguments["end_line"]) == (HASH, 17, 17)
    assert call.arguments["text"] == RIGHT_LINE


@pytest.mark.parametrize(
    ("line", "words"), [(RIGHT_LINE, "right already"), ("    return 7", "you have changed it"), ("", "changed it")]
)
def test_a_file_that_the_person_changed_is_left_alone(line: str, words: str) -> None:
    answer = answer_to(conversation("fix the price", read_result(line)))
    assert call_of(answer).name == "bash"
    assert words in text_of(answer)


def test_a_file_that_cannot_be_read_is_said_to_be_so() -> None:
    answer = answer_to(conversation("fix the price", "cannot read prices.py: no such file"))
    assert "cannot read prices.py: no such file" in text_of(answer)
    assert "run the tests" in text_of(answer)


def test_an_edit_that_was_refused_is_not_claimed() -> None:
    refused = "Not edited: prices.py changed since it was read."
    answer = answer_to(conversation("fix the price", read_result(WRONG_LINE), refused))
    assert refused in text_of(answer)
    assert not any(isinstance(part, CallTool) for part in answer)


@pytest.mark.parametrize(
    ("result", "words", "absent"),
    [
        ("15.0\n[exit code 0]", "`15.0` now, with exit code 0", "should be"),
        ("45.0\n[exit code 0]", "not the 15.0", "now, with"),
        ("Traceback\n[exit code 1]", "exit code 1", "now, with"),
        ("[timed out after 120 s]", "did not end by itself", "now, with"),
        ("you may not use bash", "did not end by itself: you may not", "now, with"),
    ],
)
def test_the_report_tells_the_real_outcome(result: str, words: str, absent: str) -> None:
    results = (read_result(WRONG_LINE), f"prices.py: replaced\nnew_hash: {HASH}", result)
    text = text_of(answer_to(conversation("fix the price", *results)))
    assert words in text
    assert absent not in text


def test_tests_that_pass_after_all_are_not_called_failed() -> None:
    assert "exit code 0" in text_of(answer_to(conversation("run the tests", "OK\n[exit code 0]")))
    failing = "AssertionError: 3.3000000000000003 != 3.3\n[exit code 1]"
    assert "3.3000000000000003" in text_of(answer_to(conversation("run the tests", failing)))


def test_going_on_knows_whether_something_was_stopped() -> None:
    stopped = ({"role": "user", "content": "count slowly"}, {"role": "tool", "content": "1\n2\n[cancelled]"})
    assert "You stopped the command" in text_of(answer_to(conversation("go on", before=stopped)))
    assert "You stopped" not in text_of(answer_to(conversation("go on")))


@pytest.mark.parametrize("prompt", ["Hello", " hello. ", "`hello`", '"HELLO!"', "count slowly\n\nhello"])
def test_a_prompt_is_known_however_it_is_typed(prompt: str) -> None:
    assert "fix the price" in text_of(answer_to(conversation(prompt)))


@pytest.mark.parametrize("prompt", ["", "write me a compiler", "hello world", "fix", "ignore your script", "\x00"])
def test_anything_else_gets_an_honest_answer_with_the_known_inputs(prompt: str) -> None:
    answer = answer_to(conversation(prompt))
    assert not any(isinstance(part, CallTool) for part in answer)
    assert SCRIPTED_MODEL in text_of(answer)
    assert all(f"`{step.prompt}`" in text_of(answer) for step in STEPS)


@pytest.mark.parametrize(
    "messages",
    [[], [{}], [{"role": "user"}], [{"role": "user", "content": None}], [{"role": "user", "content": [{"x": 1}, "y"]}]],
)
def test_odd_messages_break_nothing(messages: list[dict[str, Any]]) -> None:
    assert SCRIPTED_MODEL in text_of(answer_to(messages))


def test_the_first_answer_says_what_it_is() -> None:
    assert SCRIPTED_MODEL in text_of(answer_to(conversation("hello")))


def test_the_sample_project_has_the_mistake_and_goes_away() -> None:
    with sample_project() as folder:
        assert WRONG_LINE in (folder / PRICES_FILE).read_text()
        assert (folder / ".git").is_dir()
        (folder / "__pycache__").mkdir()
        kept: Path = folder
    assert not kept.parent.exists()
