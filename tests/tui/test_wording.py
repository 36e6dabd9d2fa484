"""Short words for times, sizes and folders."""

import pytest

from smith_tui import wording
from smith_tui.transcript.cells import cell_width

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-500, "now"), (0, "now"), (59, "now"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (86400 * 3, "3 d")],
)
def test_ages(seconds: float, shown: str) -> None:
    assert wording.age(NOW - seconds, NOW) == shown


@pytest.mark.parametrize(
    ("days", "shown"), [(29, "29 d"), (30, "1 mo"), (364, "12 mo"), (365, "1 y"), (365 * 50_000, "9999 y")]
)
def test_short_ages_have_no_dates(days: int, shown: str) -> None:
    assert wording.short_age(10**13, 10**13 + 86400 * days) == shown


def test_odd_times_are_dates_or_nothing() -> None:
    assert wording.age(NOW - 86400 * 100, NOW).startswith("2026-10-0")
    for odd in (0, -5, float("nan")):
        assert wording.age(odd, NOW) == ""
    # A clock was set back, however far.
    assert wording.age(float("inf"), NOW) == "now"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (-1, "0 B"),
        (812, "812 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (13_400, "13 kB"),
        (999_999, "1.0 MB"),
        (5e12, "5000 GB"),
    ],
)
def test_sizes(count: int, shown: str) -> None:
    assert wording.size(count) == shown


def test_folders() -> None:
    assert wording.folder("/home/neo/shop", "/home/neo") == "~/shop"
    assert wording.folder("/home/neo", "/home/neo") == "~"
    assert wording.folder("/home/neon", "/home/neo") == "/home/neon"
    assert wording.folder("/x\n\x1b", "/") == "/x ␛"


@pytest.mark.parametrize("text", ["/short", "/a/漢字/long/way", "e\u0301" * 9, ""])
@pytest.mark.parametrize("cells", [0, 1, 2, 5, 100])
def test_b22_the_end_of_a_text_fits(text: str, cells: int) -> None:
    cut = wording.cut_start(text, cells)
    assert cell_width(cut) <= cells
    assert text.endswith(cut.removeprefix("…"))


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0"), (99_999, "99,999"), (100_000, "100k"), (9_999_999, "9,999k"), (10**7, "10M")]
)
def test_short_counts(count: int, shown: str) -> None:
    assert wording.short_count(count) == shown
