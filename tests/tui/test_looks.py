"""Every screen in all three themes and at all sizes; `pytest --snapshot-update` writes the pictures anew.

A picture says, in text, what is in each cell and how it looks; every letter in it has to be readable.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.app import App

from smith_core.errors import AgentError
from smith_tui.screens.chat import ChatScreen
from smith_tui.theme import THEMES
from tests.support import scenes, turns
from tests.support.looks import TextFile, faint, frame_of, picture, sizes_of, text_of
from tests.support.scenes import Group, Scene, Stage, act, inspect, running, showing, smith
from tests.support.shelf import Archive
from tests.support.shelf_examples import CONVERSATIONS, HITS

SIZES = ((300, 100), (130, 34), (80, 24), (60, 15), (40, 10), (20, 5))
LEAST_SIZE = (60, 15)
"""From this size on, prompt and focus are in view."""

NOTICE = AgentError(kind="persistence", code="x", message="The index is being made anew.")


def broken_archive() -> Archive:
    archive = Archive(total=0)
    archive.notice = NOTICE
    return archive


def screen(push: Any) -> Scene:
    """A screen that is made for a theme."""
    return Scene(push, scenes.pop, 0.06, is_live=False)


GROUPS: dict[str, Group] = {
    "chat": Group(
        smith,
        (100, 30),
        showing(),
        {
            "idle": Scene(),
            "completion-commands": Scene(scenes.type_slash, scenes.empty_prompt),
            "completion-files": Scene(scenes.type_mention, scenes.empty_prompt),
            "shell-line": Scene(scenes.type_text, scenes.empty_prompt),
            "help": Scene(("f1",), ("escape",)),
            "palette": Scene(scenes.open_palette, ("escape",), is_live=False),
            "notice": Scene(scenes.notify, scenes.forget_notices),
            "link": Scene(scenes.push_link, ("escape",)),
            "paste": Scene(scenes.push_paste, ("escape",)),
            "setup": Scene(scenes.setup_screen(), scenes.pop),
            "setup-key": Scene(scenes.setup_screen("down enter"), scenes.pop),
        },
    ),
    "turn": Group(
        smith,
        (100, 96),
        showing(*turns.everything()),
        {
            "everything": Scene(),
            "find": Scene(("ctrl+f", *"file"), ("escape",)),
        },
    ),
    "work": Group(
        smith,
        (130, 64),
        showing(*turns.finished(), *scenes.work()),
        {
            "streaming": Scene(),
            "output": Scene(("ctrl+o",), ("ctrl+o",)),
            "question": Scene(scenes.ask, scenes.withdraw),
            "queue": Scene(scenes.wait_in_line, scenes.leave_line),
            "output-screen": Scene(scenes.draw_screen, ("ctrl+o",)),
        },
    ),
    "retry": Group(smith, (100, 30), showing(*turns.retrying()), {"retrying": Scene()}),
    "panes": Group(
        smith,
        (160, 60),
        showing(*running(4)),
        {"four": Scene(("alt+1",), ("escape",)), "zoomed": Scene(("alt+2", "alt+z"), ("escape", "escape"))},
    ),
    "strips": Group(
        smith,
        (120, 64),
        showing(*running(4, (1, "ok"), (3, "partial"), (2, "blocked"))),
        {"over": Scene(), "child": Scene(scenes.open_child, ("escape",), 0.06, is_live=False)},
    ),
    "stored": Group(
        scenes.bare,
        (120, 30),
        scenes.nothing,
        {
            "search": screen(scenes.search_screen(Archive(hits=HITS, conversations=CONVERSATIONS), "http")),
            "search-idle": screen(scenes.search_screen(Archive(), "")),
            "search-notice": screen(scenes.search_screen(broken_archive(), "nothing")),
            "list": screen(scenes.push_list),
            "list-deleted": screen(scenes.push_deletion),
        },
    ),
    "inspect": Group(
        smith,
        (140, 34),
        scenes.have_messages,
        {
            "copy": Scene(("alt+y", "down"), ("escape",)),
            "messages": inspect("down"),
            "marked": inspect("space", "down", "v", "down"),
            "filter": inspect("slash", *"bash"),
            "record": inspect("down", "t"),
            "parts": inspect("down", "e"),
            "editing": inspect("e", "enter"),
            "pane": inspect("w", "down"),
            "next-request": inspect("down", "m", "home", "down", "down"),
            "conversation": Scene(("alt+h",), ("escape",), 0.06, is_live=False),
            "conversation-found": Scene(("alt+h", "slash", *"par", "enter"), ("escape", "escape"), 0.06, is_live=False),
        },
    ),
}


def problems_of(app: App[Any]) -> Iterator[str]:
    """Say what is not in view that ought to be."""
    screen = app.screen
    focused = screen.focused
    if focused is not None and not screen.find_widget(focused).visible_region.area:
        yield f"the focus, {focused!r} at {focused.region}, is out of view"
    if isinstance(screen, ChatScreen) and not screen.has_class("zoomed"):
        prompt = screen.prompt
        if not prompt.region.area or prompt.region not in screen.region:
            yield f"the prompt, at {prompt.region}, is out of view"


@pytest.mark.parametrize("name", GROUPS)
async def test_looks(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    group = GROUPS[name]
    app = group.app(tmp_path)
    async with app.run_test(size=group.size, notifications=True) as pilot:
        stage = Stage(app, pilot)
        await group.ready(stage)
        for title, scene in group.scenes.items():
            frames = []
            for theme in THEMES:
                await scenes.show(stage, scene, theme, is_first=not frames)
                frames.append(frame_of(app))
                assert faint(frames[-1]) == {}, (title, theme)
                if len(frames) == len(THEMES) or not scene.is_live:
                    await act(stage, scene.close)
            assert len({text_of(frame) for frame in frames}) == 1, title
            assert picture(frames) == snapshot(name=title, extension_class=TextFile)
        await check_sizes(stage, group, snapshot)


async def check_sizes(stage: Stage, group: Group, snapshot: SnapshotAssertion) -> None:
    """Open each scene at the least size and make it smaller still; take the first one through all sizes."""
    for number, (title, scene) in enumerate(group.scenes.items()):
        sizes = SIZES if number == 0 else SIZES[SIZES.index(LEAST_SIZE) :]
        for size in sizes:
            await stage.pilot.resize_terminal(*size)
            if size == sizes[0]:
                await act(stage, scene.open)
            await stage.settle(scene.wait_s if size == sizes[0] else 0)
            assert sizes_of(stage.any_app) == ({size[0]}, size[1]), (title, size)
            if size >= LEAST_SIZE:
                assert list(problems_of(stage.any_app)) == [], (title, size)
            if size == LEAST_SIZE and number:
                assert text_of(frame_of(stage.any_app)) + "\n" == snapshot(
                    name=f"{title}-small", extension_class=TextFile
                )
        await act(stage, scene.close)
    await stage.pilot.resize_terminal(*SIZES[-1])
    await act(stage, scene.open)
    await stage.settle()
    assert sizes_of(stage.any_app) == ({SIZES[-1][0]}, SIZES[-1][1])
