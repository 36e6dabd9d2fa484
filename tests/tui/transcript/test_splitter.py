import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smith_tui.transcript.splitter import MAX_CODE_LINES, MAX_PIECE_CHARS, Piece, Splitter, split
from tests.support.markdown_examples import EXAMPLES, LINES
from tests.support.transcript_rows import looks, split_rows, whole_rows

MIXED = st.lists(st.sampled_from(LINES), max_size=9).map("\n".join)


@st.composite
def portions(draw: st.DrawFn) -> list[str]:
    """A text in portions of random length."""
    text = draw(st.one_of(st.sampled_from(EXAMPLES), MIXED))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(portions())
@settings(max_examples=300, deadline=None)
def test_the_portions_make_no_difference(parts: list[str]) -> None:
    splitter = Splitter()
    pieces = [piece for part in parts for piece in splitter.feed(part)] + splitter.finish()
    assert pieces == split("".join(parts))


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_pieces_render_like_the_whole(text: str) -> None:
    assert looks(split_rows(text)) == looks(whole_rows(text))


@given(MIXED)
@example("1.\n\n\n1. x")
@example("1.\n\n1. x")
@example("1. \n\n\n\n1. x\n\n\n1. y")
@settings(max_examples=400, deadline=None)
def test_pieces_of_any_mixture_render_like_the_whole(text: str) -> None:
    assert looks(split_rows(text)) == looks(whole_rows(text))


def test_a_piece_ends_where_everything_above_is_closed() -> None:
    assert split("Intro:\n- a\n- b\n\nText\n# H\nmore\n```py\nx\n```\n") == [
        Piece("Intro:"),
        Piece("- a"),
        Piece("- b"),
        Piece("Text", has_gap=True),
        Piece("# H", has_gap=True),
        Piece("more"),
        Piece("x", language="py", starts_fence=True),
    ]


def test_items_of_a_numbered_list_keep_their_number() -> None:
    assert [piece.ordinal for piece in split("3. a\n3. b\n\n3. c\n\ntext\n1. d\n1. e\n")] == [None, 4, 5, None, None, 2]


def test_a_long_fence_is_cut_and_goes_on() -> None:
    pieces = split("```py\n" + "x\n" * (2 * MAX_CODE_LINES + 1) + "```\nend")
    assert [(piece.source.count("\n") + 1, piece.starts_fence) for piece in pieces[:3]] == [
        (MAX_CODE_LINES, True),
        (MAX_CODE_LINES, False),
        (1, False),
    ]
    assert pieces[3] == Piece("end")


@pytest.mark.parametrize(
    "text",
    ["x" * 100_000, "word " * 20_000, "> q\n" * 5_000, "| a |\n|---|\n" + "| b |\n" * 3_000],
    ids=["one line", "words", "quote", "table"],
)
def test_b18_no_piece_is_longer_than_the_limit(text: str) -> None:
    pieces = split(text)
    assert max(len(piece.source) for piece in pieces) <= MAX_PIECE_CHARS
    assert "".join("".join(piece.source.split()) for piece in pieces) == "".join(text.split())


def test_the_growing_piece_and_its_line_are_known() -> None:
    splitter = Splitter()
    splitter.feed("a\n\nb\nc\x1b")
    assert splitter.growing() == (Piece("b", has_gap=True), "c␛")
    splitter.feed("\n\n# T")
    assert splitter.growing()[1] == "# T"


def test_half_of_a_line_ending_waits_for_the_other() -> None:
    splitter = Splitter()
    splitter.feed("a\r")
    splitter.feed("\nb\r")
    splitter.feed("c")
    assert splitter.finish() == [Piece("a\nb\nc")]
