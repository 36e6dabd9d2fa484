"""The preview of the next request: the same messages as the request, and each stored one accounted for."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from smith_core.messages import Message, ToolCall
from smith_core.prompt import build_messages
from smith_core.session.preview import next_request, plan
from smith_core.store.interface import StoredMessage
from smith_core.store.repair import repair
from smith_core.window import WindowLimits, fit
from tests.support.engine import open_engine, run_turn
from tests.support.scripted_client import ScriptedClient, calls


def user(text: str) -> Message:
    return Message(role="user", content=text)


def rounds(*sizes: int) -> tuple[StoredMessage, ...]:
    """Return turns of a prompt, one call and a result of that many characters."""
    messages: list[Message] = []
    for number, size in enumerate(sizes):
        messages += [
            Message(role="user", content=f"prompt {number}"),
            Message(role="assistant", tool_calls=(ToolCall(f"c{number}", "read"),)),
            Message(role="tool", tool_call_id=f"c{number}", content="x" * size),
        ]
    return tuple(StoredMessage(number, message) for number, message in enumerate(messages, 1))


def test_elided_cut_and_dropped_parts_are_told_apart() -> None:
    limits = WindowLimits(context_window=1000, keep_rounds=2)
    parts, fits = plan("be good", rounds(1500, 900, 1100, 100), user("go on"), limits)
    assert fits
    assert [(part.state, part.sequences) for part in parts] == [
        ("sent", ()),
        ("sent", (1,)), ("sent", (2,)), ("elided", (3,)),
        ("sent", (4,)), ("sent", (5,)), ("sent", (6,)),
        ("sent", (7,)), ("sent", (8,)), ("sent", (9,)),
        ("sent", (10,)), ("sent", (11,)), ("sent", (12,)),
        ("sent", ()),
    ]  # fmt: skip
    narrow, _ = plan(
        "be good", rounds(1500, 900, 1100, 100), user("go on"), WindowLimits(context_window=450, keep_rounds=2)
    )
    assert [part.state for part in narrow[1:7]] == ["dropped"] * 6
    assert all(part.tokens == 0 for part in narrow[1:7])


def test_joined_prompts_have_both_numbers() -> None:
    stored = tuple(StoredMessage(number, Message(role="user", content=f"p{number}")) for number in (3, 5))
    parts, _ = plan("s", stored, user("p6"), WindowLimits(context_window=1000))
    assert [(part.whole.content, part.sequences) for part in parts] == [("s", ()), ("p3\n\np5\n\np6", (3, 5))]


def test_prompts_that_were_never_answered_are_dropped_where_they_stand() -> None:
    stored = tuple(StoredMessage(number, user("x" * size)) for number, size in ((2, 10), (4, 4000), (5, 12)))
    answered = (*stored, StoredMessage(6, Message(role="assistant", content="yes")), StoredMessage(7, user("y" * 4000)))
    parts, _ = plan("s", answered, user("now"), WindowLimits(context_window=1000))
    assert [(part.sequences, part.state) for part in parts] == [
        ((), "sent"),
        ((2,), "dropped"), ((4,), "dropped"), ((5,), "sent"),
        ((6,), "sent"),
        ((7,), "dropped"), ((), "sent"),
    ]  # fmt: skip


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3000), max_size=8), st.integers(100, 4000), st.integers(0, 4), st.booleans())
def test_what_is_planned_is_what_is_sent(sizes: list[int], window: int, keep: int, enabled: bool) -> None:
    limits = WindowLimits(context_window=window, keep_rounds=keep, enabled=enabled)
    stored = rounds(*sizes)
    parts, fits = plan("system", stored, user("next"), limits)
    history = (*repair([item.message for item in stored]), Message(role="user", content="next"))
    fitted = fit(build_messages("system", history), limits)
    assert tuple(part.sent for part in parts if part.sent is not None) == fitted.messages
    assert fits == fitted.fits
    assert [number for part in parts for number in part.sequences] == [item.sequence for item in stored]


async def test_the_preview_is_the_request_that_follows(tmp_path: Path) -> None:
    client = ScriptedClient(calls(("bash", {"command": "seq 1 2000"})), "done", "more")
    settings = {"context_management": {"tool_output_keep_rounds": 0, "tool_output_elide_over_chars": 100}}
    runtime = open_engine(tmp_path, client, settings)
    await run_turn(runtime, "count")
    (tmp_path / "notes.txt").write_text("remember the milk")
    request = await next_request(runtime.session, "and now? @notes.txt")
    assert request.states == {3: "elided"}
    await run_turn(runtime, "and now? @notes.txt")
    asked = client.requests[-1]
    assert "remember the milk" in asked.messages[-1].content
    sent = [part.sent for part in request.parts if part.sent is not None]
    assert [(message.role, message.content) for message in sent] == [
        (message.role, message.content) for message in asked.messages
    ]
    assert tuple(tool.definition for tool in request.tools) == asked.tools
    assert request.tool_tokens > 100 and 0 < request.tokens <= request.token_limit < request.context_window
