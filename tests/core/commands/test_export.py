import pytest

from smith_core.commands.export import default_name, parse_target
from smith_core.commands.turns import last_turns
from smith_core.export.parts import ExportedConversation
from smith_core.messages import Message


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", ("markdown", "")),
        ("html", ("html", "")),
        ("JSON out put.txt", ("json", "out put.txt")),
        ("talk.html", ("html", "talk.html")),
        ("md talk.html", ("markdown", "talk.html")),
        ("notes.txt", ("markdown", "notes.txt")),
    ],
)
def test_form_and_path_are_told_apart(arguments: str, expected: tuple[str, str]) -> None:
    assert parse_target(arguments) == expected


def test_a_title_cannot_lead_out_of_the_folder() -> None:
    talk = ExportedConversation(
        conversation_id="c", title="../../etc/passwd\n; rm -rf", cwd="/", exported_at=0.0, messages=()
    )
    name = default_name(talk, "html")
    assert "/" not in name
    assert "\n" not in name
    assert name.startswith("smith-etc-passwd-rm-rf-")


def test_a_turn_reaches_from_a_prompt_to_the_next() -> None:
    messages = [Message(role=role) for role in ("user", "assistant", "tool", "assistant", "user", "assistant")]  # type: ignore[arg-type]
    assert (last_turns(messages, 1), last_turns(messages, 2), last_turns(messages, 3)) == (4, 0, -1)
    assert last_turns([], 1) == -1
