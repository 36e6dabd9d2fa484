"""What the status bar says, as pure functions: the state of the session to pieces of text that fit a width."""

from typing import Literal

import msgspec

from smith_core.embedded.label import label_of
from smith_tui.sanitize import literal
from smith_tui.transcript.cells import cell_width, cut_to

Activity = Literal["idle", "thinking", "streaming", "tool", "asking", "retry", "error", "cancelled"]
RUNNING: frozenset[Activity] = frozenset({"thinking", "streaming", "tool", "asking", "retry"})
STILL: frozenset[Activity] = frozenset({"asking", "retry"})
"""Of those, what is shown without a spinner."""
_WAITING_FOR_TOOLS: frozenset[Activity] = frozenset({"thinking", "tool"})
PieceStyle = Literal["mark", "role", "text", "muted", "warning", "error"]
Piece = tuple[str, PieceStyle]

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_GAP = "  "
_FOLDER_CELLS = (40, 24, 12)  # tried one after the other before the folder is left out
_MODES = {"auto": "YOLO", "ask": "asks", "read-only": "read-only"}
_SANDBOXES: dict[str, tuple[str, PieceStyle]] = {
    "on": ("sandbox", "muted"),
    "missing": ("no sandbox", "warning"),
    "refused": ("no bash", "error"),
    "unknown": ("sandbox?", "muted"),
}
_MODEL_CELLS, _BRANCH_CELLS, _TOOL_CELLS = 40, 24, 24


class StatusState(msgspec.Struct, frozen=True, kw_only=True):
    """All that the bar shows; tokens are counts, context_percent 0 to 100, times are seconds of one steady clock.

    children: how many dispatched children run. is_host_starting: requests wait for the model host. is_model_loading:
    they wait for a local model. is_raining: rain is to be seen, which moves in place of the mark. permission, sandbox:
    as in SessionChanged.
    """

    role_alias: str = ""
    model: str = ""
    activity: Activity = "idle"
    tool_name: str = ""
    children: int = 0
    is_host_starting: bool = False
    is_model_loading: bool = False
    is_raining: bool = False
    attempt: int = 1
    max_attempts: int = 1
    retry_at: float = 0.0
    turn_started_at: float | None = None
    turn_ended_at: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    context_percent: float | None = None
    folder: str = ""
    branch: str = ""
    is_unsaved: bool = False
    permission: str = ""
    sandbox: str = ""


def compose(state: StatusState, now: float, width: int, *, frame: int | None = None) -> list[Piece]:
    """Return pieces that together take exactly `width` cells; what matters least is left out when they do not fit.

    frame: which picture of the spinner to show, None for a mark that does not move.
    """
    width = max(0, width)
    for folder_cells in _FOLDER_CELLS:
        left, right = _left(state, now, frame), _right(state, now, folder_cells)
        if _needed([*left, *right]) <= width:
            break
    kept = sorted([*left, *right], key=lambda part: part[0])
    while len(kept) > 1 and _needed(kept) > width:
        kept.pop()
    shown_left = _spaced([part for part in left if part in kept])
    shown_right = _spaced([part for part in right if part in kept])
    if _needed(kept) > width:
        return _clip(shown_left, width)
    used = sum(cell_width(text) for text, _ in [*shown_left, *shown_right])
    return [*shown_left, (" " * (width - used), "text"), *shown_right]


_Part = tuple[int, tuple[Piece, ...]]  # (rank, 1 is the last to be left out; pieces)


def _left(state: StatusState, now: float, frame: int | None) -> list[_Part]:
    mark, words = _activity(state, now, frame)
    alias: tuple[Piece, ...] = ((f" {literal(state.role_alias)}", "role"),) if state.role_alias else ()
    parts: list[_Part] = [(1, (mark, *alias))]
    if state.model:
        parts.append((4, ((cut_to(literal(label_of(state.model).short), _MODEL_CELLS), "text"),)))
    if state.permission:
        parts.append((3, (guard(state.permission, state.sandbox),)))
    if state.is_unsaved:
        parts.append((2, (("not saved", "error"),)))
    return [*parts, (2, (words,))]


def guard(permission: str, sandbox: str) -> Piece:
    """Return what stands between a tool and the machine, in one or two words."""
    mode = _MODES.get(permission, permission)
    words, style = _SANDBOXES.get(sandbox, ("", "muted"))
    return (f"{mode}, {words}" if words else mode), style


def _right(state: StatusState, now: float, folder_cells: int) -> list[_Part]:
    parts: list[_Part] = []
    if state.turn_started_at is not None:
        until = now if state.turn_ended_at is None else state.turn_ended_at
        parts.append((3, ((format_seconds(until - state.turn_started_at), "text"),)))
    if state.tokens_in or state.tokens_out:
        tokens = f"↑{format_count(state.tokens_in)} ↓{format_count(state.tokens_out)}"
        parts.append((5, ((tokens, "muted"),)))
    if state.context_percent is not None:
        style: PieceStyle = "warning" if state.context_percent >= 80 else "muted"
        parts.append((6, ((f"ctx {state.context_percent:.0f}%", style),)))
    if state.folder:
        parts.append((8, ((shorten_folder(literal(state.folder), folder_cells), "muted"),)))
    if state.branch:
        parts.append((7, ((cut_to(literal(state.branch), _BRANCH_CELLS), "text"),)))
    return parts


def _activity(state: StatusState, now: float, frame: int | None) -> tuple[Piece, Piece]:
    """Return the mark and the words for what the turn does."""
    match state.activity:
        case "idle":
            return ("○", "muted"), ("idle", "muted")
        case "error":
            return ("✗", "error"), ("error", "error")
        case "cancelled":
            return ("⊘", "warning"), ("cancelled", "warning")
        case "asking":
            return ("?", "warning"), (f"may {cut_to(literal(state.tool_name), _TOOL_CELLS)} run?", "warning")
        case "retry":
            left = max(0, round(state.retry_at - now))
            return ("◌", "warning"), (f"attempt {state.attempt}/{state.max_attempts} in {left} s", "warning")
    words: str = state.activity
    if state.children and state.activity in _WAITING_FOR_TOOLS:
        words = "1 child" if state.children == 1 else f"{state.children} children"
    elif state.activity == "thinking" and state.is_model_loading:
        words = "loading the local model"
    elif state.activity == "thinking" and state.is_host_starting:
        words = "starting the model host"
    elif state.activity == "tool":
        words = f"tool {cut_to(literal(state.tool_name), _TOOL_CELLS)}"
    return ("●" if frame is None else SPINNER[frame % len(SPINNER)], "mark"), (words, "text")


def _spaced(parts: list[_Part]) -> list[Piece]:
    return [piece for _, pieces in parts for piece in [*pieces, (_GAP, "text")]][:-1]


def _needed(parts: list[_Part]) -> int:
    cells = sum(cell_width(text) for _, pieces in parts for text, _ in pieces)
    return cells + len(_GAP) * (len(parts) - 1)


def _clip(pieces: list[Piece], width: int) -> list[Piece]:
    clipped: list[Piece] = []
    for text, style in pieces:
        shown = cut_to(text, width)
        width -= cell_width(shown)
        clipped.append((shown, style))
    return [*clipped, (" " * width, "text")]


def format_seconds(seconds: float) -> str:
    """Return a duration as `7 s`, `2:05` or `1:02:03`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def format_count(count: int) -> str:
    """Return a count as `950`, `12.3k` or `4.5M`."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


def shorten_folder(path: str, cells: int) -> str:
    """Return as many of the last folders of `path` as fit into `cells`, an ellipsis in place of the others."""
    if cell_width(path) <= cells:
        return path
    parts = path.rstrip("/").split("/")
    for start in range(1, len(parts)):
        shorter = "…/" + "/".join(parts[start:])
        if cell_width(shorter) <= cells:
            return shorter
    return cut_to(parts[-1], cells)
