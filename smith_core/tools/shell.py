"""The bash tool: its arguments, what it refuses, and its entry for the registry."""

from typing import Annotated

import msgspec

from smith_core.errors import AgentFailure
from smith_core.process import TERM_GRACE_S
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, failed
from smith_core.tools.shell_launch import find_shell
from smith_core.tools.shell_run import CommandRun, cancelled_before_start

MAX_TIMEOUT_S = 3600.0
"""Longest time that a command may ask for."""

_DESCRIPTION = (
    "Run a command line with bash in the working folder and return its output and exit code. "
    "Nobody can answer prompts: there is no input and no /dev/tty. "
    "A background process outlives the call; redirect its output to a file (`server >log 2>&1 &`), "
    "because what it writes to the terminal afterwards is lost."
)


class BashArguments(msgspec.Struct, frozen=True):
    """Arguments of the bash tool."""

    command: Annotated[str, msgspec.Meta(description="The command line, as for `bash -c`.")]
    timeout: Annotated[
        float | None,
        msgspec.Meta(
            description="Seconds after which the command and all that it started is stopped; without it 120, "
            "or what the user has set instead.",
            extra_json_schema={"exclusiveMinimum": 0, "maximum": MAX_TIMEOUT_S},
        ),
    ] = None


def bash_tool(term_grace_s: float = TERM_GRACE_S) -> ToolSpec:
    """Return the tool; a command that is stopped has `term_grace_s` seconds between SIGTERM and SIGKILL."""

    async def handle(arguments: BashArguments, ctx: ToolContext) -> ToolOutcome:
        timeout_s = ctx.bash_timeout_s if arguments.timeout is None else arguments.timeout
        refusal = _refuse(arguments.command, timeout_s)
        if refusal is not None:
            return refusal
        if ctx.is_cancelled():
            return cancelled_before_start()
        if not ctx.cwd.is_dir():
            return failed(f"the working folder {ctx.cwd} is gone; create it again, then repeat the command")
        shell = find_shell(ctx.child_env)
        if shell is None:
            return failed("there is neither bash nor sh; install bash or put it on PATH")
        try:
            sandbox = await ctx.sandbox() if ctx.sandbox is not None else None
        except AgentFailure as caught:
            return failed(caught.error.message, code=caught.error.code, kind=caught.error.kind)
        if ctx.is_cancelled():
            return cancelled_before_start()
        run = CommandRun(ctx, timeout_s=timeout_s, term_grace_s=term_grace_s, sandbox=sandbox)
        return await run.run(shell, arguments.command)

    return ToolSpec(name="bash", description=_DESCRIPTION, arguments=BashArguments, handler=handle, mutates=True)


BASH = bash_tool()


def _refuse(command: str, timeout_s: float) -> ToolOutcome | None:
    """Return what is wrong with the arguments, or None."""
    if not command.strip():
        message = "command is empty; give the command line to run"
    elif "\0" in command:
        message = "command holds a NUL character, which no program can be given; write it as an escape instead"
    elif not _is_encodable(command):
        message = "command holds half of a surrogate pair; send it as valid Unicode"
    elif not 0 < timeout_s <= MAX_TIMEOUT_S:
        message = f"timeout must be more than 0 and at most {MAX_TIMEOUT_S:g} seconds; it is {timeout_s:g}"
    else:
        return None
    return failed(message, code="bad_arguments", kind="schema")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
