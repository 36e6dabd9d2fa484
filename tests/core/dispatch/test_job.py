"""Jobs: what a dispatch call may ask for, and what a child reads of it."""

from typing import Any

import pytest

from smith_core.cancel import new_root
from smith_core.dispatch.job import DispatchJob, build_job, context_of, job_prompt
from smith_core.errors import AgentFailure
from smith_core.tools.dispatch import DISPATCH, DispatchArguments
from smith_core.tools.executor import decode_arguments

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
WRITTEN_TALK = "user: hi\nassistant: hello\nuser: do it\nassistant: done\n"


def job(**fields: Any) -> DispatchJob:
    arguments = DispatchArguments(**{"role": "worker", "task": "do it", **fields})
    return build_job(arguments, "job1", "turn-1", new_root())


def refusal(**fields: Any) -> str:
    with pytest.raises(AgentFailure) as caught:
        job(**fields)
    assert caught.value.error.kind == "schema"
    return caught.value.error.message


def test_files_are_sorted_and_without_doubles() -> None:
    assert job(files=["b.py", "a.py", "b.py", " "]).files == ("a.py", "b.py")
    assert job(files="one.py").files == ("one.py",)
    assert "no path" in refusal(files=["a\nb"])
    assert "200" in refusal(files=[str(number) for number in range(201)])


def test_the_token_hangs_below_that_of_the_parent() -> None:
    parent = new_root()
    made = build_job(DispatchArguments(role="worker", task="t"), "j", "turn", parent)
    other = build_job(DispatchArguments(role="worker", task="t"), "k", "turn", parent)
    made.cancel_token.request()
    assert (other.cancel_token.is_cancelled, parent.is_cancelled) == (False, False)
    parent.request()
    assert other.cancel_token.is_cancelled


@pytest.mark.parametrize("task", ["", " \n"])
def test_a_job_needs_a_task(task: str) -> None:
    assert "task is empty" in refusal(task=task)


@pytest.mark.parametrize(
    "context",
    [
        TALK,
        {"messages": TALK},
        {"user_request_summary": "s", "transcript": "anything"},
        {"user_request_summary": WRITTEN_TALK},
        {"notes": TALK},
        WRITTEN_TALK,
        '[{"role": "user", "content": "hi"}]',
        {"transcript": TALK, "allow_transcript": "yes"},
    ],
)
def test_a_raw_transcript_is_refused(context: Any) -> None:
    assert "raw transcript" in refusal(context=context)


@pytest.mark.parametrize("role", [[], {}, None, 5, True])
def test_a_list_that_only_looks_like_a_transcript_is_taken_as_words(role: Any) -> None:
    assert "seen" in job(context=[{"role": role, "content": "seen"}]).context.user_request_summary


def test_a_raw_transcript_that_is_flagged_is_taken() -> None:
    taken = job(context={"transcript": TALK, "allow_transcript": True})
    assert "content: hello" in taken.context.transcript
    assert "as material" in job_prompt(taken)


def test_context_is_taken_in_any_other_form() -> None:
    assert context_of("in short").user_request_summary == "in short"
    assert context_of('{"role_instructions": "tabs"}').role_instructions == "tabs"
    assert context_of({"user_request_summary": "s", "branch": "main"}).user_request_summary == "s\nbranch: main"
    assert context_of("The label reads `user: name` and `tool: x`.").user_request_summary
    assert context_of(None) == context_of({}) == context_of("")


def test_the_child_reads_its_task_first_and_no_empty_parts() -> None:
    assert job_prompt(job()) == "do it\n\nEnd by calling `report`."
    text = job_prompt(job(context={"user_request_summary": "all", "role_instructions": "few"}, files=["b", "a"]))
    assert text.index("do it") < text.index("all") < text.index("few") < text.index("- a\n- b")


def test_null_for_what_is_optional_counts_as_left_out() -> None:
    call = '{"role": "explorer", "task": "t", "context": null, "files": null, "model": null}'
    arguments = decode_arguments(call, DISPATCH)
    assert isinstance(arguments, DispatchArguments)
    assert build_job(arguments, "j", "t", new_root()).model is None
