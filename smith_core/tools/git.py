"""The tool git: looks at a repository, changes nothing in it, and starts nothing that its configuration names."""

import asyncio
import contextlib
import os
import shlex
from typing import Annotated

import msgspec

from smith_core.cancel import CANCELLED
from smith_core.messages import ToolMetadata
from smith_core.text import clean_text, shorten
from smith_core.tools.base import MODEL_TEXT_LIMIT, ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.foreign_text import ForeignText, without_controls
from smith_core.tools.git_excerpt import excerpt_diff
from smith_core.tools.git_options import OPTIONS, GitCall, check_arguments
from smith_core.tools.git_safety import (
    git_argv,
    git_environment,
    index_copy,
    list_settings_argv,
    named_programs,
    outside_path,
)
from smith_core.tools.output import HeadAndTail, Spill
from smith_core.tools.program import ProgramEnd, ProgramLimits, find_program, run_program

TIME_LIMIT_S = 30.0
OUTPUT_LIMIT = 32 * 1024 * 1024
"""Most bytes of one output that are read; git is stopped after them."""
MEMORY_LIMIT = 2 * 1024**3
"""Bytes of memory that git may take: enough for the largest repositories, not for a file without end."""

_SETTINGS_LIMITS = ProgramLimits(seconds=10, output_bytes=4 * 1024 * 1024, memory_bytes=MEMORY_LIMIT)
_LIMITS = ProgramLimits(seconds=TIME_LIMIT_S, output_bytes=OUTPUT_LIMIT, memory_bytes=MEMORY_LIMIT)
_MAX_ARGUMENT_CHARACTERS = 100_000
_GOOD_STATUS = (0, 2, 3)  # --check reports what it found in these bits
_HEAD_SHARE = 0.7
_NOTE_ROOM = 600
_BINARY_SNIFF = 8000
_NOTHING = {
    "status": "nothing to commit, working tree clean",
    "log": "no commit matches",
    "diff": "no differences",
    "show": "nothing to show",
    "blame": "the file is empty",
}


class GitArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of git."""

    subcommand: Annotated[str, msgspec.Meta(description=f"One of {', '.join(OPTIONS)}.")]
    args: Annotated[
        list[str] | str,
        msgspec.Meta(description='Options, revisions and paths, one each, such as ["--stat", "main", "--", "src"].'),
    ] = []


async def git(arguments: GitArguments, ctx: ToolContext) -> ToolOutcome:
    """Run one of the reading subcommands of git."""
    call = _read_arguments(arguments)
    if isinstance(call, str):
        return failed(clean_text(f"{shorten(call, 2000)}."), code="bad_arguments", kind="schema")
    outside = outside_path([*call.names, *(call.paths or ())], ctx.cwd)
    if outside:
        return failed(f"{clean_text(outside)} is outside of the repository; use read for it", code="bad_path")
    program = find_program("git", ctx.child_env)
    if program is None:
        return failed("git is not there; install it or put it on PATH, or look with read and code_grep", code="missing")
    if not ctx.cwd.is_dir():
        return failed(f"the working folder {clean_text(str(ctx.cwd))} is gone", code="not_found")
    return await GitRun(program, call, ctx).run()


def _read_arguments(arguments: GitArguments) -> GitCall | str:
    """Return the checked call; a command line as one text is taken apart as a shell would."""
    try:
        first = shlex.split(arguments.subcommand)
        rest = shlex.split(arguments.args) if isinstance(arguments.args, str) else list(arguments.args)
    except ValueError as error:
        return f"the arguments cannot be taken apart ({error}); give args as a list"
    words = [*(first[1:] if first[:1] == ["git"] else first), *rest]
    if words and words[0] not in OPTIONS and words[0].startswith("-"):
        return f"git takes no options before the subcommand here; subcommand is one of {', '.join(OPTIONS)}"
    text = "".join(words)
    if "\0" in text or text != clean_text(text) or len(text) > _MAX_ARGUMENT_CHARACTERS:
        return "the arguments hold a NUL, half of a surrogate pair, or more than 100000 characters"
    return check_arguments(words[0] if words else "", words[1:])


class GitRun:
    """One run of a checked call; used once."""

    def __init__(self, program: str, call: GitCall, ctx: ToolContext) -> None:
        self._program = program
        self._call = call
        self._ctx = ctx
        self._cleaner = ForeignText()
        self._text = HeadAndTail(head_share=_HEAD_SHARE)
        self._spill = Spill(ctx.spill_dir)
        self._start = b""

    async def run(self) -> ToolOutcome:
        """Disarm what the configuration names, run git, and return what it printed."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._spill.close)
            try:
                settings = await self._disarming_settings()
                if isinstance(settings, ToolOutcome):
                    return settings
                env = git_environment(self._ctx.child_env, settings)
                if self._call.subcommand == "diff":
                    copying = index_copy(self._ctx.cwd, self._ctx.spill_dir)
                    env |= await asyncio.to_thread(stack.enter_context, copying)
                argv = git_argv(self._program, self._call)
                end = await run_program(argv, self._ctx, env=env, limits=_LIMITS, on_output=self._take)
            except OSError as error:
                return failed(f"git cannot be run here: {error.strerror or error}; check the folder and free space")
            self._text.add(self._cleaner.finish())
            return await self._outcome(end)

    async def _disarming_settings(self) -> dict[str, str] | ToolOutcome:
        listed = bytearray()
        # A git that does not know how to take settings from its environment (before 2.31) would not show this one.
        probe = f"smith.probe{os.urandom(8).hex()}"
        env = git_environment(self._ctx.child_env, {probe: "true"})
        argv = list_settings_argv(self._program)
        end = await run_program(argv, self._ctx, env=env, limits=_SETTINGS_LIMITS, on_output=listed.extend)
        text = listed.decode("utf-8", "surrogateescape")
        if end.ending == "cancelled":
            return _cancelled()
        if end.ending != "exited" or end.status != 0:
            self._text.add(without_controls(clean_text(text)))
            return await self._outcome(end)
        if probe not in text.split("\0"):
            return failed("this git is too old to be run safely; install git 2.31 or newer", code="too_old")
        return named_programs(text)

    def _take(self, data: bytes) -> None:
        if len(self._start) < _BINARY_SNIFF:
            self._start += data[: _BINARY_SNIFF - len(self._start)]
        self._spill.add(data)
        self._text.add(self._cleaner.feed(data))

    async def _outcome(self, end: ProgramEnd) -> ToolOutcome:
        if end.ending == "cancelled":
            return _cancelled()
        if end.ending == "exited" and end.status not in _GOOD_STATUS:
            return _refused(self._call, self._text.excerpt().head, end.status)
        if b"\0" in self._start:
            return succeeded(f"[binary content, {self._spill.size} bytes; it is not shown]")
        content, omitted = await self._content()
        if not content.strip() and end.ending == "exited":
            content = f"[{_NOTHING[self._call.subcommand]}]"
        if end.ending != "exited":
            limit = f"{TIME_LIMIT_S:g} s" if end.ending == "timed_out" else f"{OUTPUT_LIMIT} bytes of output"
            content += f"\n[git was stopped after {limit}: there is more; ask for less with paths, -n or --stat]"
        return ToolOutcome(
            ok=True,
            content=clean_text(content),
            metadata=ToolMetadata(
                exit_code=end.status if end.ending == "exited" else None,
                timed_out=end.ending == "timed_out",
                omitted_chars=omitted,
                full_output_path=self._spill.kept_path,
            ),
        )

    async def _content(self) -> tuple[str, int]:
        """Return what is shown of the output, and how many characters are left out."""
        length = self._text.length
        whole = self._text.excerpt(reserved=_NOTE_ROOM)
        if not whole.omitted:
            return whole.head, 0
        saved = self._spill.keep()
        note = f"[The whole output has {length} characters; {saved}. Ask for less with paths, -n or --stat.]\n"
        shown = await asyncio.to_thread(self._diff_excerpt, MODEL_TEXT_LIMIT - len(note) - _NOTE_ROOM)
        if shown is not None:
            return note + shown, length - len(shown)
        kept = self._text.excerpt(reserved=len(note) + _NOTE_ROOM)
        cut = f"[... {kept.omitted} of {length} characters are left out here ...]"
        return note + "\n".join([kept.head.removesuffix("\n"), cut, kept.tail]), kept.omitted

    def _diff_excerpt(self, limit: int) -> str | None:
        if self._call.subcommand not in ("diff", "show", "log") or not self._spill.kept_path:
            return None
        with contextlib.suppress(OSError), self._spill.path.open("rb") as file:
            return excerpt_diff(file, limit)
        return None


def _refused(call: GitCall, text: str, status: int) -> ToolOutcome:
    """Return the failure that git's own words describe."""
    words = shorten(text, 1500) or f"git ended with status {status}"
    if "not a git repository" in words:
        words = "this folder is in no git repository; look at the files with read and code_files"
    elif "lazy fetch" in words or "promisor" in words:
        words += "; this clone lacks the object, and nothing is fetched here"
    return failed(f"git {call.subcommand}: {clean_text(words)}", code="git_failed", exit_code=status)


def _cancelled() -> ToolOutcome:
    return ToolOutcome(ok=False, content="[cancelled]", error=CANCELLED, cancelled=True)


GIT = ToolSpec(
    name="git",
    description=(
        "Look at the git repository of the working folder with status, log, diff, show or blame. Nothing is changed, "
        "and no program of the repository's configuration runs (no pager, external diff, textconv, filter or hook). "
        "Put paths behind --. A long diff is shortened file by file; name one file to see all of it."
    ),
    arguments=GitArguments,
    handler=git,
)
