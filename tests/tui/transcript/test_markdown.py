import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smith_tui.transcript import markdown
from smith_tui.transcript.lines import MAX_PROSE_WIDTH
from smith_tui.transcript.markdown import render_markdown
from tests.support.markdown_examples import EXAMPLES, FOREIGN, WIDE, WIDE_WORDS
from tests.support.transcript_rows import INK, texts


def _shown(source: str, width: int = 40) -> list[str]:
    return texts(render_markdown(source, width, INK))


@given(st.sampled_from(EXAMPLES), st.integers(1, 70))
@settings(deadline=None)
def test_b22_no_row_is_wider_than_the_width(source: str, width: int) -> None:
    lines = render_markdown(source, width, INK)
    widest = max(max(map(ord, source)) > 0x2E80, width)  # a wide character alone may take two cells
    assert all(line.cells <= max(widest, 2) for line in lines)


def test_lists_keep_their_density_and_numbers() -> None:
    assert _shown("3. three\n4. four\n\n   more\n\n- a\n  * b\n    + c\n- d") == [
        "3. three",
        "4. four",
        "",
        "   more",
        "",
        "• a",
        "  ◦ b",
        "    ▪ c",
        "• d",
    ]


def test_wrapped_items_hang_under_their_text() -> None:
    assert _shown("- one two three four", 12) == ["• one two", "  three four"]


def test_quotes_have_a_bar() -> None:
    assert _shown("> a\n> > b\n>\n> c") == ["▎ a", "▎ ▎ b", "▎", "▎ c"]


def test_headings_stand_apart() -> None:
    assert _shown("text\n# Title\nmore") == ["text", "", "Title", "more"]


def test_line_breaks_are_kept() -> None:
    assert _shown("one\ntwo") == ["one", "two"]


def test_links_show_where_they_lead() -> None:
    assert _shown("[a](http://b.c) <http://d.e> ![i](f.png)", 60) == ["a (http://b.c) http://d.e ▣ i (f.png)"]


def test_no_style_carries_an_action_or_a_link() -> None:
    lines = render_markdown("[a](http://b.c) [x](@click=app.quit) `y`", 60, INK)
    assert all(style.link is None and not style.meta for line in lines for _, style in line.spans)


def test_html_is_text() -> None:
    assert _shown("<div>\n<b>x</b>\n</div>\n\na <i>b</i>") == ["<div>", "<b>x</b>", "</div>", "", "a <i>b</i>"]


def test_tables_fit_and_align() -> None:
    source = "| name | n |\n|:--|--:|\n| `a` | 10 |\n| b | 2 |"
    assert _shown(source) == [
        "╭──────┬────╮",
        "│ name │  n │",
        "├──────┼────┤",
        "│ a    │ 10 │",
        "│ b    │  2 │",
        "╰──────┴────╯",
    ]
    assert _shown(source, 11) == ["name: a", "n: 10", "name: b", "n: 2"]


def test_wide_tables_wrap_their_cells() -> None:
    rows = _shown("| a | b |\n|---|---|\n| one two three | four five |", 20)
    assert {len(row) for row in rows} == {20}
    assert rows[3] == "│ one two │ four    │"[:20] or "one" in rows[3]


@pytest.mark.parametrize("text", WIDE)
def test_b22_borders_are_straight(text: str) -> None:
    lines = render_markdown(f"| a | b |\n|---|---|\n| {text} | x |\n| y | {text} |", 60, INK)
    assert len({line.cells for line in lines}) == 1
    assert all(line.text[-1] in "╮│┤╯" for line in lines)


def test_b22_all_words_are_visible() -> None:
    shown = "\n".join(_shown("\n".join(WIDE), 80))
    assert all(word in shown for word in WIDE_WORDS)


def test_b19_markup_of_the_toolkit_is_text_everywhere() -> None:
    for wrapper in ("{}", "# {}", "- {}", "> {}", "`{}`", "**{}**", "```\n{}\n```", "| {} |\n|---|\n| {} |", "    {}"):
        for text in FOREIGN:
            source = wrapper.replace("{}", text)
            if wrapper.startswith("|") and "|" in text:
                continue
            assert text in "\n".join(_shown(source, 60)), source


def test_escape_sequences_are_shown() -> None:
    for source in ("a\x1b[31mb", "```\na\x1b[31mb\n```", "`a\x1b[31mb`", "| a\x1b[31mb |\n|---|"):
        assert "a␛[31mb" in "\n".join(_shown(source))


def test_formulas_keep_their_marks() -> None:
    assert _shown("\\[ x^2 \\] and \\( y \\) but \\*") == ["\\[ x^2 \\] and \\( y \\) but *"]


def test_prose_is_no_wider_than_the_eye_likes() -> None:
    assert max(line.cells for line in render_markdown("word " * 200, 200, INK)) <= MAX_PROSE_WIDTH


def test_what_is_nested_too_deep_is_still_shown() -> None:
    for depth in (10, 19, 24, 25, 49, 50, 51, 200, 3000):
        for mark in ("> ", "- ", "1. "):
            assert "deep" in "".join(_shown(mark * depth + "deep", 500)), (mark, depth)


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(max_codepoint=0x2FFF, exclude_characters="*_`~[]<&|\\\n"), max_size=50))
@example(" ends with blanks  ").via("the parser strips them")
@example("www.example.org http://example.org 1. - # > +")
def test_a_line_without_marks_is_the_same_without_the_parser(text: str) -> None:
    source, rule = f"A{text}", markdown._PLAIN_LINE
    rows = render_markdown(source, 20, INK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "_PLAIN_LINE", re.compile("(?!)"))
        assert rows == render_markdown(source, 20, INK)
    assert rule.fullmatch("Done, all of it.") and not any(map(rule.fullmatch, EXAMPLES))
