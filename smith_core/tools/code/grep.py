"""The tool code_grep: lines that a regular expression matches, in the files that ignore rules leave."""

import re
from typing import Annotated

import msgspec

from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.code.budget import counted
from smith_core.tools.code.children import MAX_SECONDS, Children
from smith_core.tools.code.globs import GlobError, PathGlob
from smith_core.tools.code.grep_ranking import rank
from smith_core.tools.code.grep_text import found_text
from smith_core.tools.code.place import Place, visible
from smith_core.tools.code.records import RECORD_OPTIONS, BinaryNote, FoundLine, read_records
from smith_core.tools.code.ripgrep import chunks_of, has_failed, ripgrep_command
from smith_core.tools.code.searching import search_place

MAX_PATTERN_CHARS = 10_000
MAX_CONTEXT = 20
MAX_LINES_PER_FILE = 1_000
MAX_LINES = 30_000
"""Lines after which the search is ended; nobody reads that many, and a longer pattern finds the right ones."""


class GrepArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of code_grep."""

    pattern: Annotated[str, msgspec.Meta(description="Regular expression (Rust syntax: no look-around).")]
    path: Annotated[str | None, msgspec.Meta(description="Folder or file to search. Default: all.")] = None
    glob: Annotated[
        str | None,
        msgspec.Meta(description="Only files that match, as *.py or src/**/*.ts; !*.md for all others."),
    ] = None
    context: Annotated[
        int | None, msgspec.Meta(description=f"Lines shown around each match, at most {MAX_CONTEXT}. Default: 0.")
    ] = None


class _Found(msgspec.Struct):
    """What one run of ripgrep gave; problem: why it gave nothing at all, in ripgrep's words."""

    lines: list[FoundLine]
    matches: int = 0
    binaries: int = 0
    is_cut: bool = False
    is_late: bool = False
    problem: str = ""


async def grep(arguments: GrepArguments, ctx: ToolContext) -> ToolOutcome:
    """Search; an invalid expression is searched for as plain text, and what has no match once more without case."""
    refusal = _refuse(arguments)
    if refusal is not None:
        return refusal
    try:
        glob = PathGlob(arguments.glob.strip()) if arguments.glob and arguments.glob.strip() else None
    except GlobError as error:
        return failed(f"Cannot search: {error}", code="bad_glob", kind="schema")

    def work(place: Place, children: Children) -> ToolOutcome:
        return _Search(arguments, glob, place, ctx, children).outcome()

    return await search_place(work, "search", arguments.path, ctx)


def _refuse(arguments: GrepArguments) -> ToolOutcome | None:
    pattern = arguments.pattern
    if not pattern:
        message = "pattern is empty; give what to look for"
    elif len(pattern) > MAX_PATTERN_CHARS:
        message = f"pattern has {len(pattern)} characters; give one of at most {MAX_PATTERN_CHARS}"
    elif "\0" in pattern:
        message = r"pattern holds a NUL character, which no program can be given; write \x00 instead"
    elif any("\ud800" <= character <= "\udfff" for character in pattern):
        message = "pattern holds half of a character (a lone surrogate); give it whole"
    else:
        return None
    return failed(message, code="bad_arguments", kind="schema")


class _Search:
    def __init__(
        self, arguments: GrepArguments, glob: PathGlob | None, place: Place, ctx: ToolContext, children: Children
    ) -> None:
        self._arguments, self._glob, self._place, self._ctx, self._children = arguments, glob, place, ctx, children
        self._notes: list[str] = []

    def outcome(self) -> ToolOutcome:
        """Return what was found, in words for the model."""
        found = self._run()
        if found.problem:
            first_problem = found.problem
            found = self._run("--fixed-strings")
            if found.problem:
                return failed(f"Cannot search: {_in_words(found.problem)}", code="bad_pattern")
            self._notes.append(
                f"[the pattern is no valid regular expression ({_in_words(first_problem)}); "
                "it was searched for as plain text]"
            )
        if found.is_late:
            self._notes.append(f"[the search was ended after {MAX_SECONDS:g} s: name a smaller folder]")
        if not found.matches and not self._notes:
            found = self._run("--ignore-case")
            if found.matches:
                self._notes.append("[no line matches with this case; these match when case is ignored]")
        if not found.matches:
            return succeeded("\n".join([self._nothing(found), *self._notes]))
        files = rank(found.lines)
        text = found_text(files, "\n".join([self._heading(found), *self._notes]), self._place)
        return succeeded(text, lines=found.matches)

    def _run(self, *extra: str) -> _Found:
        command = ripgrep_command([*self._options(), *extra, "-e", self._arguments.pattern], self._place, self._ctx)
        found = _Found([])
        prefix = self._place.prefix
        with self._children.run(command, self._place.folder) as child:
            for record in read_records(chunks_of(child, self._children)):
                if isinstance(record, BinaryNote):
                    found.binaries += 1
                    continue
                if self._glob and not self._place.name and not self._glob.lets_through(record.path, prefix):
                    continue
                found.lines.append(record)
                found.matches += record.column > 0
                if len(found.lines) >= MAX_LINES:
                    found.is_cut = True
                    break
            else:
                found.is_late = child.is_late
                if not found.lines and not found.is_late and has_failed(child):
                    found.problem = child.problem
        return found

    def _options(self) -> list[str]:
        options = [*RECORD_OPTIONS, f"--max-count={MAX_LINES_PER_FILE}"]
        if self._glob is not None and not self._place.name:
            options += self._glob.options
        if self._arguments.context:
            options.append(f"--context={min(MAX_CONTEXT, max(0, self._arguments.context))}")
        if "\n" in self._arguments.pattern or re.search(r"(?<!\\)(?:\\\\)*\\n", self._arguments.pattern):
            options.append("--multiline")
        return options

    def _heading(self, found: _Found) -> str:
        files = len({line.path for line in found.lines})
        count = f"more than {MAX_LINES:,} lines" if found.is_cut else counted(found.matches, "matching line")
        ending = "; the search ended there" if found.is_cut else ""
        return f"{count} in {counted(files, 'file')}{self._where()}, the most relevant first{ending}"

    def _nothing(self, found: _Found) -> str:
        if found.binaries:
            binaries = counted(found.binaries, "binary file")
            return f"no text matches{self._where()}, but {binaries} did; use bash to look into it"
        return (
            f"no line matches {visible(self._arguments.pattern[:200])!r}{self._where()}, whatever the case. "
            "Files that .gitignore names and binary files are not searched; a shorter pattern finds more"
        )

    def _where(self) -> str:
        place = f" in {self._place.title}" if self._arguments.path and self._arguments.path.strip() else ""
        return place + (f" in files like {visible(self._arguments.glob or '')}" if self._glob else "")


def _in_words(problem: str) -> str:
    """Return the last, telling line of ripgrep's complaint."""
    lines = [line.removeprefix("rg: ").removeprefix("error: ").strip() for line in problem.splitlines() if line.strip()]
    telling = [line for line in lines if line and not set(line) <= {"^", " "}]
    return visible((telling[-1] if "regex parse error" in problem else telling[0])[:300]) if telling else "unknown"


CODE_GREP = ToolSpec(
    name="code_grep",
    description=(
        "Search file contents with a regular expression; lines come by file, the most relevant files first. "
        "Ignored files (.gitignore) and binary files are left out."
    ),
    arguments=GrepArguments,
    handler=grep,
)
