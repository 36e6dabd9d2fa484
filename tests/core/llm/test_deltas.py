"""Assembling streams: the same answer, however a gateway cuts it into chunks."""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.llm.deltas import DeltaAssembler, estimate_usage, read_usage
from smith_core.llm.protocol import AnyStreamPart, Completion, StreamReasoning, StreamText, StreamToolProgress
from smith_core.messages import Usage
from tests.support.model_steps import Call, Calls, call_deltas, chunk


def assemble(deltas: Iterable[dict[str, Any]], finish: str = "stop") -> tuple[list[AnyStreamPart], Completion]:
    assembler = DeltaAssembler()
    parts: list[AnyStreamPart] = []
    for delta in deltas:
        parts += assembler.feed(chunk(delta))
    parts += assembler.feed(chunk({}, finish))
    parts += assembler.finish()
    return parts, assembler.completion()


def calls_of(deltas: Iterable[dict[str, Any]]) -> list[tuple[str, str, Any]]:
    _, completion = assemble(deltas, "tool_calls")
    return [(call.id, call.name, json.loads(call.arguments)) for call in completion.tool_calls]


def fragment(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """One tool-call fragment; `name` goes into its function."""
    function = {} if arguments is None else {"arguments": arguments}
    if "name" in fields:
        function["name"] = fields.pop("name")
    return {"tool_calls": [{**fields, "function": function}]}


EXPECTED = [("c1", "read", {"path": "a.txt"}), ("c2", "read", {"path": "b.txt"})]


def test_b01_a_new_id_at_the_same_index_is_a_new_call() -> None:
    deltas = [
        fragment('{"path":"a', index=0, id="c1", name="read"),
        fragment('.txt"}', index=0),
        fragment('{"path":"b.txt"}', index=0, id="c2", name="read"),
    ]
    assert calls_of(deltas) == EXPECTED


def test_b01_interleaved_indexes_with_ids_on_the_first_pieces_only() -> None:
    deltas = [
        fragment("", index=0, id="c1", name="read"),
        fragment("", index=1, id="c2", name="read"),
        fragment('{"path":', index=0),
        fragment('{"path":', index=1),
        fragment('"a.txt"}', index=0),
        fragment('"b.txt"}', index=1),
    ]
    assert calls_of(deltas) == EXPECTED


@pytest.mark.parametrize("ids_in", ["first", "every"])
def test_b01_indexes_missing_with_ids(ids_in: str) -> None:
    def rest(call_id: str) -> dict[str, str]:
        return {"id": call_id} if ids_in == "every" else {}

    deltas = [
        fragment('{"path":"a', id="c1", name="read"),
        fragment('.txt"}', **rest("c1")),
        fragment('{"path":"b', id="c2", name="read"),
        fragment('.txt"}', **rest("c2")),
    ]
    assert calls_of(deltas) == EXPECTED


def test_b01_indexes_missing_and_ids_on_every_piece_interleaved() -> None:
    deltas = [
        fragment('{"path":"a', id="c1", name="read"),
        fragment('{"path":"b', id="c2", name="read"),
        fragment('.txt"}', id="c1"),
        fragment('.txt"}', id="c2"),
    ]
    assert calls_of(deltas) == EXPECTED


def test_b01_neither_index_nor_id() -> None:
    deltas = [fragment('{"path":"a.txt"}', name="read"), fragment('{"path":"b.txt"}', name="read")]
    calls = calls_of(deltas)
    assert [(name, arguments) for _, name, arguments in calls] == [call[1:] for call in EXPECTED]
    assert len({call_id for call_id, _, _ in calls}) == 2


def test_b01_index_zero_and_no_id_for_all() -> None:
    deltas = [fragment('{"path":"a.txt"}', index=0, name="read"), fragment('{"path":"b.txt"}', index=0, name="grep")]
    assert [name for _, name, _ in calls_of(deltas)] == ["read", "grep"]


@pytest.mark.parametrize("doubled", ["same", "", None, 7])
def test_b01_doubled_and_empty_ids_become_ids_of_their_own(doubled: Any) -> None:
    deltas = [
        fragment('{"path":"a.txt"}', index=0, id=doubled, name="read"),
        fragment('{"path":"b.txt"}', index=1, id=doubled, name="read"),
    ]
    calls = calls_of(deltas)
    assert [arguments["path"] for _, _, arguments in calls] == ["a.txt", "b.txt"]
    ids = [call_id for call_id, _, _ in calls]
    assert len(set(ids)) == 2 and all(ids)


def test_b01_one_id_for_all_without_index() -> None:
    deltas = [
        fragment('{"path":"a', id="c", name="read"),
        fragment('.txt"}', id="c"),
        fragment('{"path":"b.txt"}', id="c", name="read"),
    ]
    assert [arguments["path"] for _, _, arguments in calls_of(deltas)] == ["a.txt", "b.txt"]


def test_b01_several_fragments_in_one_delta() -> None:
    first, second = (
        fragment('{"path":"a.txt"}', index=0, id="c1", name="read"),
        fragment('{"path":"b.txt"}', index=1, id="c2", name="read"),
    )
    assert calls_of([{"tool_calls": first["tool_calls"] + second["tool_calls"]}]) == EXPECTED


def test_an_id_that_comes_late_belongs_to_the_call_before() -> None:
    deltas = [fragment("", index=0, name="read"), fragment('{"path":"a.txt"}', index=0, id="c1")]
    assert calls_of(deltas) == EXPECTED[:1]


def test_a_call_repeated_whole_at_the_end_is_one_call() -> None:
    whole = fragment('{"path":"a.txt"}', index=0, id="c1", name="read")
    assert calls_of([whole, whole]) == EXPECTED[:1]


def test_an_empty_object_ahead_of_the_arguments_holds_their_place() -> None:
    deltas = [
        fragment("{}", index=0, id="c1", name="read"),
        fragment('{"path":', index=0),
        fragment('"a.txt"}', index=0),
    ]
    assert calls_of(deltas) == EXPECTED[:1]


@pytest.mark.parametrize(
    "names",
    [["read"], ["re", "ad"], ["read", "read"], ["re", "read"], ["r", "e", "a", "d"], ["", "read"], ["read", ""]],
    ids=lambda names: "+".join(names),
)
def test_names_in_pieces_or_again_with_every_fragment(names: list[str]) -> None:
    pieces = ["", '{"path":', '"a.t', 'xt"', "}"]
    deltas = [fragment(piece, index=0, name=name) for name, piece in zip(names, pieces, strict=False)]
    deltas += [fragment(piece, index=0) for piece in pieces[len(names) :]]
    assert [call[1:] for call in calls_of(deltas)] == [call[1:] for call in EXPECTED[:1]]


@pytest.mark.parametrize(
    "pieces",
    [
        [""],
        [None],
        ["   "],
        ["\n"],
        ["null"],
        [{}],
        [None, "{", "}"],
        ["{}"],
        ["{", "}"],
        ["{}", "{}"],
        ['""'],
        ['"{}"'],
    ],
    ids=repr,
)
def test_b02_a_call_without_arguments_gets_an_empty_object(pieces: list[Any]) -> None:
    deltas = [{"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "code_map", "arguments": pieces[0]}}]}]
    deltas += [fragment(piece, index=0) for piece in pieces[1:]]
    _, completion = assemble(deltas, "tool_calls")
    assert [(call.name, call.arguments) for call in completion.tool_calls] == [("code_map", "{}")]


def test_b02_arguments_and_function_absent() -> None:
    deltas = [{"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "code_map"}}]}]
    assert calls_of(deltas) == [("c1", "code_map", {})]


def test_b02_two_calls_without_arguments_ids_or_indexes() -> None:
    deltas = [fragment("", name="code_map"), fragment("", name="code_files")]
    assert [name for _, name, _ in calls_of(deltas)] == ["code_map", "code_files"]


@pytest.mark.parametrize("arguments", [{"path": "ä", "n": [1, {"x": None}]}, json.dumps('{"path": "ä"}'), {"a": {}}])
def test_b02_arguments_as_an_object_or_encoded_twice(arguments: Any) -> None:
    calls = calls_of([fragment(arguments, index=0, id="c1", name="read")])
    assert calls[0][2] == (arguments if isinstance(arguments, dict) else json.loads(json.loads(arguments)))


@pytest.mark.parametrize("broken", ['{"path": "a', "path=a", "[1]", "5", "{'path': 'a'}"])
def test_broken_arguments_come_through_as_they_are(broken: str) -> None:
    _, completion = assemble([fragment(broken, index=0, id="c1", name="read")])
    assert completion.tool_calls[0].arguments == broken


def test_the_legacy_function_call() -> None:
    deltas = [
        {"function_call": {"name": "read", "arguments": '{"path"'}},
        {"function_call": {"arguments": ':"a.txt"}'}},
    ]
    assert [call[1:] for call in calls_of(deltas)] == [call[1:] for call in EXPECTED[:1]]


def test_junk_fragments_make_no_call() -> None:
    deltas = [{"tool_calls": [{"index": 0}, None, 5, {"function": None}]}, {"tool_calls": None}, {"tool_calls": "x"}]
    _, completion = assemble([*deltas, {"content": "text"}])
    assert completion.tool_calls == () and completion.text == "text"


TOOL_NAMES = ["bash", "read", "edit", "write", "code_map", "code_grep", "git", "web_search", "recall", "dispatch"]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(
    st.builds(
        Call,
        name=st.sampled_from(TOOL_NAMES),
        arguments=st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=4),
        split=st.integers(0, 9),
    ),
    min_size=1,
    max_size=4,
)
# What no reader could tell apart is left out: interleaved pieces without index and without id.
SHAPES = st.one_of(
    st.tuples(
        st.just("sequential"), st.sampled_from(["counted", "missing", "zero"]), st.sampled_from(["first", "every"])
    ),
    st.tuples(
        st.just("interleaved"), st.just("counted"), st.sampled_from(["first", "every", "missing", "empty", "same"])
    ),
    st.tuples(st.just("interleaved"), st.sampled_from(["missing", "zero"]), st.just("every")),
    st.tuples(st.just("sequential"), st.just("counted"), st.sampled_from(["missing", "empty", "same"])),
)


@given(calls=CALLS, shape=SHAPES, text=st.text(max_size=20), together=st.booleans())
def test_any_way_of_cutting_the_same_calls_gives_the_same_result(
    calls: list[Call], shape: tuple[Any, Any, Any], text: str, together: bool
) -> None:
    order, index, ids = shape
    named = tuple(
        Call(name=call.name, arguments=call.arguments, split=call.split, id=f"id_{n}") for n, call in enumerate(calls)
    )
    deltas = call_deltas(Calls(calls=named, order=order, index=index, ids=ids))
    if together:
        deltas = [{"content": text, **deltas[0]}, *deltas[1:]]
    result = calls_of(deltas)
    assert [(name, arguments) for _, name, arguments in result] == [(call.name, call.arguments) for call in calls]
    assert len({call_id for call_id, _, _ in result}) == len(calls)
    if ids in ("first", "every"):
        assert [call_id for call_id, _, _ in result] == [call.id for call in named]


@given(st.text(), st.data())
def test_b04_text_cut_anywhere_in_utf_16_comes_together_again(text: str, data: st.DataObject) -> None:
    text = text.replace("\0", "")
    units = text.encode("utf-16-le", "surrogatepass")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(units) // 2), max_size=6)))
    edges = [0, *(cut * 2 for cut in cuts), len(units)]
    pieces = [
        "".join(chr(int.from_bytes(units[at : at + 2], "little")) for at in range(start, end, 2))
        for start, end in pairwise(edges)
    ]
    parts, completion = assemble([{"content": piece} for piece in pieces])
    assert completion.text == text
    assert "".join(part.text for part in parts if isinstance(part, StreamText)) == text


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (["x\ud83d", "\ude00y"], "x😀y"),
        (["x\ud83d"], "x\ufffd"),
        (["\ude00y"], "\ufffdy"),
        (["\ud83d", "\ud83d", "\ude00"], "\ufffd😀"),
        (["a\ud83d", "", "b"], "a\ufffdb"),
        (["a\0b"], "a\ufffdb"),
    ],
)
def test_b04_halves_of_a_pair(pieces: list[str], whole: str) -> None:
    for field in ("content", "reasoning_content"):
        parts, completion = assemble([{field: piece} for piece in pieces])
        assert (completion.text or completion.reasoning) == whole
        shown = "".join(part.text for part in parts if isinstance(part, StreamText | StreamReasoning))
        shown.encode("utf-8")
        assert shown == whole


def test_b04_surrogates_in_names_ids_and_arguments() -> None:
    _, completion = assemble(
        [fragment('{"p":"\ud83d', index=0, id="c\ud83d", name="re\ud800ad"), fragment('\ude00"}', index=0)]
    )
    call = completion.tool_calls[0]
    f"{call.id}{call.name}{call.arguments}".encode()
    assert json.loads(call.arguments) == {"p": "😀"}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_in_whatever_field(field: str) -> None:
    parts, completion = assemble([{field: "let me "}, {field: "see"}, {"content": "42"}])
    assert (completion.reasoning, completion.text) == ("let me see", "42")
    assert parts == [StreamReasoning(text="let me "), StreamReasoning(text="see"), StreamText(text="42")]


def test_reasoning_sent_in_two_fields_at_once_is_taken_once() -> None:
    _, completion = assemble([{"reasoning": "hm", "reasoning_content": "hm", "content": None}])
    assert completion.reasoning == "hm"


def test_content_as_blocks() -> None:
    blocks = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "42"}, None]
    _, completion = assemble([{"content": blocks}])
    assert (completion.reasoning, completion.text) == ("hm", "42")


def test_progress_counts_the_characters_of_arguments() -> None:
    parts, _ = assemble([fragment('{"pa', index=0, id="c1", name="read"), fragment('th":1}', index=0)])
    assert parts == [
        StreamToolProgress(index=0, name="read", argument_chars=4),
        StreamToolProgress(index=0, name="read", argument_chars=10),
    ]


@pytest.mark.parametrize("marker", [None, "", "null"])
def test_b06_what_is_no_finish_marker(marker: str | None) -> None:
    assembler = DeltaAssembler()
    assembler.feed(chunk({"content": "x"}, marker))
    assert assembler.finish_reason == ""


def test_usage_in_the_last_chunk_without_choices() -> None:
    assembler = DeltaAssembler()
    assembler.feed(chunk({"content": "x"}, "stop"))
    usage = {
        "prompt_tokens": 120,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }
    assert assembler.feed({"choices": [], "usage": usage}) == []
    assert assembler.completion().usage == Usage(
        input_tokens=120, output_tokens=30, cached_tokens=100, reasoning_tokens=7, requests=1
    )


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": None}])
def test_missing_usage_is_estimated_and_says_so(usage: Any) -> None:
    assembler = DeltaAssembler()
    assembler.feed({**chunk({"content": "x" * 40}, "stop"), "usage": usage})
    assert assembler.completion(input_chars=400).usage == estimate_usage(400, 40)
    assert assembler.completion().usage.estimated


def test_usage_under_other_names() -> None:
    usage = read_usage({"input_tokens": 5, "output_tokens": 6, "prompt_cache_hit_tokens": 4})
    assert usage == Usage(input_tokens=5, output_tokens=6, cached_tokens=4, requests=1)


@given(st.dictionaries(st.sampled_from(["choices", "usage", "error", "x"]), JSON_VALUES, max_size=4))
def test_no_shape_of_chunk_breaks_the_assembler(value: dict[str, Any]) -> None:
    assembler = DeltaAssembler()
    assembler.feed(value)
    assembler.feed({"choices": [{"delta": value}, value, 5, None]})
    assembler.feed({"choices": [{"delta": {"tool_calls": [value, {"function": value}], "content": value}}]})
    assembler.finish()
    json.dumps(assembler.completion().text, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("number", [float("inf"), float("nan"), -1, 10**30, "9" * 5000, True, "²", 1.5])
def test_no_number_breaks_the_assembler(number: Any) -> None:
    assembler = DeltaAssembler()
    assembler.feed({"choices": [{"delta": fragment('{"path":"a.txt"}', index=number, id="c1", name="read")}]})
    assembler.feed({"choices": [], "usage": {"prompt_tokens": number, "completion_tokens": number}})
    completion = assembler.completion()
    assert [call.name for call in completion.tool_calls] == ["read"] and completion.usage.input_tokens >= 0


def test_other_choices_than_the_first_are_passed_over() -> None:
    assembler = DeltaAssembler()
    assembler.feed({"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]})
    assert assembler.completion().text == "a"
