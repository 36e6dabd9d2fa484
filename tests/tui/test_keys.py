"""The table of keys and what the config may change in it."""

import pytest

from smith_tui.keys import KEY_ACTIONS, app_bindings, help_rows, key_label, keys_of, parse_key, resolve_keys

DECIDED = {
    "send": "enter",
    "newline": "shift+enter",
    "cancel": "ctrl+c",
    "conversation_view": "alt+h",
    "inspect_view": "alt+i",
    "command_palette": "ctrl+p",
    "tool_output": "ctrl+o",
    "find": "ctrl+f",
    "focus_child_1": "alt+1",
    "focus_child_9": "alt+9",
    "help": "f1",
}


def test_the_defaults_are_the_decided_ones_and_none_clash() -> None:
    table = {action.name: action for action in KEY_ACTIONS}
    assert {name: table[name].keys[0] for name in DECIDED} == DECIDED
    assert "ctrl+j" in table["newline"].keys
    everywhere = [key for scope in ("always", "children") for key in keys_of(KEY_ACTIONS, scope)]  # type: ignore[arg-type]
    for scope in ("prompt", "tool_output", "find"):
        keys = everywhere + list(keys_of(KEY_ACTIONS, scope))  # type: ignore[arg-type]
        assert len(keys) == len(set(keys))
    assert all(action.help for action in KEY_ACTIONS)


def test_bindings_and_help_follow_the_config() -> None:
    actions, problems = resolve_keys({"find": "Ctrl+G, F3"})
    assert problems == ()
    assert {binding.action: binding.key for binding in app_bindings(actions)}["find"] == "ctrl+g,f3"
    assert ("Ctrl+G, F3", "Find text in the transcript") in help_rows(actions)
    assert not any(binding.action == "send" for binding in app_bindings(actions))


def test_the_help_has_one_row_for_the_keys_of_the_child_panes_unless_one_was_changed() -> None:
    rows = dict(help_rows(KEY_ACTIONS))
    assert rows["Alt+1…9"] == "Go to child pane 1 to 9"
    assert not any(key in rows for key in ("Alt+1", "Alt+5"))
    changed, _ = resolve_keys({"focus_child_5": "f5"})
    assert dict(help_rows(changed))["F5"] == "Go to child pane 5"


def test_two_actions_can_swap_their_keys() -> None:
    actions, problems = resolve_keys({"find": "ctrl+o", "tool_output": "ctrl+f"})
    assert problems == ()
    assert keys_of(actions, "always")["ctrl+o"] == "find"


@pytest.mark.parametrize(
    ("name", "written", "part"),
    [
        ("fnid", "ctrl+g", "no such action"),
        ("find", "ctlr+g", "is no key"),
        ("find", "", "is no key"),
        ("find", "ctrl+", "is no key"),
        ("find", "g", "needed for typing"),
        ("send", "space", "needed for typing"),
        ("find", "ctrl+o", "already belongs to tool_output"),
        ("find", "enter", "already belongs to send"),
    ],
)
def test_what_cannot_be_is_named_and_leaves_the_default(name: str, written: str, part: str) -> None:
    actions, problems = resolve_keys({name: written, "help": "f2"})
    assert len(problems) == 1
    assert problems[0].startswith(f"keys.{name}: ")
    assert part in problems[0]
    table = {action.name: action for action in actions}
    assert table["find"].keys == ("ctrl+f",)
    assert table["help"].keys == ("f2",)


@pytest.mark.parametrize(
    ("written", "key", "label"),
    [
        ("CTRL+O", "ctrl+o", "Ctrl+O"),
        ("shift+ctrl+left", "ctrl+shift+left", "Ctrl+Shift+Left"),
        ("Esc", "escape", "Esc"),
        ("return", "enter", "Enter"),
        ("[", "left_square_bracket", "["),
        ("alt+?", "alt+question_mark", "Alt+?"),
        ("pageup", "pageup", "PgUp"),
        ("f12", "f12", "F12"),
    ],
)
def test_keys_are_read_and_written_as_people_do(written: str, key: str, label: str) -> None:
    assert parse_key(written) == key
    assert key_label(key) == label
