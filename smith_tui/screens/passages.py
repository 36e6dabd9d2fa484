"""Finding a message, and what was found in it, in the transcript of its conversation."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from smith_core.messages import Message
from smith_tui.transcript.history import blocks_of_message
from smith_tui.transcript.hits import Hits
from smith_tui.transcript.model import Place
from smith_tui.transcript.view import Transcript


class Marked(NamedTuple):
    """What is marked in a transcript: a text, all its matches, and the number of the one in view."""

    text: str
    hits: Hits
    number: int


def go_to_message(transcript: Transcript, messages: Sequence[Message], index: int, found: str) -> Marked | None:
    """Show message number `index` (from 0) of a loaded conversation, with `found` marked in it.

    A text that stands there in another form, such as over two lines, is marked by its longest word. Returns None when
    the message has no such text.
    """
    blocks = blocks_of_message(messages, index)
    for text in _texts(found):
        hits = transcript.find(text)
        number = next((number for number, hit in enumerate(hits) if hit.block in blocks), None)
        if number is not None:
            transcript.goto(hits[number])
            return Marked(text, hits, number)
    transcript.clear_find()
    transcript.go_to(Place(blocks.start, 0))
    return None


def _texts(found: str) -> Iterator[str]:
    if found.strip():
        yield found
        yield from sorted(found.split(), key=len, reverse=True)[:3]
