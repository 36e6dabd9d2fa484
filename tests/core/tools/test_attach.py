"""Files that a prompt mentions: which words are mentions, what goes along, and what of it is stored and shown."""

import hashlib
import os
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.messages import typed_text
from smith_core.tools.attach import ALL_CHARS, attach, mentions
from tests.support.engine import command, open_engine, open_stored_engine, run_turn, said
from tests.support.scripted_client import ScriptedClient


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look at @src/a.py, please", ["src/a.py,"]),
        ("see @\"my file.txt\" and @'b c'", ["my file.txt", "b c"]),
        ("mail me@example.org @@ -1 +1 @@", []),
        ("(@a) [@b] @a", ["a)", "b]", "a"]),
        ("@", []),
    ],
)
def test_a_mention_begins_a_word(text: str, found: list[str]) -> None:
    assert list(mentions(text)) == found


def test_a_file_goes_along_with_its_hash_and_lines(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    attached = attach("why is x one in (@a.py)? And @a.py, again; @nobody", tmp_path, new_root())
    assert attached.paths == (str(tmp_path / "a.py"),)
    assert hashlib.sha256(b"x = 1\n").hexdigest() in attached.text
    assert "     1\tx = 1" in attached.text
    assert attached.problems == ()


def test_what_is_no_text_file_is_said_or_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\0\0")
    attached = attach("@pipe @folder @image.png", tmp_path, new_root())
    assert attached.problems == ("@pipe was not attached: it is a named pipe (FIFO)",)
    assert "binary file" in attached.text


def test_many_and_large_files_stay_within_the_room(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"f{number}").write_text("word " * 5_000)
    attached = attach(" ".join(f"@f{number}" for number in range(30)), tmp_path, new_root())
    assert len(attached.text) < ALL_CHARS * 1.2
    assert len(attached.problems) + len(attached.paths) == 30
    assert "go on with start_line" in attached.text or len(attached.paths) < 30


async def test_the_model_gets_the_file_and_the_person_sees_what_was_typed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    client = ScriptedClient("because")
    runtime = open_stored_engine(tmp_path, client)
    await run_turn(runtime, "why? @a.py")
    sent = client.requests[0].messages[-1]
    assert sent.content.startswith("why? @a.py\n\n[attached file]\na.py: lines 1-1 of 1")
    assert runtime.services.conversation.title == "why? @a.py"
    identity = runtime.services.conversation.conversation_id
    await runtime.stop_session("test")

    again = open_stored_engine(tmp_path, ScriptedClient("x"))
    await command(again, f"/load {identity}")
    stored = again.services.conversation.messages[0]
    assert stored.content == sent.content
    assert typed_text(stored) == "why? @a.py"
    await again.stop_session("test")


async def test_a_retry_takes_the_file_as_it_is_then(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old\n")
    client = ScriptedClient("one", "two")
    runtime = open_engine(tmp_path, client)
    await run_turn(runtime, "what is in @a.py?")
    (tmp_path / "a.py").write_text("new\n")
    await command(runtime, "/retry")
    assert "\tnew" in client.requests[1].messages[-1].content
    assert "\told" not in client.requests[1].messages[-1].content


async def test_a_pipe_is_named_and_the_turn_goes_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    runtime = open_engine(tmp_path, ScriptedClient("x"))
    events: list = []
    await run_turn(runtime, "read @pipe", events)
    assert "it is a named pipe" in said(events)
