"""Short ways to rows of a transcript, without a screen."""

from collections.abc import Iterable

from smith_tui.theme import DARK
from smith_tui.transcript.answers import Answer, Code, Prose
from smith_tui.transcript.blocks import Block, in_gutter, inner_width
from smith_tui.transcript.ink import make_ink
from smith_tui.transcript.lines import PLAIN, Line
from smith_tui.transcript.live import LiveAnswer
from smith_tui.transcript.markdown import find_references, render_markdown
from smith_tui.transcript.model import Document
from smith_tui.transcript.splitter import split

INK = make_ink(DARK, "green")


def texts(lines: Iterable[Line]) -> list[str]:
    """The characters of rows, space at their ends left out."""
    return [line.text.rstrip() for line in lines]


def looks(lines: Iterable[Line]) -> list[tuple[object, ...]]:
    """What a person sees of rows, and how a copy joins them; bare space is all the same."""
    return [
        (line.text.rstrip(), line.joint, line.fill, *(span for span in line.spans if span[0].strip())) for line in lines
    ]


def all_rows(document: Document) -> list[Line]:
    """Every row of a document."""
    return [line for index in range(len(document.blocks)) for line in document.rows(index)]


def streamed(portions: Iterable[str], width: int = 60) -> Document:
    """A document into which an answer was streamed in portions, looked at after each of them."""
    document = Document(DARK, width)
    live = LiveAnswer(document, "green")
    for portion in portions:
        live.append_text(portion)
        all_rows(document)
    live.finish()
    return document


def split_rows(text: str, width: int = 60) -> list[Line]:
    """The rows of the pieces of a text, as blocks of their own."""
    document = Document(DARK, width)
    answer = Answer("green")
    answer.note_definitions(text)
    previous = None
    blocks: list[Block] = []
    for piece in split(text):
        if piece.language is None:
            blocks.append(Prose(piece, answer, is_first=False))
        else:
            previous = Code(piece, answer, previous, is_first=False)
            blocks.append(previous)
    document.extend(blocks)
    return all_rows(document)


def whole_rows(text: str, width: int = 60) -> list[Line]:
    """The rows of a text that is rendered at once, in the same gutter and width."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    references: dict[str, object] = {}
    find_references(text, references)
    return in_gutter(render_markdown(text, inner_width(width), INK, references), width, ("  ", PLAIN))
