import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.fuzzy import SCATTERED, PathIndex, quality, subwords

PATHS = (
    "src/reader.py",
    "src/read_lines.py",
    "src/tools/read.py",
    "docs/thread.md",
    "src/UserProfile.tsx",
    "tests/test_read.py",
    "src/tools/web_reader/client.py",
    "Makefile",
)


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("read", "read", "Read"),
        ("get_user", "getUser", "get_user_name"),
        ("read", "read.py", "reader.py"),
        ("read", "reader.py", "do_read"),
        ("read", "do_read", "thread"),
        ("up", "UserProfile", "supper"),
        ("hub", "SearchHub", "thubby"),
        ("readl", "read_lines", "rather_easy_data_line"),
        ("name", "name_of", "name_of_the_whole_thing"),
    ],
)
def test_the_more_exact_fit_is_the_better_one(query: str, better: str, worse: str) -> None:
    assert quality(query, better) > quality(query, worse) > 0


def test_letters_in_another_order_do_not_fit() -> None:
    assert quality("daer", "reader") == quality("", "reader") == quality("x", "") == 0


def test_words_of_an_identifier() -> None:
    assert subwords("parseHTTPReply2_fast-Ärger") == ["parse", "http", "reply", "2", "fast", "ä", "rger"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("read.py", "src/tools/read.py"),
        ("read", "src/tools/read.py"),
        ("reader", "src/reader.py"),
        ("uprof", "src/UserProfile.tsx"),
        ("tools/re", "src/tools/read.py"),
        ("web cl", "src/tools/web_reader/client.py"),
        ("client web", "src/tools/web_reader/client.py"),
        ("make", "Makefile"),
        ("twrc", "src/tools/web_reader/client.py"),
        ("", "Makefile"),
    ],
)
def test_the_file_that_is_meant_comes_first(query: str, first: str) -> None:
    assert PathIndex(PATHS).search(query, 3)[0] == first


def test_no_more_paths_than_asked_for_and_none_that_does_not_fit() -> None:
    index = PathIndex(PATHS)
    assert len(index) == len(PATHS)
    assert len(index.search("e", 2)) == 2
    assert index.search("zebra", 5) == []
    assert PathIndex([]).search("x", 5) == []


_NAMES = st.text("abcR_-./\nä^]\\", min_size=1, max_size=12)


@given(st.lists(_NAMES, max_size=12, unique=True), st.data())
def test_every_part_of_a_path_finds_it_whatever_it_holds(paths: list[str], data: st.DataObject) -> None:
    index = PathIndex(paths)
    for path in paths:
        start = data.draw(st.integers(0, len(path) - 1))
        part = path[start : data.draw(st.integers(start + 1, len(path)))]
        if part.split() == [part] and "\n" not in path:
            assert path in index.search(part, len(paths))


@given(_NAMES, st.data())
def test_letters_taken_out_of_a_name_in_order_fit_it(name: str, data: st.DataObject) -> None:
    kept = [letter for letter in name if data.draw(st.booleans())]
    assert not kept or quality("".join(kept), name) >= SCATTERED - 99


def test_scattered_letters_can_be_left_out() -> None:
    index = PathIndex(["src/handler.py", "src/header_and_leaf.py", "src/other.py"])
    assert index.search("handle", 10) == ["src/handler.py", "src/header_and_leaf.py"]
    assert index.search("handle", 10, in_one_piece=True) == ["src/handler.py"]
    assert index.search("hndlr", 10, in_one_piece=True) == []
    assert index.search("src other", 10, in_one_piece=True) == ["src/other.py"]
