"""Pictures of the screens of stored conversations; `pytest --snapshot-update` takes them anew."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from smith_core.errors import AgentError
from smith_core.messages import Message
from smith_tui.screens.conversations import ConversationsScreen
from smith_tui.screens.search import SearchScreen
from smith_tui.transcript.view import Transcript
from tests.support.screen_app import ScreenApp
from tests.support.shelf import NOW, Archive, Conversation, Hit, Shelf

Compare = Callable[..., bool]

CONVERSATIONS = [
    Conversation(conversation_id="c0", title="Fix the parser of folded headers"),
    Conversation(
        conversation_id="c1",
        title="Why does the request [/] fail? 漢字",
        cwd="/srv/a/very/long/folder/name/with/many/parts",
        updated_at=NOW - 90_000,
        message_count=1234,
        size_bytes=1_230_000,
    ),
    Conversation(conversation_id="c2", message_count=1, size_bytes=300, updated_at=NOW - 86_400 * 12),
]
ANSWER = "I read **the parser**:\n\n```python\ndef parse(text):\n    return text\n```\n\nThat is all."
HITS = [
    Hit(excerpt="Please fix parseHTTPRequest, so that it reads folded headers.", highlights=((11, 27),)),
    Hit(
        role="assistant",
        time=NOW - 90_000,
        conversation_id="c1",
        excerpt="…the function parseHTTPRequest splits at the first colon only, which is right for any header but the "
        "folded ones that RFC 9112 forbids; I changed the loop, and http_test.py covers both [/foo] 漢字, so that…",
        highlights=((14, 30), (160, 164)),
    ),
    Hit(role="tool", tool="bash", kind="tool_result", excerpt="http_test.py ..F \x1b[31m[100%]", highlights=((0, 4),)),
    Hit(kind="note", role="", note_id="http-plan", excerpt="http-plan first the parser", highlights=((0, 4),)),
    Hit(kind="project_memory", role="", conversation_id="", note_id="style", excerpt="no http", highlights=((3, 7),)),
]


async def settle(pilot: Pilot[None]) -> None:
    for _ in range(200):
        await pilot.pause(0.01)
        screen = pilot.app.screen
        if not [worker for worker in screen.workers if not worker.is_finished] and not getattr(screen, "_wait", None):
            break
    for transcript in pilot.app.screen.query(Transcript):
        transcript.flush()
    await pilot.pause()


def with_keys(*keys: str) -> Callable[[Pilot[None]], Any]:
    async def prepare(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
        await settle(pilot)

    return prepare


@pytest.mark.parametrize("size", [(100, 30), (60, 15)])
def test_search(snap_compare: Compare, size: tuple[int, int]) -> None:
    archive = Archive(hits=HITS, conversations=CONVERSATIONS)
    screen = SearchScreen(archive, "http", now=lambda: NOW, timer=lambda: 0.0)
    assert snap_compare(ScreenApp(screen), terminal_size=size, run_before=with_keys("down"))


def test_search_without_a_query(snap_compare: Compare) -> None:
    screen = SearchScreen(Archive(), now=lambda: NOW, timer=lambda: 0.0)
    assert snap_compare(ScreenApp(screen), terminal_size=(80, 20), run_before=with_keys())


def test_search_with_a_notice(snap_compare: Compare) -> None:
    archive = Archive(total=0)
    archive.notice = AgentError(kind="persistence", code="x", message="The index is being made anew.")
    screen = SearchScreen(archive, "nothing", now=lambda: NOW, timer=lambda: 0.0)
    assert snap_compare(ScreenApp(screen), terminal_size=(80, 20), run_before=with_keys())


@pytest.mark.parametrize("size", [(120, 30), (80, 24), (60, 15)])
def test_conversations(snap_compare: Compare, size: tuple[int, int]) -> None:
    shelf = Shelf(CONVERSATIONS, [Message(role="assistant", content=ANSWER)])
    shelf.held = {"c1": 4242}
    screen = ConversationsScreen(shelf, current="c2", now=lambda: NOW)
    assert snap_compare(ScreenApp(screen), terminal_size=size, run_before=with_keys())


def test_a_deletion_that_can_be_taken_back(snap_compare: Compare) -> None:
    screen = ConversationsScreen(Shelf(CONVERSATIONS), now=lambda: NOW)
    assert snap_compare(ScreenApp(screen), terminal_size=(120, 20), run_before=with_keys("d"))
