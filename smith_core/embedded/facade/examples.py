"""Finished little tasks that the model sees before its own: they teach the language better than any description.

Tiny models lean on the last example most; it is the one whose beginning, a read, is never wrong.
"""

from collections.abc import Collection
from typing import Any

from smith_core.embedded.facade.actions import encode
from smith_core.embedded.facade.edits import EDIT_ACTIONS

Turn = tuple[str, Any]

_TALK: tuple[Turn, ...] = (
    ("user", "good morning"),
    ("act", {"tool": "answer", "text": "Good morning! I am smith, a small local model. What shall I do?"}),
)
_RUN: tuple[Turn, ...] = (
    ("user", "Files: tool.sh\nTask: execute tool.sh, what comes out?"),
    ("act", {"tool": "bash", "command": "bash tool.sh"}),
    ("user", "7 birds\n[exit code 0]"),
    ("act", {"tool": "answer", "text": "It prints: 7 birds"}),
)
_ADD: tuple[Turn, ...] = (
    ("user", "Files: shapes.py\nTask: put a function area(w, h) into shapes.py and write a test of it"),
    ("act", {"tool": "read", "path": "shapes.py"}),
    ("user", "shapes.py:\n1|def side(s):\n2|    return s"),
    (
        "act",
        {"tool": "append", "text": ["", "", "def area(w, h):", "    return w * h"]},
    ),
    ("user", "done"),
    (
        "act",
        {
            "tool": "write",
            "path": "test_shapes.py",
            "content": ["from shapes import area", "", "", "def test_area():", "    assert area(2, 3) == 6"],
        },
    ),
    ("user", "done"),
    ("act", {"tool": "answer", "text": "shapes.py has area(w, h) now, test_shapes.py its test."}),
)
_MEND: tuple[Turn, ...] = (
    ("user", "Files: game.py, menu.txt\nTask: is_over in game.py has a mistake, correct it"),
    ("act", {"tool": "read", "path": "game.py"}),
    ("user", "game.py:\n1|def is_over(lives):\n2|    return lives > 0"),
    (
        "act",
        {"tool": "replace", "old": "    return lives > 0", "new": "    return lives <= 0"},
    ),
    ("user", "done"),
    ("act", {"tool": "answer", "text": "is_over in game.py now returns lives <= 0."}),
)
_LOOK: tuple[Turn, ...] = (
    ("user", "Files: notes.txt\nTask: what should I buy according to notes.txt?"),
    ("act", {"tool": "read", "path": "notes.txt"}),
    ("user", "notes.txt:\n1|buy milk on Friday"),
    ("act", {"tool": "answer", "text": "notes.txt says to buy milk on Friday."}),
)

_EXAMPLES = (_TALK, _RUN, _ADD, _MEND, _LOOK)
_WIRE_TOOLS = dict.fromkeys(EDIT_ACTIONS, "edit")


def examples_for(tools: Collection[str]) -> list[dict[str, str]]:
    """Return the messages of the examples that use none but these tools."""
    messages = []
    for example in _EXAMPLES:
        used = {_WIRE_TOOLS.get(turn["tool"], turn["tool"]) for role, turn in example if role == "act"}
        if used - {"answer"} <= set(tools):
            messages += [_message(role, content) for role, content in example]
    return messages


def _message(role: str, content: Any) -> dict[str, str]:
    if role == "act":
        return {"role": "assistant", "content": encode(content)}
    return {"role": role, "content": content}
