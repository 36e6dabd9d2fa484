"""Two copies of the program over one store, in processes of their own: neither takes anything from the other."""

import json
import time
from pathlib import Path

from smith_core.maintenance import check_store
from smith_core.store.transfer import export_store
from tests.support.copy_process import CopyProcess

PROMPTS = 10


def test_b14_two_copies_save_all_prompts_notes_and_settings_and_a_killed_one_blocks_nobody(tmp_path: Path) -> None:
    first = CopyProcess(tmp_path)
    assert first.say("seed")["ends"] == ["kept"]
    second = CopyProcess(tmp_path)
    assert second.opened["held_by"] == [first.process.pid]
    copies = {"a": first, "b": second}
    for number in range(PROMPTS):
        for name, copy in copies.items():
            assert copy.say(f"{name} in turn {number}") == {"said": [], "ends": ["kept"], "held_by": []}
    for number in range(PROMPTS):
        waiting = [copy.begin(f"{name} at once {number}") for name, copy in copies.items()]
        assert [wait()["ends"] for wait in waiting] == [["kept"], ["kept"]]
    waiting = [first.begin("/config set tool_step_budget 7"), second.begin("/config set default_model m2")]
    assert all("is now" in wait()["said"][0] for wait in waiting)
    assert second.end() == 0
    first.end(kill=True)  # which holds the lock of its conversation until then

    started = time.monotonic()
    third = CopyProcess(tmp_path)
    assert time.monotonic() - started < 5
    assert (third.opened["said"], third.opened["held_by"]) == ([], [])
    assert third.say("gone on")["ends"] == ["kept"]
    assert third.end() == 0
    assert check_store(tmp_path / "data").is_healthy
    _all_is_there(tmp_path)


def _all_is_there(folder: Path) -> None:
    """Each prompt is there once, in the order of its copy and in whole rounds, and each note."""
    export_store(folder / "data", folder / "out.jsonl")
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()[1:-1]]
    ways = ("in turn", "at once")
    expected = {name: [f"{name} {way} {number}" for way in ways for number in range(PROMPTS)] for name in "ab"}
    talks: dict[str, list[str]] = {}
    for line in lines:
        if line["table"] == "conversation":
            talks.setdefault(line["conversation"], []).append(line["value"])
    prompts = [[message["content"] for message in talk if message["role"] == "user"] for talk in talks.values()]
    # The third goes on with the conversation that was saved last, which is that of one or the other.
    assert ["gone on"] in [said[-1:] for said in prompts]
    assert sorted([prompt for prompt in said if prompt != "gone on"] for said in prompts) == [
        expected["b"], ["seed", *expected["a"]]
    ]  # fmt: skip
    for talk in talks.values():
        assert [message["role"] for message in talk] == ["user", "assistant", "tool", "assistant"] * (len(talk) // 4)
    notes = {line["value"]["text"] for line in lines if line["table"] == "project_memory"}
    assert notes == {f"note of {prompt}" for said in prompts for prompt in said}
    settings = [line["value"] for line in lines if line.get("key") == "runtime_overrides"]
    assert settings == [{"default_model": "m2", "tool_step_budget": 7}]
