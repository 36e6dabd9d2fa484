"""What is wrong with a configuration, in words for the person."""

from collections.abc import Iterable

from smith_core.config.layers import STORED_OVERRIDES
from smith_core.config.schema import Problem, printable
from smith_core.text import shorten

_SHOWN_PATH_CHARACTERS = 120


def describe_problem(problem: Problem) -> str:
    """Return a problem as one sentence, without its source."""
    if problem.kind == "refused":
        return problem.expected
    if problem.kind == "unknown":
        hint = f"; did you mean {problem.suggestion}?" if problem.suggestion else ""
        return f"{problem.path} is not a setting{hint}"
    subject = shorten(problem.path, _SHOWN_PATH_CHARACTERS) or "the whole of it"
    return f"{subject} is {problem.value}, but must be {problem.expected}"


def render_problems(problems: Iterable[Problem]) -> str:
    """Return all problems as one message for the person, grouped by where they were found; "" without any."""
    lines: list[str] = []
    by_source: dict[str, list[str]] = {}
    for problem in problems:
        if problem.path or not problem.source:
            by_source.setdefault(problem.source, []).append(f"- {describe_problem(problem)}")
        else:
            lines.append(f"{_capital(problem.source)} cannot be used and is left out: {describe_problem(problem)}.")
    if by_source:
        lines.append("Some settings are ignored until they are corrected; all others are in effect.")
    for source, bullets in by_source.items():
        lines += [f"In {printable(source)}:"] if source else []
        lines += bullets
    if STORED_OVERRIDES in by_source:
        lines.append("/config unset PATH removes a stored override.")
    return "\n".join(lines)


def _capital(source: str) -> str:
    text = printable(source)
    return text[:1].upper() + text[1:]
