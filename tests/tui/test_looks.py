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
from tests.support import scenes, turns, view_scenes
from tests.support.looks import Frame, TextFile, faint, frame_of, picture, sizes_of, text_of
from tests.support.scenes import Group, Scene, Stage, act, enter, open_scene, running, showing, smith
from tests.support.shelf import Archive
from tests.support.shelf_examples import CONVERSATIONS, HITS
from tests.support.view_scenes import inspect

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
    "rain": Group(smith, (100, 40), showing(*turns.finished()), {"falling": view_scenes.rain(40)}),
    "tour": Group(view_scenes.tour, (100, 30), showing(*view_scenes.first_step()), {"first-step": Scene()}),
    "usage": Group(smith, (100, 34), showing(*view_scenes.usage_report()), {"report": Scene()}),
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
        view_scenes.have_messages,
        {
            "copy": Scene(("alt+y", "down"), ("escape",)),
            "messages": inspect("down", ""),
            "marked": inspect("space down v down", "escape"),
            "filter": inspect("slash b a s h", "escape"),
            "record": inspect("down t", "t"),
            "parts": inspect("down e", "escape"),
            "editing": inspect("e enter", "escape escape"),
            "next-request": inspect("down m home down down", "m"),
            # As the last one within the view, which is closed then: to turn it back takes as long as opening it.
            "pane": inspect("w down", ""),
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
        for title, by_theme in (await frames_of(stage, group)).items():
            frames = [by_theme[theme] for theme in THEMES]
            assert len({text_of(frame) for frame in frames}) == 1, title
            assert picture(frames) == snapshot(name=title, extension_class=TextFile)
        await check_sizes(stage, group, snapshot)


async def frames_of(stage: Stage, group: Group) -> dict[str, dict[str, Frame]]:
    """Return each scene in each theme; a change of the theme costs most, so one begins where the last one ended."""
    frames: dict[str, dict[str, Frame]] = {title: {} for title in group.scenes}

    def look(title: str) -> None:
        frames[title][stage.theme] = frame_of(stage.any_app)
        assert faint(frames[title][stage.theme], group.scenes[title].decoration) == {}, (title, stage.theme)

    for title, scene in group.scenes.items():
        if scene.is_live:
            await open_scene(stage, scene)
            look(title)
            for theme in others(stage.theme):
                await stage.wear(theme)
                await stage.settle(scene.wait_s)
                look(title)
            await act(stage, scene.close)
    fixed = {title: scene for title, scene in group.scenes.items() if not scene.is_live}
    for theme in (stage.theme, *others(stage.theme)) if fixed else ():
        await stage.wear(theme)
        for title, scene in fixed.items():
            await open_scene(stage, scene)
            look(title)
            await act(stage, scene.close)
        await enter(stage, None)
    return frames


def others(theme: str) -> list[str]:
    return [other for other in THEMES if other != theme]


async def check_sizes(stage: Stage, group: Group, snapshot: SnapshotAssertion) -> None:
    """Open each scene at the least size and make it smaller still; take the first one through all sizes."""
    for number, (title, scene) in enumerate(group.scenes.items()):
        sizes = SIZES if number == 0 else SIZES[SIZES.index(LEAST_SIZE) :]
        for size in sizes:
            await stage.pilot.resize_terminal(*size)
            if size == sizes[0]:
                await open_scene(stage, scene)
            else:
                await stage.settle()
            assert sizes_of(stage.any_app) == ({size[0]}, size[1]), (title, size)
            if size >= LEAST_SIZE:
                assert list(problems_of(stage.any_app)) == [], (title, size)
            if size == LEAST_SIZE and number:
                assert text_of(frame_of(stage.any_app)) + "\n" == snapshot(
                    name=f"{title}-small", extension_class=TextFile
                )
        await act(stage, scene.close)
        if number == 0:
            await enter(stage, None)
    await enter(stage, None)
    await stage.pilot.resize_terminal(*SIZES[-1])
    await open_scene(stage, scene)
    assert sizes_of(stage.any_app) == ({SIZES[-1][0]}, SIZES[-1][1])
