"""Every action that has a key, as one table; footer, bindings and help are made from it.

The config changes a key with `keys.<action>`: one key or several between commas, written as `ctrl+o` or `f2`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from textual.binding import Binding

Scope = Literal[
    "always",
    "children",
    "dispatched",
    "changed",
    "waiting",
    "asking",
    "prompt",
    "continuation",
    "completion",
    "queue",
    "permission",
    "copy",
    "links",
    "link",
    "pane",
    "child",
    "tool_output",
    "find",
    "search",
    "conversations",
    "inspect",
    "inspect_edit",
    "pager",
]


class KeyAction(msgspec.Struct, frozen=True):
    """One action and its keys.

    importance: 1 is the last to leave a narrow footer; 0 never stands there. scope: the widget that acts on the keys
    and has the focus then; "always", "children" (while there are child panes), "dispatched" (while the transcript
    has children to open), "changed" (while it has a card of changed files), "waiting" (while prompts wait) and
    "asking" (while a question waits) are for keys that work everywhere. shown_as: text that the footer shows in place
    of the key. The labels of "permission" name the call.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    importance: int = 5
    scope: Scope = "always"
    shown_as: str = ""


def _focus_child(number: int) -> KeyAction:
    """Nine actions that are one hint in the footer."""
    importance, shown_as = (4, "Alt+1…9") if number == 1 else (0, "")
    keys = (f"alt+{number}",)
    return KeyAction(
        f"focus_child_{number}", keys, "panes", f"Go to child pane {number}", importance, "children", shown_as
    )


_FOCUS_CHILD = tuple(_focus_child(number) for number in range(1, 10))
_CANCEL_HELP = "Cancel the turn; twice within a second while nothing runs: quit"
_STEER_HELP = "Say the prompt to the running turn"
_PREVIOUS_CALL = ("left_square_bracket", "ctrl+left")
_WORD_KEYS = ("ctrl+right", "alt+right", "alt+f")
_CONTINUE_HELP = "Take the rest of an earlier prompt, which is shown behind the caret"
_COMPLETE_ENTER_HELP = "Completion: take what is selected; what is typed whole is sent"
_SCREEN_HELP = "Output: show it as lines, or as the screen that the program drew"
_WHOLE_HELP = "Output: open all of it from the file on disk, or close it again"
_FILES_HELP = "Take back what a turn did to files, or put it again"
_RECORD_HELP = "Inspect: the message as it is stored, or the JSON that is sent"
_NEXT_CALL = ("right_square_bracket", "ctrl+right")

KEY_ACTIONS: tuple[KeyAction, ...] = (
    KeyAction("send", ("enter",), "send", "Send the prompt", 2, "prompt"),
    KeyAction("steer", ("alt+enter",), "to the turn", _STEER_HELP, 0, "prompt"),
    KeyAction("newline", ("shift+enter", "ctrl+j"), "newline", "Begin a new line in the prompt", 6, "prompt", "Ctrl+J"),
    KeyAction("cancel", ("ctrl+c",), "cancel/quit", _CANCEL_HELP, 1),
    KeyAction("conversation_view", ("alt+h",), "chat", "Show the conversation", 7),
    KeyAction("inspect_view", ("alt+i",), "inspect", "Look at each stored message", 7),
    KeyAction("command_palette", ("ctrl+p",), "commands", "Find and run a command", 3),
    KeyAction("tool_output", ("ctrl+o",), "output", "Show or hide the tool output", 4),
    KeyAction("output_focus", ("alt+o",), "output keys", "Go to the tool output, or back to the prompt", 0),
    KeyAction("copy", ("alt+c",), "copy", "Copy what is selected, also while a turn runs", 0),
    KeyAction("find", ("ctrl+f",), "find", "Find text in the transcript", 5),
    *_FOCUS_CHILD,
    KeyAction("pane_zoom", ("alt+z",), "zoom", "Panes: give a child the whole screen, or take it back", 3, "children"),
    KeyAction("panes_close", ("alt+0",), "close panes", "Panes: close those of children that are over", 6, "children"),
    KeyAction("open_child", ("alt+t",), "child", "Open the whole transcript of a child", 3, "dispatched"),
    KeyAction("move_files", ("alt+u",), "undo files", _FILES_HELP, 3, "changed"),
    KeyAction("pane_fold", ("alt+m",), "fold", "Panes: fold the pane to one line, or open it again", 4, "pane"),
    KeyAction("pane_cancel", ("ctrl+x", "delete"), "cancel child", "Panes: cancel this child alone", 2, "pane"),
    KeyAction("pane_next", ("tab", "alt+right"), "next", "Panes: go to the next pane", 4, "pane"),
    KeyAction("pane_previous", ("shift+tab", "alt+left"), "previous", "Panes: go to the pane before", 0, "pane"),
    KeyAction("pane_leave", ("escape",), "back", "Panes: leave the whole screen, or go back to the prompt", 2, "pane"),
    KeyAction("child_next", ("n", "right"), "next", "Child: go to the next child of the conversation", 3, "child"),
    KeyAction("child_previous", ("p", "left"), "previous", "Child: go to the child before", 3, "child"),
    KeyAction("child_close", ("escape", "q"), "back", "Child: go back to the conversation", 2, "child"),
    KeyAction("help", ("f1",), "help", "Show all keys and commands", 3),
    KeyAction("redraw", ("ctrl+l",), "redraw", "Draw the whole screen again", 0),
    KeyAction("question", ("alt+p",), "answer", "Question: go to the call that waits for an answer", 1, "asking"),
    KeyAction("queue", ("alt+q",), "queue", "Queue: go to the prompts that wait", 3, "waiting"),
    KeyAction("copy_answer", ("alt+a",), "copy answer", "Copy the last answer", 0),
    KeyAction("copy_code", ("alt+k",), "copy code", "Copy the last code block", 0),
    KeyAction("copy_chosen", ("alt+y",), "copy…", "Choose a message or a code block to copy", 8),
    KeyAction("links", ("alt+l",), "links…", "Choose an address that was named, and see it before it opens", 0),
    KeyAction("prompt_above", ("alt+up",), "prompt above", "Show the prompt above in the transcript", 0),
    KeyAction("prompt_below", ("alt+down",), "prompt below", "Show the prompt below in the transcript", 0),
    KeyAction("undo", ("ctrl+z",), "undo", "Undo the last edit of the prompt", 0, "prompt"),
    KeyAction("redo", ("ctrl+y",), "redo", "Redo what was undone", 0, "prompt"),
    KeyAction("paste_open", ("alt+v",), "open paste", "Open the large paste nearest to the caret", 0, "prompt"),
    KeyAction("continue_all", ("right", "end", "ctrl+e"), "take", _CONTINUE_HELP, 0, "continuation"),
    KeyAction("continue_word", _WORD_KEYS, "word", "Take the next word of it", 0, "continuation"),
    KeyAction("complete_take", ("tab",), "take", "Completion: take what is selected", 1, "completion"),
    KeyAction("complete_enter", ("enter",), "take/send", _COMPLETE_ENTER_HELP, 2, "completion"),
    KeyAction("complete_next", ("down", "ctrl+n"), "next", "Completion: select the next one", 3, "completion"),
    KeyAction("complete_previous", ("up",), "previous", "Completion: select the one before", 3, "completion"),
    KeyAction(
        "complete_close", ("escape",), "close", "Completion: close the list until the text changes", 2, "completion"
    ),
    KeyAction("copy_take", ("enter",), "copy", "Copy…: copy what is selected; 1 to 9 choose at once", 1, "copy"),
    KeyAction("copy_leave", ("escape", "q"), "back", "Copy…: copy nothing", 1, "copy"),
    KeyAction("links_take", ("enter",), "show", "Links…: show what is selected; 1 to 9 choose at once", 1, "links"),
    KeyAction("links_leave", ("escape", "q"), "back", "Links…: open nothing", 1, "links"),
    KeyAction("link_open", ("enter", "o"), "open", "Link: open the address that is shown", 1, "link"),
    KeyAction("link_copy", ("c",), "copy", "Link: copy the address", 1, "link"),
    KeyAction("link_leave", ("escape", "q"), "leave", "Link: leave it", 1, "link"),
    KeyAction("permit_once", ("y",), "yes", "Question: let this call run", 0, "permission"),
    KeyAction("permit_tool", ("a",), "always {tool}", "Question: let the tool run in this session", 0, "permission"),
    KeyAction("permit_same", ("c",), "always {covers}", "Question: let this very call run again", 0, "permission"),
    KeyAction("permit_deny", ("n", "escape"), "no", "Question: do not let it run; the turn goes on", 0, "permission"),
    KeyAction("queue_edit", ("enter", "e"), "edit", "Queue: take the prompt back into the input line", 2, "queue"),
    KeyAction("queue_remove", ("d", "delete"), "remove", "Queue: remove the prompt", 2, "queue"),
    KeyAction("queue_up", ("shift+up", "ctrl+up", "u"), "earlier", "Queue: send it earlier", 3, "queue"),
    KeyAction("queue_down", ("shift+down", "ctrl+down", "n"), "later", "Queue: send it later", 3, "queue"),
    KeyAction("queue_now", ("s",), "send now", "Queue: say it to the running turn, or send it", 3, "queue"),
    KeyAction("queue_leave", ("escape",), "back", "Queue: go back to the prompt", 1, "queue"),
    KeyAction("previous_call", _PREVIOUS_CALL, "call before", "Show the output of the call before", 2, "tool_output"),
    KeyAction("next_call", _NEXT_CALL, "call after", "Show the output of the call after", 2, "tool_output"),
    KeyAction("output_view", ("s",), "lines/screen", _SCREEN_HELP, 3, "tool_output"),
    KeyAction("output_whole", ("o",), "whole", _WHOLE_HELP, 3, "tool_output"),
    KeyAction("output_copy", ("c",), "copy", "Output: copy it", 5, "tool_output"),
    KeyAction("output_leave", ("escape",), "back", "Output: go back to the prompt", 1, "tool_output"),
    KeyAction("find_next", ("enter", "down"), "next", "Go to the next match", 2, "find"),
    KeyAction("find_previous", ("shift+enter", "up"), "previous", "Go to the match before", 3, "find", "Up"),
    KeyAction("find_close", ("escape",), "close", "Leave the search", 2, "find"),
    KeyAction("search_open", ("enter",), "open", "Search: open the conversation at the result", 2, "search"),
    KeyAction(
        "search_order", ("tab",), "best/newest", "Search: show the best or the newest results first", 3, "search"
    ),
    KeyAction("search_close", ("escape",), "back", "Search: go back to the conversation", 2, "search"),
    KeyAction("list_open", ("enter",), "load", "List: load the conversation", 2, "conversations"),
    KeyAction("list_filter", ("slash",), "filter", "List: filter by title and folder", 3, "conversations"),
    KeyAction("list_new", ("n",), "new", "List: begin a new conversation", 5, "conversations"),
    KeyAction("list_title", ("t",), "title", "List: give the conversation another title", 5, "conversations"),
    KeyAction("list_fork", ("f",), "fork", "List: copy the conversation", 5, "conversations"),
    KeyAction("list_delete", ("d", "delete"), "delete", "List: delete the conversation", 4, "conversations"),
    KeyAction("list_undo", ("u",), "undo", "List: take the last deletion back", 4, "conversations"),
    KeyAction("list_close", ("escape",), "back", "List: go back to the conversation", 2, "conversations"),
    KeyAction("inspect_edit", ("e",), "edit", "Inspect: edit the message here", 2, "inspect"),
    KeyAction("inspect_outside", ("o",), "$EDITOR", "Inspect: edit the message in $VISUAL or $EDITOR", 4, "inspect"),
    KeyAction(
        "inspect_delete", ("d", "delete"), "delete", "Inspect: delete what is marked, or the message", 2, "inspect"
    ),
    KeyAction("inspect_mark", ("space",), "mark", "Inspect: mark the message, or take its mark away", 4, "inspect"),
    KeyAction("inspect_range", ("v",), "range", "Inspect: begin or end a marked range", 5, "inspect"),
    KeyAction("inspect_undo", ("u",), "undo", "Inspect: take the last change back", 3, "inspect"),
    KeyAction("inspect_redo", ("r",), "redo", "Inspect: make it again", 6, "inspect"),
    KeyAction("inspect_filter", ("slash",), "filter", "Inspect: filter by role, tool and text", 4, "inspect"),
    KeyAction("inspect_request", ("m",), "next request", "Inspect: what would be sent to the model next", 3, "inspect"),
    KeyAction("inspect_record", ("t",), "record", _RECORD_HELP, 6, "inspect"),
    KeyAction("inspect_copy", ("c",), "copy", "Inspect: copy what is marked, or the message", 6, "inspect"),
    KeyAction("inspect_jump", ("enter",), "go there", "Inspect: show the message in the transcript", 5, "inspect"),
    KeyAction("inspect_fork", ("f",), "fork", "Inspect: go on with a copy up to the message", 6, "inspect"),
    KeyAction("inspect_size", ("w",), "pane/whole", "Inspect: as a pane, or on the whole screen", 5, "inspect"),
    KeyAction(
        "inspect_next", ("tab",), "other pane", "Inspect: go from the table to the message, and back", 7, "inspect"
    ),
    KeyAction("inspect_close", ("escape", "q"), "back", "Inspect: let go of marks, then go back", 1, "inspect"),
    KeyAction("edit_keep", ("ctrl+s",), "keep", "Edit: keep the changed text", 1, "inspect_edit"),
    KeyAction("edit_drop", ("escape",), "leave", "Edit: leave the text as it was", 1, "inspect_edit"),
    KeyAction("pager_find", ("slash",), "find", "Conversation: find a text", 2, "pager"),
    KeyAction("pager_next", ("n",), "next", "Conversation: go to the next match", 4, "pager"),
    KeyAction("pager_previous", ("N",), "previous", "Conversation: go to the match before", 5, "pager"),
    KeyAction("pager_turn_down", ("right_square_bracket", "j"), "turn below", "Conversation: next turn", 3, "pager"),
    KeyAction("pager_turn_up", ("left_square_bracket", "k"), "turn above", "Conversation: turn before", 3, "pager"),
    KeyAction("pager_fold", ("f",), "fold", "Conversation: fold or unfold what tools put out", 4, "pager"),
    KeyAction("pager_outside", ("o",), "$PAGER", "Conversation: open it in $PAGER", 4, "pager"),
    KeyAction("pager_close", ("escape", "q"), "back", "Conversation: go back", 1, "pager"),
)

_EVERYWHERE: tuple[Scope, ...] = ("always", "children", "dispatched", "changed", "waiting", "asking")
_WITHOUT_TYPING: tuple[Scope, ...] = (
    "queue",
    "permission",
    "copy",
    "links",
    "link",
    "tool_output",
    "child",
    "conversations",
    "inspect",
    "pager",
)
_ON_EVERY_SCREEN = ("cancel", "help")
_MODIFIERS = ("ctrl", "alt", "shift", "super")
_EDITING_KEYS = ("enter", "tab", "space", "backspace", "delete", "insert")
_MOVING_KEYS = ("home", "end", "pageup", "pagedown", "up", "down", "left", "right", "escape")
_FUNCTION_KEYS = tuple(f"f{number}" for number in range(1, 25))
_NAMED = frozenset(_EDITING_KEYS + _MOVING_KEYS + _FUNCTION_KEYS)
_ALIASES = {"control": "ctrl", "return": "enter", "esc": "escape", "option": "alt", "meta": "alt", "cmd": "super"}
_LABELS = {"escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "delete": "Del", "backspace": "Backspace"}
_PUNCTUATION = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "slash": "/",
    "backslash": "\\",
    "full_stop": ".",
    "question_mark": "?",
    "minus": "-",
}


def resolve_keys(
    overrides: Mapping[str, str], actions: tuple[KeyAction, ...] = KEY_ACTIONS
) -> tuple[tuple[KeyAction, ...], tuple[str, ...]]:
    """Return the table with the config's keys in it, and one sentence for each override that cannot be used."""
    problems: list[str] = []
    defaults = {action.name: action for action in actions}
    table = dict(defaults)
    changed: list[str] = []
    for name, written in overrides.items():
        if name not in table:
            problems.append(f"keys.{name}: {_no_action(name, table)}")
            continue
        try:
            keys = tuple(parse_key(key) for key in written.split(","))
        except ValueError as error:
            problems.append(f"keys.{name}: {error}")
            continue
        table[name] = msgspec.structs.replace(table[name], keys=keys, shown_as="")
        changed.append(name)
    # All overrides stand before the first is judged, so that two actions can swap their keys.
    while objections := [(name, text) for name in changed if (text := _objection(table[name], table.values()))]:
        name, text = objections[-1]
        problems.append(f"keys.{name}: {text}")
        table[name] = defaults[name]
        changed.remove(name)
    return tuple(table.values()), tuple(problems)


def key_objection(overrides: Mapping[str, str], name: str) -> str:
    """Return why an action cannot have the key that these overrides give it beside all others, "" if it can."""
    before = {other: written for other, written in overrides.items() if other != name}
    _, problems = resolve_keys({**before, name: overrides[name]})
    start = f"keys.{name}: "
    return next((problem.removesuffix(".") for problem in problems if problem.startswith(start)), "")


def _no_action(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    nearest = get_close_matches(name[:100], known, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else "Tab after /config set keys. lists them."
    return f"there is no such action; {hint}"


def parse_key(written: str) -> str:
    """Return the toolkit's name of a key such as `Ctrl+O`, `f2` or `[`; ValueError says what is wrong with it."""
    text = written.strip()
    *modifiers, key = text.lower().split("+")
    modifiers = [_ALIASES.get(modifier, modifier) for modifier in modifiers]
    key = _ALIASES.get(key, key)
    for name, sign in _PUNCTUATION.items():
        if key == sign:
            key = name
    known = key in _NAMED or key in _PUNCTUATION or re.fullmatch("[a-z0-9]", key)
    if not known or set(modifiers) - set(_MODIFIERS):
        raise ValueError(f"“{text}” is no key; write it like ctrl+o, alt+1 or f2.")
    return "+".join([*(modifier for modifier in _MODIFIERS if modifier in modifiers), key])


def _objection(action: KeyAction, others: Iterable[KeyAction]) -> str:
    for key in action.keys:
        types = len(key) == 1 or key in _PUNCTUATION or key == "space"
        if types and action.scope not in _WITHOUT_TYPING:
            return f"{key_label(key)} is needed for typing; add ctrl, alt or take a function key."
        for other in others:
            meet = action.scope == other.scope or action.scope in _EVERYWHERE or other.scope in _EVERYWHERE
            if meet and other.name != action.name and key in other.keys:
                return f"{key_label(key)} already belongs to {other.name}; take a free key, or change that one first."
    return ""


def key_label(key: str) -> str:
    """Return a key as people write it: `Ctrl+O`, `PgUp`, `[`, `d`."""
    if len(key) == 1:
        return key
    parts = [_PUNCTUATION.get(part) or _LABELS.get(part) or part.capitalize() for part in key.split("+")]
    return "+".join(parts)


def hint_key(action: KeyAction) -> str:
    """Return what the footer shows for the action's key."""
    return action.shown_as or key_label(action.keys[0])


def hints(actions: Iterable[KeyAction], scopes: Iterable[Scope]) -> list[KeyAction]:
    """Return the actions that the footer shows in these scopes, those that work everywhere last."""
    current = {"always", *scopes}
    shown = [action for action in actions if action.importance and action.scope in current]
    return sorted(shown, key=lambda action: action.scope in _EVERYWHERE)


def local_hints(actions: Iterable[KeyAction], scope: Scope) -> tuple[KeyAction, ...]:
    """Return the actions of a screen that is a scope of its own, and those that work on every screen."""
    return tuple(action for action in actions if action.scope == scope or action.name in _ON_EVERY_SCREEN)


def of_one_place(scopes: Iterable[Scope]) -> frozenset[Scope]:
    """Return those of some scopes that are neither everywhere nor the prompt's."""
    return frozenset(scopes).difference(_EVERYWHERE, ("prompt", "continuation"))


def keys_of(actions: Iterable[KeyAction], scope: Scope) -> dict[str, str]:
    """Return key → action name for one scope."""
    return {key: action.name for action in actions if action.scope == scope for key in action.keys}


def app_bindings(actions: Iterable[KeyAction]) -> "list[Binding]":
    """Return the bindings that work everywhere, each calling `action_<name>`; a number behind it is its argument."""
    from textual.binding import Binding

    return [
        Binding(",".join(action.keys), key_call(action), action.help, show=False, priority=True)
        for action in actions
        if action.scope in _EVERYWHERE
    ]


def key_call(action: KeyAction) -> str:
    """Return how the toolkit calls an action by its name; a number behind it is its argument."""
    return re.sub(r"_(\d)$", r"(\1)", action.name)


def help_rows(actions: Iterable[KeyAction]) -> list[tuple[str, str]]:
    """Return (keys, help) of every action, for a help screen; the keys of the child panes are one row."""
    rows: list[tuple[str, str]] = []
    for action in actions:
        if action in _FOCUS_CHILD[1:]:
            continue
        if action == _FOCUS_CHILD[0]:
            rows.append((action.shown_as, f"Go to child pane 1 to {len(_FOCUS_CHILD)}"))
        else:
            rows.append((", ".join(key_label(key) for key in action.keys), action.help))
    return rows
