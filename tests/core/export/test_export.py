import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.export.conversation import RENDERERS, render
from smith_core.export.markdown import fenced
from smith_core.export.parts import ExportedConversation
from smith_core.messages import Message, ToolCall, ToolMetadata

HOSTILE = "</pre><script>alert(1)</script> [x](javascript:alert(1)) \x1b[31mred\x07 ```\nfence"


def conversation(*messages: Message, title: str = "Prices") -> ExportedConversation:
    return ExportedConversation(
        conversation_id="c1", title=title, cwd="/work/prices", exported_at=1_700_000_000.0, messages=messages
    )


TALK = conversation(
    Message(role="user", content="fix the sum"),
    Message(
        role="assistant",
        reasoning="look first",
        content="I **look**.",
        tool_calls=(ToolCall("c1", "read", '{"path":"a.py"}'), ToolCall("c2", "bash", '{"command":"x"}')),
    ),
    Message(role="tool", tool_call_id="c2", name="bash", content="no such file", ok=False),
    Message(role="tool", tool_call_id="c1", name="read", content="1 | total = 0"),
    Message(role="assistant", content="Done.", interrupted=True),
)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]


def tags(page: str) -> _Tags:
    parser = _Tags()
    parser.feed(page)
    return parser


def test_markdown_puts_each_result_behind_its_own_call() -> None:
    text = render(TALK, "markdown")
    assert text.startswith("# Prices\n")
    assert text.index('"a.py"') < text.index("1 | total = 0") < text.index('"command"') < text.index("no such file")
    assert "**bash** (failed)" in text
    assert "> look first" in text
    assert "*(broken off here)*" in text


def test_a_fence_is_longer_than_any_inside_of_it() -> None:
    assert fenced("a\n````\nb").splitlines()[0] == "`````"
    assert fenced("plain").splitlines()[0] == "```"


def test_html_has_no_markup_of_what_was_said() -> None:
    page = render(
        conversation(Message(role="user", content=HOSTILE), Message(role="assistant", content=HOSTILE)), "html"
    )
    found = tags(page)
    assert "script" not in found.seen
    assert not [address for address in found.addresses if not address.startswith(("http", "#"))]
    assert "\x1b" not in page
    assert "\x07" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_html_renders_answers_and_folds_calls() -> None:
    page = render(TALK, "html")
    assert "<strong>look</strong>" in page
    assert tags(page).seen.count("details") == 2


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_how_a_turn_ended_that_did_not_end_well_is_told(form: str) -> None:
    failed = ToolMetadata(turn_error="the endpoint\nfell over <b>")
    page = render(
        conversation(
            Message(role="user", content="first", metadata=failed),
            Message(role="user", content="second"),
            Message(role="assistant", tool_calls=(ToolCall("c1", "bash", '{"command":"x"}'),)),
            Message(role="tool", tool_call_id="c1", cancelled=True, metadata=ToolMetadata(turn_cancelled=True)),
        ),
        form,
    )
    error = "the endpoint fell over <b>" if form == "markdown" else "the endpoint\nfell over &lt;b&gt;"
    assert page.index("first") < page.index(f"(the turn ended: {error})") < page.index("second")
    assert page.index("second") < page.index("(the turn ended: cancelled)")


def test_json_holds_every_field() -> None:
    document = json.loads(render(TALK, "json"))
    assert document["version"] == 1
    assert document["messages"][1]["tool_calls"][0] == {"id": "c1", "name": "read", "arguments": '{"path":"a.py"}'}
    assert document["messages"][2]["ok"] is False


@pytest.mark.parametrize("form", RENDERERS)
@given(text=st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=200))
def test_no_text_breaks_an_export_or_acts_on_a_terminal(form: str, text: str) -> None:
    talk = conversation(
        Message(role="user", content=text),
        Message(role="assistant", content=text, reasoning=text, tool_calls=(ToolCall("c1", text, text),)),
        Message(role="tool", tool_call_id="c1", content=text),
        title=text,
    )
    exported = RENDERERS[form](talk)  # type: ignore[index]
    assert not [character for character in exported if ord(character) < 0x20 and character not in "\n\t"]
    if form == "json":
        assert json.loads(exported)["messages"][0].get("content", "") == text
    if form == "html":
        assert set(tags(exported).seen).isdisjoint({"script", "iframe", "img", "object", "form", "link", "svg"})
