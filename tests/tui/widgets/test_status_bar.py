"""The status bar: what it says at which width, and that it rests when nothing runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_tui.transcript.cells import cell_width
from smith_tui.widgets.status_bar import StatusBar
from smith_tui.widgets.status_line import StatusState, compose, format_count, format_seconds, shorten_folder
from tests.support.widget_app import WidgetApp, assert_exact_width, lines_of, running_timers

FULL = StatusState(
    role_alias="Smith",
    model="vendor/model-1",
    activity="tool",
    tool_name="bash",
    turn_started_at=100.0,
    tokens_in=12_345,
    tokens_out=678,
    context_percent=42.4,
    folder="/home/someone/projects/agent-smith",
    branch="main",
)


def text_of(state: StatusState, width: int, now: float = 107.0, frame: int | None = None) -> str:
    return "".join(text for text, _ in compose(state, now, width, frame=frame))


def test_everything_is_there_when_there_is_room() -> None:
    text = text_of(FULL, 150)
    assert text.startswith("● Smith  vendor/model-1  tool bash ")
    assert text.endswith("7 s  ↑12.3k ↓678  ctx 42%  /home/someone/projects/agent-smith  main")


def test_what_matters_least_goes_first() -> None:
    parts = {"folder": "agent-smith", "branch": "main", "context": "ctx", "tokens": "↓"}
    parts |= {"model": "vendor", "time": "7 s", "activity": "tool bash"}
    gone: dict[str, None] = {}
    for width in range(150, 0, -1):
        text = text_of(FULL, width)
        gone |= dict.fromkeys(name for name, part in parts.items() if part not in text)
    assert list(gone) == ["folder", "branch", "context", "tokens", "model", "time", "activity"]


@given(
    st.builds(
        StatusState,
        role_alias=st.text(max_size=12),
        model=st.text(max_size=60),
        activity=st.sampled_from(["idle", "thinking", "streaming", "tool", "retry", "error", "cancelled"]),
        tool_name=st.text(max_size=40),
        turn_started_at=st.none() | st.just(1.0),
        tokens_in=st.integers(0, 10**9),
        context_percent=st.none() | st.floats(0, 100),
        folder=st.text(max_size=60),
        branch=st.text(max_size=40),
    ),
    st.integers(0, 200),
)
def test_b19_any_text_at_any_width_takes_exactly_that_width(state: StatusState, width: int) -> None:
    text = text_of(state, width)
    assert cell_width(text) == width
    assert all(character >= " " and not "\x7f" <= character <= "\x9f" for character in text)


@pytest.mark.parametrize("text", ["[/foo]", "[red]x", "[@click=app.quit]go[/]", r"\[x]", "a=[b=c]"])
def test_b19_markup_in_model_branch_and_tool_is_literal(text: str) -> None:
    shown = text_of(StatusState(model=text, branch=text, activity="tool", tool_name=text), 120)
    assert shown.count(text) == 3


def test_each_activity_has_its_words() -> None:
    def words(**fields: object) -> str:
        return text_of(StatusState(**fields), 60).split("  ")[1].strip()  # type: ignore[arg-type]

    assert words(activity="thinking") == "thinking"
    assert words(activity="thinking", is_host_starting=True) == "starting the model host"
    loading = words(activity="thinking", is_host_starting=True, is_model_loading=True)
    assert loading == "loading the local model"
    assert words(activity="idle", is_model_loading=True) == "idle"
    assert words(activity="streaming") == "streaming"
    assert words(activity="error") == "error"
    assert words(activity="cancelled") == "cancelled"
    assert words(activity="idle") == "idle"
    assert words(activity="tool", tool_name="dispatch", children=2) == "2 children"
    assert words(activity="thinking", children=1) == "1 child"
    assert words(activity="streaming", children=1) == "streaming"
    assert words(activity="retry", attempt=2, max_attempts=3, retry_at=114.0) == "attempt 2/3 in 7 s"


def test_numbers_for_people() -> None:
    assert [format_seconds(seconds) for seconds in (-1, 0.9, 59, 60, 3599, 3723)] == [
        "0 s",
        "0 s",
        "59 s",
        "1:00",
        "59:59",
        "1:02:03",
    ]
    assert [format_count(count) for count in (0, 999, 1_000, 999_949, 999_950, 12_345_678)] == [
        "0",
        "999",
        "1.0k",
        "999.9k",
        "1.0M",
        "12.3M",
    ]
    assert shorten_folder("/home/u/projects/deep/agent-smith", 20) == "…/deep/agent-smith"
    assert shorten_folder("/a/averyveryverylongfoldername", 10) == "averyvery…"


class Clock:
    """A clock that stands still until it is moved."""

    now = 50.0

    def __call__(self) -> float:
        return self.now


async def test_b24_a_timer_runs_only_with_the_turn() -> None:
    bar = StatusBar(clock=Clock())
    app = WidgetApp(bar)
    async with app.run_test() as pilot:
        assert running_timers(app) == 0
        bar.start_turn()
        assert running_timers(app) == 1
        bar.change(activity="streaming")
        bar.wait_for_retry(2, 3, 7.0)
        assert running_timers(app) == 1
        assert "attempt 2/3 in 7 s" in lines_of(bar)[0]
        for end in ("error", "cancelled", "idle"):
            bar.start_turn()
            assert running_timers(app) == 1
            bar.end_turn(end)  # type: ignore[arg-type]
            await pilot.pause()
            assert running_timers(app) == 0


async def test_the_time_stands_when_the_turn_is_over() -> None:
    clock = Clock()
    bar = StatusBar(clock=clock)
    async with WidgetApp(bar).run_test():
        bar.start_turn()
        clock.now += 5
        assert "5 s" in lines_of(bar)[0]
        bar.end_turn()
        clock.now += 100
        assert lines_of(bar)[0].rstrip().endswith("5 s")


async def test_reduced_motion_shows_a_still_mark() -> None:
    bar = StatusBar(reduced_motion=True)
    async with WidgetApp(bar).run_test():
        bar.start_turn()
        first = lines_of(bar)[0]
        bar._tick()
        assert lines_of(bar)[0] == first
        assert first.startswith("●")


async def test_the_spinner_moves_with_the_timer() -> None:
    bar = StatusBar()
    async with WidgetApp(bar).run_test() as pilot:
        bar.start_turn()
        first = lines_of(bar)[0][0]
        for _ in range(40):
            await pilot.pause(0.05)
            if lines_of(bar)[0][0] != first:
                return
        raise AssertionError("the spinner stood still")


@pytest.mark.parametrize("width", [2, 20, 60, 300])
async def test_one_line_at_every_width(width: int) -> None:
    bar = StatusBar()
    async with WidgetApp(bar).run_test(size=(width, 5)):
        bar.change(role_alias="Smith", model="m" * 50, folder="/x" * 50, branch="漢字\n\x1b[31m")
        assert bar.size.height == 1
        assert_exact_width(bar)
