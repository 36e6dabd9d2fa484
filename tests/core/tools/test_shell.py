"""The bash tool: arguments, environment, outcome, text for the model, live output, and cleaning up behind itself."""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from smith_core.tools.base import MODEL_TEXT_LIMIT
from smith_core.tools.shell import BASH
from smith_core.tools.shell_launch import ARGUMENT_LIMIT, NOBODY_ANSWERS, find_shell
from tests.support.bash_calls import PLAIN_ENV, BashCalls, bash_calls, descriptors_before, open_descriptors, python
from tests.support.processes import waited_for_a_core


@pytest.fixture
def bash(tmp_path: Path) -> Iterator[BashCalls]:
    with bash_calls(tmp_path) as calls:
        yield calls


# Outcome


async def test_a_good_command_returns_its_output_and_exit_code(bash: BashCalls) -> None:
    outcome = await bash("echo out; echo err >&2")
    assert outcome.ok
    assert outcome.error is None
    assert outcome.content == "out\nerr\n[exit code 0]"
    assert outcome.mutation_state == "attempted"
    assert outcome.metadata.exit_code == 0
    assert 0 < outcome.metadata.duration_s < 10


async def test_a_failing_command_keeps_its_output(bash: BashCalls) -> None:
    outcome = await bash("echo before; exit 3")
    assert not outcome.ok
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.code) == ("tool", "exit_status")
    assert outcome.content == "before\n[exit code 3]"
    assert outcome.metadata.exit_code == 3
    assert outcome.mutation_state == "attempted"
    assert not outcome.cancelled


async def test_a_killed_command_names_the_signal(bash: BashCalls) -> None:
    outcome = await bash("printf partial; kill -9 $$")
    assert outcome.content == "partial\n[killed by signal 9 (Killed)]"
    assert outcome.error is not None
    assert outcome.error.code == "killed"
    assert outcome.metadata.exit_code == 137


async def test_a_silent_command_still_has_a_text(bash: BashCalls) -> None:
    assert (await bash("true")).content == "[exit code 0]"


async def test_it_runs_in_the_working_folder(bash: BashCalls) -> None:
    assert (await bash("pwd; touch here")).content.startswith(f"{bash.folder}\n")
    assert (bash.folder / "here").exists()


async def test_it_is_a_terminal_of_known_size_but_not_a_controlling_one(bash: BashCalls) -> None:
    outcome = await bash("test -t 1 && test -t 2 && echo terminal; stty size <&2; echo $TERM $COLUMNS $LINES")
    assert "terminal\n" in outcome.content
    assert "xterm-256color 120 40" in outcome.content
    size = python("import os; print(os.get_terminal_size(1))")
    assert "columns=120, lines=40" in (await bash(size)).content


@pytest.mark.parametrize(
    "command",
    [
        "read answer </dev/tty",
        "read answer",
        "read answer <&2",
        "read answer <&1",
        python("import getpass; getpass.getpass()"),
        python("input('really? ')"),
        "cat >/dev/stderr </dev/tty",
    ],
)
async def test_a_prompt_fails_at_once(bash: BashCalls, command: str) -> None:
    started = time.monotonic()
    outcome = await bash(command, timeout=20)
    assert not outcome.ok
    assert not outcome.metadata.timed_out
    assert time.monotonic() - started < 5


async def test_git_neither_pages_nor_opens_an_editor_nor_asks(bash: BashCalls) -> None:
    setup = "git init -q . && git config user.email a@b.c && git config user.name n && seq 500 >f && git add f"
    assert (await bash(f"{setup} && git commit -qm first")).ok
    assert "+500" in (await bash("git show", timeout=20)).content
    assert "empty commit message" in (await bash("echo >>f && git commit -a", timeout=20)).content


# Arguments


@pytest.mark.parametrize("timeout", [0, -1, 3600.1, float("inf"), float("nan")])
async def test_a_timeout_out_of_range_is_refused_with_the_range(bash: BashCalls, timeout: float) -> None:
    outcome = await bash("touch ran", timeout)
    assert outcome.error is not None
    assert outcome.error.kind == "schema"
    assert "more than 0 and at most 3600 seconds" in outcome.content
    assert outcome.mutation_state == "none"
    assert not (bash.folder / "ran").exists()


@pytest.mark.parametrize("command", ["", " \n\t", "touch ran; echo a\0b", "touch ran; echo \ud83d"])
async def test_a_command_that_cannot_be_run_is_refused(bash: BashCalls, command: str) -> None:
    outcome = await bash(command)
    assert outcome.error is not None
    assert outcome.error.kind == "schema"
    assert outcome.mutation_state == "none"
    assert not (bash.folder / "ran").exists()


def test_the_schema_tells_the_model_name_and_bounds() -> None:
    schema = BASH.schema
    assert schema["required"] == ["command"]
    assert schema["properties"]["timeout"]["maximum"] == 3600
    said = schema["properties"]["timeout"]["description"]
    assert "Seconds" in said and "120, or what the user has set instead" in said


@pytest.mark.parametrize("length", [ARGUMENT_LIMIT - 1, ARGUMENT_LIMIT, 1_000_000])
async def test_a_command_of_any_length_runs(bash: BashCalls, length: int) -> None:
    start, end = "echo start; : ", "; echo $((6 * 7)); exit 4"
    command = start + "é" * ((length - len(start) - len(end)) // 2)
    command += "x" * (length - len(end) - len(command.encode())) + end
    assert len(command.encode()) == length
    outcome = await bash(command)
    assert outcome.content == "start\n42\n[exit code 4]"
    assert not bash.spilled()


async def test_a_folder_that_is_gone_is_named(bash: BashCalls, tmp_path: Path) -> None:
    outcome = await bash("echo x", cwd=tmp_path / "gone")
    assert not outcome.ok
    assert str(tmp_path / "gone") in outcome.content
    assert outcome.mutation_state == "none"


async def test_a_shell_that_cannot_start_is_an_outcome(bash: BashCalls) -> None:
    before = descriptors_before()
    outcome = await bash("echo x", child_env={**PLAIN_ENV, "BIG": "x" * 4_000_000})
    assert outcome.error is not None
    assert outcome.error.kind == "tool"
    assert "Argument list too long" in outcome.content
    assert outcome.mutation_state == "none"
    assert open_descriptors() == before


def test_bash_is_preferred_and_sh_will_do(tmp_path: Path) -> None:
    assert str(find_shell({"PATH": "/nowhere"})).endswith("/bash")
    (tmp_path / "sh").write_text("#!/bin/sh\n")
    (tmp_path / "sh").chmod(0o755)
    assert find_shell({"PATH": str(tmp_path)}) != str(tmp_path / "sh")


# Environment


async def test_b27_a_command_gets_the_given_environment_and_nothing_of_ours(
    bash: BashCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-test-SECRET123")
    given = {**PLAIN_ENV, "MY_VAR": "1", "NAME WITH SPACE": "x", "PAGER": "less", "EMPTY": ""}
    outcome = await bash(
        f"{sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))' >env.json", child_env=given
    )
    assert outcome.ok
    seen = json.loads((bash.folder / "env.json").read_text())
    assert seen["MY_VAR"] == "1"
    assert (seen["HOME"], seen["LANG"], seen["EMPTY"]) == (given["HOME"], given["LANG"], "")
    assert seen["PAGER"] == "cat"
    allowed = {*given, *NOBODY_ANSWERS, "SMITH_CALL_ID", "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
    assert set(seen) <= allowed
    everything = await bash("env; cat /proc/self/environ /proc/$$/environ", child_env=given)
    assert "SECRET" not in everything.content


# Text for the model


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (r"printf 'a\000b\377c\n'", "a\ufffdb\ufffdc\n"),
        (r"printf '\200\201\000\n'", "\ufffd\ufffd\ufffd\n"),
        (r"printf 'caf\303'; sleep 0.3; printf '\251\n'", "café\n"),
        (r"printf '\xf0\x9f'; sleep 0.1; printf '\x98'; sleep 0.1; printf '\x80\n'", "\U0001f600\n"),
    ],
)
async def test_b04_odd_bytes_become_text(bash: BashCalls, command: str, text: str) -> None:
    assert (await bash(command)).content == text + "[exit code 0]"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (r"printf 'A\033[?4mB\033[?1;2rC\033[?6nD\033[1;1;1;1HE\n'", "ABCD\nE\n"),
        (r"printf 'F\033_Ga=q;AAAA\033\\G\033P1;2|abc\033\\H\n'", "FGH\n"),
        (r"printf 'I\033[38:2::1:2:3mJ\n'", "IJ\n"),
        (r"printf 'K\033'", "K\n"),
        (r"printf 'L\033['; sleep 0.3; printf '31mM\n'", "LM\n"),
        (r"printf 'N\033]0;ti'; sleep 0.1; printf 'tle\007O\n'", "NO\n"),
        (r"printf 'P\033[5n\033[6n\033[c\033[>c\033Z\005Q\n'; sleep 0.1", "PQ\n"),
    ],
)
async def test_b20_escape_sequences_do_not_reach_the_model(bash: BashCalls, command: str, text: str) -> None:
    assert (await bash(command)).content == text + "[exit code 0]"


async def test_b20_nothing_is_answered_to_a_query(bash: BashCalls) -> None:
    query = (
        r"printf '\033[6n\033[c\033]11;?\007'; exec 3<>$(readlink /proc/self/fd/2); read -t 0.3 -n 1 -u 3 x; echo $?:$x"
    )
    assert "142:\n" in (await bash(query)).content


async def test_b20_random_bytes_are_text(bash: BashCalls) -> None:
    outcome = await bash("head -c 20000 /dev/urandom")
    assert outcome.ok
    assert not [char for char in outcome.content if (char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f"]
    assert outcome.content.endswith("\n[exit code 0]")


async def test_progress_bars_collapse(bash: BashCalls) -> None:
    outcome = await bash(r"for i in $(seq 1 5000); do printf '\r%200s' $i; done; echo; echo done")
    assert len(b"".join(bash.live)) > 1_000_000
    assert outcome.content == f"{5000:>200}\ndone\n[exit code 0]"
    assert outcome.metadata.omitted_chars == 0
    assert not bash.spilled()


# Long output


async def test_b18_head_tail_and_exit_code_of_a_long_output_are_kept(bash: BashCalls) -> None:
    outcome = await bash("seq 1 300000; echo FAILED; exit 3")
    whole = "".join(f"{number}\n" for number in range(1, 300_001)) + "FAILED\n"
    assert len(outcome.content) <= MODEL_TEXT_LIMIT
    assert len(outcome.content) > MODEL_TEXT_LIMIT - 500
    assert outcome.content.startswith("1\n2\n3\n")
    assert outcome.content.endswith("\n300000\nFAILED\n[exit code 3]")
    head, cut, tail = outcome.content.partition("\n[... ")
    note, _, tail = tail.partition(" ...]\n")
    tail = tail.removesuffix("[exit code 3]")
    assert cut
    assert whole.startswith(head + "\n")
    assert whole.endswith("\n" + tail)
    omitted = len(whole) - len(head + "\n") - len(tail)
    assert outcome.metadata.omitted_chars == omitted
    assert f"{omitted} of {len(whole) - 1} characters" in note
    spilled = Path(outcome.metadata.full_output_path)
    assert str(spilled) in note
    assert spilled.parent == bash.spill_dir
    assert spilled.read_text() == whole
    assert spilled.stat().st_mode & 0o777 == 0o600


async def test_b18_one_endless_line(bash: BashCalls) -> None:
    (bash.folder / "big.js").write_text("x" * 600_000)
    outcome = await bash("head -1 big.js")
    assert len(outcome.content) <= MODEL_TEXT_LIMIT
    assert "of 600000 characters" in outcome.content
    assert outcome.content.endswith("xxx\n[exit code 0]")
    (bash.folder / "big.js").write_text("x" * 600_000 + "\n")
    assert "of 600000 characters" in (await bash("head -1 big.js")).content


@pytest.mark.parametrize("length", [99_900, 99_985, 99_986, 99_987, 100_000, 100_001])
async def test_b18_around_the_limit_nothing_is_lost_or_doubled(bash: BashCalls, length: int) -> None:
    outcome = await bash(f"head -c {length} /dev/zero | tr '\\0' %")
    assert len(outcome.content) <= MODEL_TEXT_LIMIT
    assert outcome.content.count("%") + outcome.metadata.omitted_chars == length
    assert (outcome.metadata.omitted_chars == 0) == (length <= MODEL_TEXT_LIMIT - len("\n[exit code 0]"))
    assert len(bash.spilled()) == (outcome.metadata.omitted_chars > 0)


async def test_b18_a_flood_neither_fills_memory_nor_stops_the_loop(bash: BashCalls) -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    peaks: list[int] = []
    lags: list[float] = []
    emitted = 0

    def emit(data: bytes) -> None:
        nonlocal emitted
        emitted += len(data)
        if len(peaks) * 1_000_000 < emitted:
            peaks.append(process.memory_info().rss)

    async def watch() -> None:
        while True:
            started = time.monotonic() - waited_for_a_core()
            await asyncio.sleep(0.005)
            lags.append(time.monotonic() - waited_for_a_core() - started - 0.005)

    watcher = asyncio.ensure_future(watch())
    outcome = await bash("yes | head -c 50000000", timeout=60, emit=emit)
    watcher.cancel()
    assert outcome.ok
    assert emitted == 75_000_000
    assert max(peaks) - before < 50_000_000
    assert sorted(lags)[len(lags) * 95 // 100] < 0.05
    assert "of 49999999 characters" in outcome.content


async def test_b18_output_that_cannot_be_saved_is_still_shown(bash: BashCalls) -> None:
    bash.spill_dir.rmdir()
    outcome = await bash("seq 1 100000")
    assert outcome.ok
    assert "could not be saved (No such file or directory)" in outcome.content
    assert outcome.content.endswith("\n100000\n[exit code 0]")
    assert outcome.metadata.full_output_path == ""


# Live output


async def test_live_output_comes_while_the_command_runs(bash: BashCalls) -> None:
    call = asyncio.ensure_future(bash("echo first; sleep 30", timeout=25))
    await bash.until_output(b"first\r\n")
    assert not call.done()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_live_output_is_complete_raw_and_bundled(bash: BashCalls) -> None:
    await bash(r"for i in $(seq 300); do printf '\033[31m%d\033[m\n' $i; sleep 0.001; done")
    assert b"".join(bash.live) == b"".join(b"\x1b[31m%d\x1b[m\r\n" % number for number in range(1, 301))
    assert len(bash.live) < 100


# Cleaning up


async def test_nothing_is_left_over_after_calls_of_every_kind(bash: BashCalls) -> None:
    await bash("true")
    before = descriptors_before(), threading.active_count(), len(asyncio.all_tasks())
    for command in ("true", "exit 1", "sleep 300 & echo x", "seq 1 100000", "kill -9 $$", ": " + "x" * 200_000):
        await bash(command)
    await bash("sleep 300", timeout=0.05)
    await bash("echo x", cwd=bash.folder / "gone")
    call = asyncio.ensure_future(bash("sleep 300"))
    await asyncio.sleep(0.05)
    call.cancel()
    await asyncio.wait([call])
    assert (open_descriptors(), threading.active_count(), len(asyncio.all_tasks())) == before
    assert [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE] == []


async def test_eight_calls_at_once(bash: BashCalls) -> None:
    outcomes = await asyncio.gather(*(bash(f"seq {n} 20000; sleep 0.1; exit {n}") for n in range(8)))
    for number, outcome in enumerate(outcomes):
        assert outcome.content.startswith(f"{number}\n{number + 1}\n")
        assert outcome.content.endswith(f"\n20000\n[exit code {number}]")
