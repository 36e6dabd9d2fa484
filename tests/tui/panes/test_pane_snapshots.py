"""Pictures of child panes, compared with those on record; `pytest --snapshot-update` takes them anew."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from smith_core.report import ReportStatus
from smith_tui.app import app_around
from tests.support import children
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient

Compare = Callable[..., bool]
Ends = tuple[tuple[int, ReportStatus], ...]

PICTURES: dict[str, tuple[tuple[int, int], int, Ends, tuple[str, ...], str]] = {
    "one": ((100, 30), 1, (), (), "dark"),
    "two": ((110, 34), 2, (), ("alt+2",), "dark"),
    "three": ((120, 36), 3, (), (), "light"),
    "four": ((160, 44), 4, (), ("alt+1",), "dark"),
    "strips": ((120, 34), 4, ((1, "ok"), (3, "partial")), (), "contrast"),
    "over": ((100, 30), 3, ((1, "ok"), (2, "blocked"), (3, "partial")), (), "dark"),
    "whole-screen": ((100, 30), 2, (), ("alt+2", "alt+z"), "dark"),
    "narrow": ((60, 15), 4, (), ("alt+1",), "dark"),
    "tiny": ((20, 5), 4, (), (), "dark"),
}
"""By name: size of the terminal, number of children, who has ended and how, keys pressed then, theme."""


@pytest.mark.parametrize("name", PICTURES)
def test_panes(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    size, count, ends, keys, theme = PICTURES[name]
    app = app_around(open_engine(tmp_path, ScriptedClient("x"), {"ui": {"theme": theme, "motion": "reduced"}}))

    async def prepare(pilot: Pilot[None]) -> None:
        await pilot.pause()
        app.chat.status._clock = lambda: 0.0
        events = [*children.turn(count), *(event for number in range(1, count + 1) for event in children.work(number))]
        events += [event for number, status in ends for event in children.end(number, status)]
        app.chat.desk.clock = lambda: 0.0
        for event in events:
            app.chat.show(event)
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
        await pilot.pause()
        area = app.chat.desk.area
        assert area is not None
        for transcript in (app.chat.transcript, *(pane.transcript for pane in area.panes)):
            transcript.flush()
        app.chat.status.change(folder="~/shop", branch="main")
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=prepare)
