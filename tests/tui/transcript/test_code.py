import pytest

from smith_tui.transcript.code import (
    MAX_HIGHLIGHTED_LINE,
    START,
    CodeWriter,
    LexerState,
    LineLexer,
    Token,
    language_of,
    render_code,
)
from tests.support.transcript_rows import INK, texts


def _lex(language: str, source: str) -> list[list[tuple[Token, str]]]:
    lexer, state = LineLexer(language), START
    lines = []
    for line in source.split("\n"):
        tokens, state = lexer.lex(line, state)
        lines.append(tokens)
    return lines


def _kinds(tokens: list[tuple[Token, str]]) -> set[str]:
    return {token[0] for token, text in tokens if text.strip() and token}


@pytest.mark.parametrize("language", ["python", "js", "c", "json", "yaml", "html", "nonsense", ""])
def test_no_character_is_lost(language: str) -> None:
    lines = ["/* a", " b */ x = 'q'  # c", "", "\tif (x) { y: [1, `z` };", '"""open', "<p>", "漢字"]
    for line, tokens in zip(lines, _lex(language, "\n".join(lines)), strict=True):
        assert "".join(text for _, text in tokens) == line


def test_a_string_over_lines_is_known_from_the_line_before() -> None:
    lines = _lex("python", 'x = """one\ntwo if three\nfour"""\nif')
    assert _kinds(lines[1]) == {"Literal"}
    assert _kinds(lines[3]) == {"Keyword"}


@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [("js", "/*", "*/"), ("c", "/*", "*/"), ("css", "/*", "*/"), ("html", "<!--", "-->"), ("lua", "--[[", "]]")],
)
def test_a_comment_over_lines_is_known_from_the_line_before(language: str, opening: str, closing: str) -> None:
    lines = _lex(language, f"{opening} it\n isn't code {closing} x\n{opening} one {closing} x")
    assert _kinds(lines[0]) == {"Comment"}
    assert lines[1][0] == (("Comment", "Multiline"), f" isn't code {closing}")
    assert _kinds(lines[1]) != {"Comment"}
    assert "x" in lines[2][-1][1]


def test_a_comment_mark_in_a_string_or_a_line_comment_opens_nothing() -> None:
    lines = _lex("js", "let a = '/*';\n// b /*\nlet c = 1;")
    assert "Keyword" in _kinds(lines[2])


def test_a_line_too_long_is_shown_plain() -> None:
    line = "x=1;" * MAX_HIGHLIGHTED_LINE
    assert _lex("js", line) == [[((), line)]]


def test_a_lexer_that_goes_round_in_circles_is_left() -> None:
    tokens, state = LineLexer("mcschema").lex("fi", LexerState())
    assert "".join(text for _, text in tokens) == "fi"
    assert state == START


def test_the_language_is_the_first_word_of_the_info() -> None:
    assert [language_of(info) for info in ("", "py", " Python title=x", "{.rust}", "c++,ignore")] == [
        "",
        "py",
        "python",
        "rust",
        "c++",
    ]


def test_long_lines_are_cut_and_joined_again() -> None:
    rows = render_code("abcdefghij\nk", "", 6, INK)
    assert texts(rows) == [" abcde", " fghij", " k"]
    assert [row.joint for row in rows] == [None, "", None]
    assert [row.content for row in rows] == ["abcde", "fghij", "k"]


def test_an_unfinished_line_leaves_the_state_alone() -> None:
    writer = CodeWriter("python")
    writer.rows('x = """', 40, INK, advance=False)
    assert writer.state == START
    writer.rows('x = """', 40, INK)
    assert writer.state != START


def test_controls_in_code_are_shown() -> None:
    assert texts(render_code("a\x1b[2J\tb", "python", 40, INK)) == [" python", " a␛[2J   b"]
