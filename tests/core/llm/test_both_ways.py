"""More recorded streams that the cheap way and litellm's wrapper read alike, and those that the wrapper loses."""

import gc
import json
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import msgspec
import pytest

from smith_core.llm import provider
from smith_core.llm.protocol import Completion, Endpoint
from smith_core.messages import ToolCall
from tests.support.model_server import ModelServer
from tests.support.model_steps import (
    Answer,
    Call,
    Cut,
    Delta,
    Finish,
    Raw,
    Reasoning,
    Stall,
    Status,
    StreamError,
    Text,
    Usage,
    call_tools,
    http_error,
    say,
)
from tests.support.provider_calls import Endpointed, Played

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

COUNTED = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def body(*chunks: Any, line_end: str = "\n", prefix: str = "data: ") -> Answer:
    events = [f"{prefix}{json.dumps(entry)}" for entry in chunks] + ["data: [DONE]"]
    return [Raw("".join(f"{event}{line_end * 2}" for event in events))]


def fragment(arguments: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"name": "read", "arguments": arguments}, **more}]}


READ = Call(name="read", arguments={"path": "a.txt"})

ALIKE: dict[str, Answer] = {
    "surrogates cut in two": [Delta({"content": "x\ud83d"}), Delta({"content": "\ude00y"}), Finish(), Usage()],
    "empty deltas": [Delta({"role": "assistant", "content": ""}), Delta({}), Text("a"), Delta({"content": None}),
                     Text("b"), Finish(), Usage()],
    "usage in the last chunk": body(chunk({"content": "a"}), chunk({}, "stop", usage=COUNTED)),
    "text in the last chunk": body(chunk({"content": "a"}), chunk({"content": "b"}, "stop")),
    "usage before the end": [Text("a"), Usage(prompt_tokens=1), Finish(), Usage()],
    "two finish markers": [Text("a"), Finish(), Finish(), Usage()],
    "reset behind the finish marker": [Text("whole"), Finish(), Cut("rst")],
    "closed behind the finish marker": [Text("whole"), Finish(), Cut("fin")],
    "thoughts in the text": say("<think>hm</think>yes", size=3),
    "another field for reasoning": [Delta({"reasoning": "hm"}), Text("a"), Finish(), Usage()],
    "reasoning, then a call": [Reasoning("hm", size=1), *call_tools(READ)],
    "lines that end as on Windows": body(chunk({"content": "a"}), chunk({}, "stop"), line_end="\r\n"),
    "no blank behind the colon": body(chunk({"content": "a"}), chunk({}, "stop"), prefix="data:"),
    "no choices in mid stream": body(chunk({"content": "a"}), {**chunk({}), "choices": None}, chunk({}, "stop")),
    "a large delta": [Text("x" * 200_000), Finish(), Usage()],
    "filtered": [Text("half"), Finish("content_filter"), Usage()],
    "a call without an id": [Delta(fragment("{}")), Finish("tool_calls"), Usage()],
    "one id for two calls": [Delta(fragment("{}", id="a")), Delta(fragment("{}", 1, id="a")), Finish("tool_calls"),
                             Usage()],
    "the name in every fragment": [Delta(fragment('{"pa', id="a")), Delta(fragment('th":1}', id="a")),
                                   Finish("tool_calls"), Usage()],
    "broken arguments": [Delta(fragment('{"path": "a', id="a")), Finish("tool_calls"), Usage()],
    "cut off in a call": [Delta(fragment('{"path": "a', id="a")), Finish("length"), Usage()],
    "no calls in a list": [Delta({"content": "a", "tool_calls": []}), Finish(), Usage()],
    "calls as they once were": [Delta({"function_call": {"name": "read", "arguments": "{}"}}), Finish("function_call"),
                                Usage()],
    "an error without a number": [Text("abc", size=1), StreamError({"message": "overloaded"})],
    "too many requests inside": [Text("abc", size=1), StreamError({"message": "slow down", "code": 429})],
    "an error at once": [StreamError({"message": "no such model", "code": 404})],
    **{str(status): http_error(status, "no") for status in (408, 409, 413, 422, 425, 504)},
    "a redirect to nowhere": Status(302, "", content_type="text/plain"),
}  # fmt: skip


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpointed]:
    async with ModelServer() as server:
        yield Endpointed(server)


def outcome(played: Played) -> Any:
    """Return all that came of a call; ids that we made up are alike."""
    if not isinstance(played.result, Completion):
        error = played.result
        return played.parts, error.kind, error.code, error.retryable, dict(error.data)
    calls = tuple(
        ToolCall("made up" if len(call.id) > 5 else call.id, call.name, call.arguments)
        for call in played.result.tool_calls
    )
    return played.parts, msgspec.structs.replace(played.result, tool_calls=calls)


@pytest.mark.parametrize("name", ALIKE)
async def test_both_ways_give_the_same(name: str, endpoint: Endpointed) -> None:
    cheap = await endpoint.play(ALIKE[name])
    assert outcome(cheap) == outcome(await endpoint.play(ALIKE[name], use_wrapper=True))


MORE: dict[str, tuple[Answer, str, str]] = {
    "a completion that is no stream": (
        Status(200, {**chunk({}), "choices": [{"message": {"content": "hey"}, "finish_reason": "stop"}]}),
        "hey", "",
    ),
    "silence behind the finish marker": ([Text("whole"), Finish(), Stall()], "whole", "stream_stalled"),
    "a refusal": ([Delta({"refusal": "I cannot"}), Finish(), Usage()], "I cannot", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
async def test_where_the_wrapper_loses_an_answer_the_cheap_way_has_it(name: str, endpoint: Endpointed) -> None:
    answer, text, lost_by = MORE[name]
    assert (await endpoint.play(answer)).completion.text == text
    wrapped = await endpoint.play(answer, use_wrapper=True)
    assert wrapped.error.code == lost_by if lost_by else wrapped.completion.text == ""


async def test_a_web_page_is_no_empty_answer(endpoint: Endpointed) -> None:
    page = Status(200, "<html>hi</html>", content_type="text/html")
    assert (await endpoint.play(page)).error.code == "bad_answer"
    assert (await endpoint.play(page, use_wrapper=True)).completion.text == ""


async def test_b27_no_object_holds_the_key_of_a_request_that_is_over() -> None:
    async with ModelServer() as server:
        for use_wrapper in (False, True):
            for answer in (say("hi"), http_error(401, "no")):
                at = Endpoint(api_url=server.url, api_key=a_key())
                await Endpointed(server).play(answer, endpoint=at, use_wrapper=use_wrapper)
    del server, at
    # What was hidden from collections is not in their list either.
    gc.unfreeze()
    gc.collect()
    assert holders() == ["AsyncOpenAI"], "litellm keeps clients for later"
    provider.forget_keys()
    gc.collect()
    assert holders() == []


def a_key() -> str:
    """Make a key, so that no variable of the test and no constant of this file holds it."""
    return "-".join(("sk", "of", "one", "request"))


def holders() -> list[str]:
    """Return the types of all objects that refer to a text with the key in it.

    Modules are left out, whose dicts are objects of their own: to ask that of asyncio in Python 3.12 for what it refers
    to puts iterators that nobody uses into its list of free ones twice, and the next collection never ends.
    """
    found = []
    for thing in gc.get_objects():
        if isinstance(thing, ModuleType):
            continue
        for held in gc.get_referents(thing):
            if type(held) is str and "sk-of-one" in held and held.endswith("request"):
                found.append(type(thing).__name__)
    return found
