"""Event streams in any pieces, and what is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.llm.sse import MAX_PENDING_BYTES, BodyReader, SseEvent, TooLongError, decode_json


def read(*pieces: bytes) -> tuple[BodyReader, list[tuple[str, bytes]]]:
    reader = BodyReader()
    events: list[SseEvent] = []
    for piece in pieces:
        events += reader.feed(piece)
    events += reader.finish()
    return reader, [(event.name, event.data) for event in events]


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
        (b"data:a\n\n", [("", b"a")]),
        (b"data:  a\n\n", [("", b" a")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", b"a"), ("", b"b")]),
        (b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")]),
        (b"data: a\ndata: b\n\n", [("", b"a\nb")]),
        (b": ping\n\ndata: a\n\n: ping\n\n", [("", b"a")]),
        (b"event: error\ndata: {}\n\n", [("error", b"{}")]),
        (b"id: 7\nretry: 10\ndata: a\n\n", [("", b"a")]),
        (b'error: {"message":"x"}\n\n', [("error", b'{"message":"x"}')]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
        (b"\n\n  data: a\n\n", [("", b"a")]),
        (b"data: a", [("", b"a")]),
        (b"event: only-a-name\n\n", []),
    ],
)
def test_events_whatever_the_line_ends_and_the_pieces(body: bytes, events: list[tuple[str, bytes]]) -> None:
    assert read(body)[1] == events
    assert read(*(body[at : at + 1] for at in range(len(body))))[1] == events


@pytest.mark.parametrize(
    "body", [b"<html>", b"hello this is not sse\n\n", b'{"choices": []}', b"dat", b"", b"  \n", b"5"]
)
def test_what_is_no_event_stream_is_a_document(body: bytes) -> None:
    for pieces in ([body], [body[at : at + 1] for at in range(len(body))]):
        reader, events = read(*pieces)
        assert (reader.kind, reader.document, events) == ("document", body, [])


@given(
    st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1), max_size=5),
    st.data(),
)
def test_any_cutting_gives_the_same_events(texts: list[str], data: st.DataObject) -> None:
    body = "".join(f"data: {json.dumps(text, ensure_ascii=False)}\n\n" for text in texts).encode()
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5))), len(body)]
    _, events = read(*(body[start:end] for start, end in zip(cuts, cuts[1:], strict=False)))  # noqa: RUF007
    assert [decode_json(event) for _, event in events] == texts


def test_an_event_without_end_is_refused() -> None:
    reader = BodyReader()
    reader.feed(b"data: ")
    with pytest.raises(TooLongError):
        for _ in range(MAX_PENDING_BYTES // 2**20 + 1):
            reader.feed(b"x" * 2**20)


def test_an_event_of_endless_lines_is_refused() -> None:
    reader = BodyReader()
    with pytest.raises(TooLongError):
        for _ in range(MAX_PENDING_BYTES // 2**20 + 1):
            reader.feed(b"data: " + b"x" * 2**20 + b"\n")


def test_many_events_are_not_one_long_one() -> None:
    reader = BodyReader()
    events = [event for _ in range(20) for event in reader.feed(b"data: " + b"x" * 2**20 + b"\n\n")]
    assert len(events) == 20


def test_b04_surrogate_halves_and_broken_utf_8_are_let_through() -> None:
    assert decode_json(b'{"a":"\\ud83d"}') == {"a": "\ud83d"}
    assert decode_json(b'{"a":"\xff"}') == {"a": "\ufffd"}
    with pytest.raises(ValueError):
        decode_json(b"{not json")
