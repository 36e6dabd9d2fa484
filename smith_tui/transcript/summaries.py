"""What a tool call says on one line: the argument that matters, and how the call stands."""

import json
from collections.abc import Callable, Mapping
from typing import Any

_MOST_SHOWN = 20_000

Arguments = Mapping[str, Any]


def summarize(name: str, arguments: str) -> str:
    """Return a call's arguments as one line; `arguments` is JSON text, anything else is shown as it is."""
    try:
        decoded = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        return one_line(arguments)
    if not isinstance(decoded, dict):
        return one_line(arguments)
    summary = _SUMMARIES.get(name, _all_arguments)
    return one_line(summary(decoded))


def format_duration(seconds: float) -> str:
    """Return a duration as a person reads it: 40 ms, 3.2 s, 2 m 05 s."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} m {rest:02} s"


def one_line(text: str) -> str:
    """Return the lines of a text behind each other; what no screen has room for is left out."""
    return " ↵ ".join(line.strip() for line in text[:_MOST_SHOWN].splitlines() if line.strip())


def _all_arguments(arguments: Arguments) -> str:
    return "  ".join(f"{name}={_value(value)}" for name, value in arguments.items())


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(arguments: Arguments, name: str) -> str:
    value = arguments.get(name)
    return "" if value is None else _value(value)


def _lines(arguments: Arguments) -> str:
    start, end = _text(arguments, "start_line"), _text(arguments, "end_line")
    if not start and not end:
        return ""
    return f":{start}" if end in ("", start) else f":{start}-{end}"


def _command(arguments: Arguments) -> str:
    return _text(arguments, "command")


def _read(arguments: Arguments) -> str:
    return _text(arguments, "path") + _lines(arguments)


def _edit(arguments: Arguments) -> str:
    operation = _text(arguments, "operation")
    return f"{_text(arguments, 'path')}{_lines(arguments)}" + (f"  {operation}" if operation else "")


def _path(arguments: Arguments) -> str:
    return _text(arguments, "path") or "."


def _search(key: str) -> Callable[[Arguments], str]:
    def summary(arguments: Arguments) -> str:
        place = " ".join(filter(None, (_text(arguments, "path"), _text(arguments, "glob"))))
        return _text(arguments, key) + (f"  in {place}" if place else "")

    return summary


def _symbols(arguments: Arguments) -> str:
    kind = _text(arguments, "kind")
    return _text(arguments, "query") + (f"  {kind}" if kind else "")


def _git(arguments: Arguments) -> str:
    rest = arguments.get("args")
    words = [_word(_value(word)) for word in rest] if isinstance(rest, list) else [_text(arguments, "args")]
    return " ".join([_text(arguments, "subcommand"), *words]).strip()


def _word(text: str) -> str:
    """Return one argument of a command so that it is seen where it ends."""
    return f"'{text}'" if not text or " " in text else text


def _web_search(arguments: Arguments) -> str:
    most = _text(arguments, "max_results")
    return _text(arguments, "query") + (f"  at most {most}" if most else "")


def _dispatch(arguments: Arguments) -> str:
    return f"{_text(arguments, 'role')}: {_text(arguments, 'task')}"


def _report(arguments: Arguments) -> str:
    return f"{_text(arguments, 'status')}: {_text(arguments, 'summary')}"


def _note(arguments: Arguments) -> str:
    return " ".join(filter(None, (_text(arguments, "action"), _text(arguments, "id"), _text(arguments, "text"))))


def _recall(arguments: Arguments) -> str:
    return " ".join(filter(None, (_text(arguments, name) for name in ("key", "prefix", "query"))))


_SUMMARIES: dict[str, Callable[[Arguments], str]] = {
    "bash": _command,
    "read": _read,
    "edit": _edit,
    "write": _path,
    "code_map": _path,
    "code_outline": _path,
    "code_grep": _search("pattern"),
    "code_files": _search("query"),
    "code_symbols": _symbols,
    "git": _git,
    "web_search": _web_search,
    "web_fetch": lambda arguments: _text(arguments, "url"),
    "recall": _recall,
    "note": _note,
    "dispatch": _dispatch,
    "report": _report,
}
