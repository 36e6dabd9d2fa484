import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from smith_core.tools.code.globs import GlobError, PathGlob


@pytest.mark.parametrize(
    ("glob", "inside", "outside"),
    [
        ("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "py"]),
        ("*.{ts,tsx}", ["a.ts", "x/b.tsx"], ["a.tsx.map"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py", "lib/src/a.py"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py"]),
        ("./src/", ["src/a", "src/x/b"], ["b"]),
        ("**/test_*.py", ["test_a.py", "x/test_a.py"], ["x/a.py"]),
        ("[!a-c]?.txt", ["dx.txt"], ["ax.txt", "d.txt"]),
        ("!*.md", ["a.py"], ["x/README.md"]),
        ("!docs/**", ["a.md"], ["docs/a.md"]),
        ("-x.py", ["-x.py"], ["x.py"]),
        ("a(b)+.c", ["a(b)+.c"], ["ab.c"]),
    ],
)
def test_paths_that_a_glob_lets_through(glob: str, inside: list[str], outside: list[str]) -> None:
    compiled = PathGlob(glob)
    assert [path for path in inside if not compiled.lets_through(path)] == []
    assert [path for path in outside if compiled.lets_through(path)] == []


def test_folders_may_be_named_from_above_the_searched_one() -> None:
    assert PathGlob("src/*.py").lets_through("a.py", prefix="src/")


@pytest.mark.parametrize("glob", ["*.py", "-x", "!-x", "src/**/*.py", "--pre=sh", "include:all", "{a/b,c}", "[z-a]x/y"])
def test_no_glob_becomes_an_option_of_its_own(glob: str) -> None:
    assert all(
        option.startswith(("--type-add=asked:", "--type=asked", "--type-not=asked")) for option in _options(glob)
    )


def _options(glob: str) -> list[str]:
    try:
        return PathGlob(glob).options
    except GlobError:
        return []


@pytest.mark.parametrize("glob", ["!", "/", "a\0b", "x" * 600, "[z-a]", "**/a/**/b/**/c/**/d", "{a}{b}{c}{d}"])
def test_what_is_no_glob_is_refused_in_words(glob: str) -> None:
    with pytest.raises(GlobError, match="the glob"):
        PathGlob(glob)


@given(st.text("ab/*", min_size=1, max_size=8), st.text("ab/", max_size=8))
def test_a_star_matches_as_trying_every_way_would(glob: str, path: str) -> None:
    assume(glob.strip("/") and not glob.endswith("/") and "**" not in glob and not glob.startswith("/"))
    simple = re.compile(re.escape(glob).replace(r"\*", "[^/]*"))
    expected = simple.fullmatch(path if "/" in glob else path.rpartition("/")[2])
    assert PathGlob(glob).lets_through(path) is (expected is not None)


def test_a_glob_of_stars_is_matched_in_no_time() -> None:
    assert not PathGlob("*a" * 200 + "b").lets_through("a" * 250)
