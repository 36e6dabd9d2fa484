"""Lists of conversations as text, and what a number, a title or an id means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.commands.listing import MOST_LISTED, age_in_words, filtered, find, list_text
from smith_core.errors import AgentFailure
from smith_core.session.values import Listed
from smith_core.store.interface import ConversationMeta

NOW = 2_000_000_000.0


def meta(name: str, title: str, cwd: str = "/home/me/project", age: float = 0.0, count: int = 4) -> ConversationMeta:
    return ConversationMeta(conversation_id=name, title=title, cwd=cwd, updated_at=NOW - age, message_count=count)


METAS = (
    meta("a1", "Fix the tests"),
    meta("b2", "Fix the parser", "/home/me/other", age=7200, count=1),
    meta("c3", "Write docs", "/srv", age=90_000),
    meta("d4", "", age=120),
)


def test_a_list_has_number_title_folder_age_and_count() -> None:
    assert list_text(METAS, "b2", "/home/me", NOW).splitlines() == [
        "  1  Fix the tests   ~/project  now            4 messages",
        "  2* Fix the parser  ~/other    2 hours ago    1 message",
        "  3  Write docs      /srv       1 day ago      4 messages",
        "  4  (no title)      ~/project  2 minutes ago  4 messages",
    ]
    assert list_text((), "", "", NOW) == ""
    many = list_text([meta(str(number), "x") for number in range(MOST_LISTED + 5)], "", "", NOW)
    assert len(many.splitlines()) == MOST_LISTED + 1
    assert "5 older ones" in many


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("c3", "c3"),
        ("1", "a1"),
        ("3", "c3"),
        ("docs", "c3"),
        ("FIX parser", "b2"),
        ("fix the tests", "a1"),
        (" 2 ", "b2"),
    ],
)
def test_what_a_target_means(target: str, found: str) -> None:
    assert find(target, METAS, ()).conversation_id == found


def test_numbers_are_those_of_the_list_that_was_shown() -> None:
    assert find("2", METAS, (Listed("c3"), Listed("a1", 7))) == Listed("a1", 7)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("fix", "2 conversations are called like"),
        ("nothing", "/list shows all"),
        ("99", "/list shows all"),
        ("0", "/list"),
        ("", "/list"),
    ],
)
def test_what_means_nothing_or_too_much_is_refused_in_words(target: str, words: str) -> None:
    with pytest.raises(AgentFailure, match=words):
        find(target, METAS, ())


def test_filtering_looks_at_title_and_folder() -> None:
    assert [each.conversation_id for each in filtered(METAS, "FIX other")] == ["b2"]
    assert len(filtered(METAS, "")) == 4


def test_ages() -> None:
    ages = [age_in_words(NOW - seconds, NOW) for seconds in (-500, 5, 60, 7300, 86_400 * 3, 86_400 * 400)]
    assert ages[:5] == ["now", "now", "1 minute ago", "2 hours ago", "3 days ago"]
    assert ages[5].startswith("20")
    assert age_in_words(0, NOW) == ""


@given(st.text(), st.lists(st.text(), max_size=5), st.floats())
def test_no_text_and_no_time_breaks_a_list(target: str, titles: list[str], then: float) -> None:
    metas = [meta(f"id{number}", title, title, then) for number, title in enumerate(titles)]
    list_text(metas, target, target, NOW)
    age_in_words(then, NOW)
    try:
        assert find(target, metas, ()).conversation_id in {each.conversation_id for each in metas}
    except AgentFailure as caught:
        assert caught.error.kind == "policy"
