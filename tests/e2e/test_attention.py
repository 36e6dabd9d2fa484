"""A person in another window is called through the real terminal, and only when the terminal says that it is one."""

import asyncio
import re
import threading
from typing import Any

import pytest

from tests.e2e.conftest import Place
from tests.support.demo_task import TASK, do_task
from tests.support.model_steps import Answer
from tests.support.server_thread import ServerThread

ASK = ("--set", "tools.permission=ask")
FOCUS_LOST, FOCUS_BACK = b"\x1b[O", b"\x1b[I"


def calls_in(raw: bytearray) -> list[bytes]:
    """Return the notifications and the bells that are not the end of another control string."""
    others = rb"\x1b\](?!9;)[^\x07\x1b]*(?:\x07|\x1b\\)"
    return re.findall(rb"\x1b\]9;[^\x07]*\x07|\x07", re.sub(others, b"", bytes(raw)))


@pytest.mark.parametrize(("way", "call"), [("desktop", b"\x1b]9;Smith asks\x07"), ("bell", b"\x07")])
def test_a_question_calls_through_the_terminal_while_it_has_not_the_focus(place: Place, way: str, call: bytes) -> None:
    script, may_answer = do_task(), threading.Event()

    async def answer(request: dict[str, Any]) -> Answer:
        await asyncio.to_thread(may_answer.wait, 30)
        return script(request)

    with (
        ServerThread(answer, strict=True) as server,
        place.start(server.url, *ASK, "--set", f"ui.notify={way}") as terminal,
    ):
        terminal.wait_for("asks")
        assert b"\x1b[?1004h" in terminal.raw
        terminal.type(f"{TASK}\r")
        server.wait_for_requests(1)
        terminal.send(FOCUS_LOST)
        may_answer.set()
        terminal.wait_for("wants to run edit. Allow it?", timeout=40)
        assert calls_in(terminal.raw) == [call]
        terminal.send(FOCUS_BACK)
        terminal.type("\x1bpy")
        terminal.wait_for("wants to run bash. Allow it?")
        assert calls_in(terminal.raw) == [call]
