from smith_core.messages import Message, ToolCall, ToolMetadata
from smith_tui.theme import DARK
from smith_tui.transcript.history import blocks_of, blocks_of_message
from smith_tui.transcript.model import Document
from tests.support.markdown_examples import FOREIGN
from tests.support.transcript_rows import all_rows, texts


def _shown(messages: list[Message], width: int = 60) -> list[str]:
    document = Document(DARK, width)
    document.extend(blocks_of(messages, "green"))
    return texts(all_rows(document))


def test_a_conversation_comes_back_whole() -> None:
    call = ToolCall("c1", "bash", '{"command": "ls"}')
    messages = [
        Message(role="system", content="secret"),
        Message(role="user", content="go\non"),
        Message(role="assistant", reasoning="hm", content="I look.", tool_calls=(call,)),
        Message(role="tool", tool_call_id="c1", name="bash", content="a.py", metadata=ToolMetadata(exit_code=0)),
        Message(role="assistant", content="Done", interrupted=True),
    ]
    assert _shown(messages) == [
        "",
        "▌ go",
        "▌ on",
        "",
        "∴ thought",
        "┊ hm",
        "",
        "◆ I look.",
        "",
        "  ✓ bash  ls",
        "  │ a.py",
        "",
        "◆ Done",
        "",
        "▲ interrupted",
    ]


def test_calls_and_results_that_lack_each_other_are_shown() -> None:
    messages = [
        Message(role="tool", tool_call_id="lost", name="read", content="x", ok=False),
        Message(role="assistant", tool_calls=(ToolCall("open", "bash", '{"command": "sleep"}'),)),
    ]
    rows = _shown(messages)
    assert rows[1] == "  ✗ read"
    assert "⊘ bash  sleep" in rows[4]


def test_b19_a_loaded_conversation_shows_foreign_text_as_it_is() -> None:
    text = "\n".join(FOREIGN)
    shown = "\n".join(
        _shown(
            [
                Message(role="user", content=text),
                Message(role="assistant", content=text, reasoning=text[: text.index("[$error]")]),
                Message(role="tool", tool_call_id="1", name="bash", content="\n".join(FOREIGN[:10]), ok=False),
            ],
            100,
        )
    )
    for foreign in FOREIGN[:8]:
        assert shown.count(foreign) >= 4, foreign


def test_nothing_is_rendered_by_loading() -> None:
    document = Document(DARK, 60)
    document.extend(blocks_of([Message(role="assistant", content="text")] * 500, "green"))
    assert not document._cache
    assert document.height == 1000


def test_a_message_is_found_among_the_blocks() -> None:
    calls = (ToolCall("a", "bash", "{}"), ToolCall("b", "read", "{}"))
    messages = [
        Message(role="system", content="secret"),
        Message(role="user", content="go"),
        Message(role="assistant", reasoning="hm", content="I look.", tool_calls=calls),
        Message(role="tool", tool_call_id="b", name="read", content="second"),
        Message(role="tool", tool_call_id="a", name="bash", content="first"),
        Message(role="tool", tool_call_id="lost", name="bash", content="of no call"),
        Message(role="assistant", content="x\n\n" * 1500),
    ]
    blocks = blocks_of(messages, "green")
    assert [list(blocks_of_message(messages, index)) for index in range(6)] == [[], [0], [1, 2, 3, 4], [4], [3], [5]]
    assert blocks_of_message(messages, 6) == range(6, len(blocks))
    assert "second" in blocks[4].text
