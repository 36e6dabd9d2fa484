"""Which values each kind of setting takes, and in which form they are kept."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.config import rules
from smith_core.config.rules import REJECTED, Rule

NAN, INFINITY = float("nan"), float("inf")
PERCENT = rules.number(0, 100, above_low=True)
WAITS = rules.list_of(rules.number(0), "waits")

ACCEPTED: list[tuple[Rule, Any, Any]] = [
    (rules.BOOLEAN, False, False),
    (rules.integer(1), 1, 1),
    (rules.integer(1), 1e3, 1000),
    (rules.integer(0), -0.0, 0),
    (rules.integer(1, 16), 16, 16),
    (PERCENT, 100, 100),
    (PERCENT, 0.5, 0.5),
    (WAITS, [0], [0]),
    (WAITS, (1, 2.5), [1, 2.5]),
    (rules.TEXT, " m1 ", "m1"),
    (rules.TEXT, "42", "42"),
    (rules.optional(rules.TEXT), None, None),
    (rules.VARIABLE_NAME, "MY_KEY", "MY_KEY"),
    (rules.ADDRESS, "http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    (rules.ADDRESS, "HTTPS://api.example.com", "HTTPS://api.example.com"),
    (rules.HOST, "LocalHost", "localhost"),
    (rules.RELATIVE_PATH, "docs/AGENTS.md", "docs/AGENTS.md"),
    (rules.RELATIVE_PATH, "./..a/b..", "./..a/b.."),
    (rules.KEY_NAME, "Ctrl+O", "ctrl+o"),
    (rules.KEY_NAME, "alt+H", "alt+H"),
    (rules.KEY_NAME, "Ctrl+O, f4", "ctrl+o,f4"),
    (rules.KEY_NAME, "ctrl+shift+F1", "ctrl+shift+f1"),
]

REFUSED: list[tuple[Rule, Any]] = [
    *((rules.BOOLEAN, value) for value in (0, 1, "true", None, [])),
    *((rules.integer(0), value) for value in (-1, 1.5, True, False, NAN, INFINITY, -INFINITY, "1", None, [1], 10**400)),
    *((rules.integer(1, 16), value) for value in (0, 17)),
    *((PERCENT, value) for value in (0, -0.0, 100.1, NAN, INFINITY, True, "80", 10**400)),
    *((rules.number(0, above_low=True), value) for value in (0, -1, 1e300, -(10**400))),
    *((WAITS, value) for value in ([], [-1], [True], [NAN], ["1"], 5, {"0": 1}, "12", [[1]])),
    *((rules.TEXT, value) for value in ("", "  ", 42, None, True, [], "a\nb", "a\0", "\x1b[31m", "\ud800", "\u202e")),
    *((rules.VARIABLE_NAME, value) for value in ("", "sk-test", "A=B", "1A", "A B", 5, "A\0", "É")),
    *(
        (rules.ADDRESS, value)
        for value in (
            "localhost:8080", "ftp://h/", "http://", "http:///v1", "http://h:99999/", "http://h:x/", "http://a b/",
            "http://[::1/", "file:///etc/passwd", "javascript:alert(1)", "http:\\\\h", "http://h\n/", "", 80, None,
        )
    ),
    *((rules.HOST, value) for value in ("", "a/b", "u@h", "http://h", "a b", "h?x", 5)),
    *((rules.KEY_NAME, value) for value in ("", "ctrl+", "ctrl-c", "foo+x", "ctrl+ctrl+a", "a b", "+", 5, "\x03")),
    (rules.KEY_NAME, "f4,"),
]  # fmt: skip

# What fault kind B30 names, and what would come next.
B30_REFUSED_PATHS = [
    "../x", "../out/secret.txt", "/etc/passwd", "a/../../out/secret.txt", "C:\\x", "C:/x", "c:x", "~/x", "~root/x",
    "..", "a/..", "a/../b", "./../x", ".. /x", " ../x", "..\\x", "a\\..\\x", "\\\\host\\share", "\\x", "//host/x",
    "a\0b", "a\nb", "\x1b]0;x\x07", "\ud800", "", "   ",
]  # fmt: skip


def _short_id(value: Any) -> str:
    return "" if isinstance(value, Rule) else ascii(value)[:40]


@pytest.mark.parametrize(("rule", "value", "kept"), ACCEPTED, ids=_short_id)
def test_accepts(rule: Rule, value: Any, kept: Any) -> None:
    found = rule.read(value)
    assert found == kept
    assert type(found) is type(kept)


@pytest.mark.parametrize(("rule", "value"), REFUSED, ids=_short_id)
def test_refuses(rule: Rule, value: Any) -> None:
    assert rule.read(value) is REJECTED


@pytest.mark.parametrize("path", B30_REFUSED_PATHS, ids=ascii)
def test_b30_refuses_paths_that_could_lead_outside(path: str) -> None:
    assert rules.RELATIVE_PATH.read(path) is REJECTED


@given(st.floats() | st.integers() | st.booleans() | st.text() | st.none())
def test_an_integer_setting_never_keeps_anything_but_an_integer_in_its_bounds(value: Any) -> None:
    kept = rules.integer(1, 3600).read(value)
    assert kept is REJECTED or (type(kept) is int and 1 <= kept <= 3600)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (rules.integer(0), "a non-negative integer"),
        (rules.integer(1), "a positive integer"),
        (rules.integer(1, 16), "an integer from 1 to 16"),
        (PERCENT, "a number above 0 and up to 100"),
        (rules.choice("direct", "orchestrator"), "direct or orchestrator"),
        (rules.choice("off", "auto", "required"), "off, auto or required"),
        (rules.optional(rules.integer(1)), "null for none"),
    ],
)
def test_says_in_words_what_is_expected(rule: Rule, words: str) -> None:
    assert words in rule.expected
