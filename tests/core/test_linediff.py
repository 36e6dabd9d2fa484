import subprocess
import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.linediff import MAX_DIFF_CHARS, diff_lines, unified_diff
from tests.support.file_tools import apply_diff

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "@@ -1 +1 @@\n", "--- x\n"]), max_size=14)
OPEN_END = st.sampled_from([[], ["a"], ["end"]])


@settings(deadline=None)
@given(LINES, OPEN_END, LINES, OPEN_END)
def test_applying_the_diff_gives_the_new_lines(
    old: list[str], old_end: list[str], new: list[str], new_end: list[str]
) -> None:
    old, new = old + old_end, new + new_end
    diff = unified_diff(old, new, "f")
    assert apply_diff(old, diff) == new
    assert (diff == "") == (old == new)


@settings(deadline=None)
@given(LINES, LINES, LINES, LINES)
def test_diff_of_a_window_is_the_diff_of_the_whole(
    above: list[str], old: list[str], new: list[str], below: list[str]
) -> None:
    whole_old, whole_new = above + old + below, above + new + below
    cut = max(0, len(above) - 3)
    diff = unified_diff([*above[cut:], *old, *below], [*above[cut:], *new, *below], "f", first_line=cut + 1)
    assert apply_diff(whole_old, diff) == whole_new


def test_patch_takes_it(tmp_path: Path) -> None:
    cases = [("", "new\n"), ("a\nb\nc", "a\nB\nc"), ("a\n", ""), ("a\nb", "a\nb\nc"), ("a\n" * 9, "a\n" * 4 + "x\n")]
    for number, (old, new) in enumerate(cases):
        target = tmp_path / f"{number}.txt"
        target.write_text(old)
        diff = unified_diff(diff_lines(old), diff_lines(new), target.name)
        subprocess.run(["patch", "-s", target.name], input=diff, text=True, cwd=tmp_path, check=True)
        assert (target.read_text() if target.exists() else "") == new


def test_big_change_is_one_block_that_applies() -> None:
    old = [f"old {number}\n" for number in range(1200)]
    new = [f"new {number}\n" for number in range(900)]
    old, new = ["top\n", *old, "end\n"], ["top\n", *new, "end\n"]
    assert apply_diff(old, unified_diff(old, new, "f")) == new


def test_huge_change_is_cut_and_says_so_in_good_time() -> None:
    old = [f"{number % 7}\n" for number in range(200_000)]
    new = [f"{number % 5}\n" for number in range(200_000)]
    started = time.monotonic()
    diff = unified_diff(old, new, "f")
    assert time.monotonic() - started < 2
    assert len(diff) < MAX_DIFF_CHARS + 100
    assert diff.endswith("more lines of the diff are not shown\n")


def test_aligned_change_of_like_lines_ends_in_good_time() -> None:
    old = [f"{number % 2}\n" for number in range(800)]
    new = [f"{number % 3}\n" for number in range(800)]
    started = time.monotonic()
    assert apply_diff(old, unified_diff(old, new, "f")) == new
    assert time.monotonic() - started < 2


def test_name_cannot_break_the_header() -> None:
    assert unified_diff(["a\n"], ["b\n"], "x\n+++ y\t").startswith("--- x?+++ y?\n+++ x?+++ y?\n@@")
