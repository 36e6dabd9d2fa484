"""A command line that the person runs: `!command` joins the conversation, `!!command` stays out of it."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from smith_core.errors import AgentError, failure
from smith_core.events import Emit, ToolEnded, ToolOutput, ToolStarted, TurnStarted
from smith_core.ids import new_id
from smith_core.messages import Message, ToolResult, TurnResult, shell_line_header
from smith_core.process import TERM_GRACE_S
from smith_core.secrets import child_environment
from smith_core.session.session import Session
from smith_core.session.values import Turn, TurnRequest
from smith_core.text import clean_text
from smith_core.tools.base import ToolContext, ToolOutcome, failed
from smith_core.tools.output import HeadAndTail
from smith_core.tools.shell import MAX_TIMEOUT_S
from smith_core.tools.shell_launch import find_shell
from smith_core.tools.shell_run import CommandRun
from smith_core.turn import TurnOutput

KEPT_CHARS = 20_000
"""Most characters of the output that the model gets: it is part of a prompt, which is never elided."""

TOOL = "bash"
"""The tool as which the screen shows it."""


class ShellLine(msgspec.Struct, frozen=True):
    """What a line asks for; is_kept: whether command and output join the conversation."""

    command: str
    is_kept: bool


def parse_shell_line(line: str) -> ShellLine:
    """Return the command behind one or two exclamation marks; AgentFailure of kind policy when there is none."""
    is_kept = not line.startswith("!!")
    command = clean_text(line[1 if is_kept else 2 :]).strip()
    if not command:
        raise failure("policy", "usage", "usage: !command runs it and tells Smith, !!command keeps it to yourself")
    return ShellLine(command, is_kept)


async def run_shell_line(session: Session, line: str, emit: Emit) -> TurnResult:
    """Run a line as a turn of its own, without the model; AgentFailure of kind policy when it cannot begin."""
    asked = parse_shell_line(line)
    turn = session.begin_turn(TurnRequest(text=line))
    emit(
        TurnStarted(
            turn_id=turn.turn_id,
            conversation_id=turn.context.conversation_id,
            role=turn.context.active_role,
            text=clean_text(line),
        )
    )
    output = await session.with_turn(turn, lambda: _run(session, turn, asked, emit))
    return await session.finish_turn(turn, output, emit, is_kept=asked.is_kept)


async def _run(session: Session, turn: Turn, asked: ShellLine, emit: Emit) -> TurnOutput:
    await session.recompute_turn_scope(emit)
    call_id = f"shell_{new_id()}"
    emit(ToolStarted(call_id=call_id, name=TOOL, arguments=msgspec.json.encode({"command": asked.command}).decode()))
    outcome = await _outcome(session, turn, asked, call_id, emit)
    content, metadata = _bounded(outcome.content), msgspec.structs.replace(outcome.metadata, command=asked.command)
    emit(
        ToolEnded(
            name=TOOL,
            result=ToolResult(
                call_id=call_id,
                ok=outcome.ok,
                content=content,
                error=outcome.error,
                cancelled=outcome.cancelled,
                mutation_state=outcome.mutation_state,
                metadata=metadata,
            ),
        )
    )
    message = Message(
        role="user",
        name=TOOL,
        content=shell_line_header(asked.command) + content,
        ok=outcome.ok,
        cancelled=outcome.cancelled,
        metadata=metadata,
        created_at=time.time(),
    )
    error: AgentError | None = outcome.error if outcome.cancelled else None
    return TurnOutput(messages=(message,), stop_reason="cancelled" if outcome.cancelled else "completed", error=error)


async def _outcome(session: Session, turn: Turn, asked: ShellLine, call_id: str, emit: Emit) -> ToolOutcome:
    config = turn.context.config_snapshot
    identity, project = turn.context.conversation_id, session.scope.project
    recorder = session.files.begin_turn(identity, turn.turn_id, project, turn.started_at) if asked.is_kept else None
    context = ToolContext(
        call_id=call_id,
        role=turn.context.active_role,
        turn_id=turn.turn_id,
        cancel_token=turn.token,
        cwd=session.cwd,
        project=session.scope.project,
        emit_output=lambda chunk: emit(ToolOutput(call_id=call_id, chunk=chunk)),
        child_env=child_environment(config),
        spill_dir=session.spill_dir,
        conversation_id=turn.context.conversation_id,
        changes=recorder,
    )
    if not session.cwd.is_dir():
        return failed(f"the working folder {session.cwd} is gone; create it again, then repeat the command")
    shell = own_shell(context.child_env)
    if shell is None:
        return failed("there is no shell; set SHELL to one, or install bash")
    return await CommandRun(context, timeout_s=MAX_TIMEOUT_S, term_grace_s=TERM_GRACE_S).run(shell, asked.command)


def own_shell(environ: Mapping[str, str]) -> str | None:
    """Return the shell that the person uses (`$SHELL`), bash or sh where that cannot be run, None without any."""
    shell = environ.get("SHELL", "")
    if Path(shell).is_absolute() and shutil.which(shell):
        return shell
    return find_shell(environ)


def _bounded(text: str) -> str:
    if len(text) <= KEPT_CHARS:
        return text
    ends = HeadAndTail(KEPT_CHARS)
    ends.add(text)
    kept = ends.excerpt(reserved=100)
    return f"{kept.head}\n[... {kept.omitted} of {ends.length} characters are left out here ...]\n{kept.tail}"
