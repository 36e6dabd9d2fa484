"""From events to the screen: one match statement, and the little state that it needs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from smith_core.ansi import clean_output
from smith_core.events import (
    AnyEvent,
    ChildEnded,
    ChildEvent,
    ChildStarted,
    CommandOutput,
    ConversationLoaded,
    FilesChanged,
    MessageAdded,
    MessagesFollowed,
    Notice,
    OutputDiscarded,
    PermissionAnswered,
    PermissionRequested,
    ReasoningDelta,
    RequestStarted,
    RetryWaiting,
    SaveStateChanged,
    SessionChanged,
    TextDelta,
    ToolCallProgress,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from smith_core.messages import Message, ToolResult, TurnResult, Usage, typed_text
from smith_core.roles import ROLES
from smith_tui.stored_calls import StoredCall, stored_calls
from smith_tui.transcript.summaries import summarize
from smith_tui.transcript.view import Transcript
from smith_tui.widgets.status_line import Activity, StatusState

if TYPE_CHECKING:
    from smith_tui.widgets.tool_calls import CallState

TAIL_BYTES = 2000
"""How much of a running command's output its card in the transcript looks at."""


class OutputSink(Protocol):
    """Where the output of tools goes; `ToolOutputPane` is one."""

    def start_call(self, call_id: str, name: str, summary: str) -> None:
        """Begin a call."""

    def feed(self, call_id: str, chunk: bytes) -> None:
        """Take raw output of a call."""

    def set_text(self, call_id: str, text: str, *, diff: bool = False) -> None:
        """Take the whole output of a call that had no live output."""

    def end_call(self, call_id: str, state: "CallState", exit_code: int | None = None, full_path: str = "") -> None:
        """End a call; full_path: of its raw output on disk, if that was kept."""

    def restore(self, stored: Iterable[StoredCall]) -> None:
        """List calls of an earlier time in place of all others."""

    def clear(self) -> None:
        """Forget all calls."""


class StatusSink(Protocol):
    """Where it is said what a turn does; `StatusBar` is one."""

    @property
    def state(self) -> StatusState:
        """What is said now."""

    def change(self, **fields: Any) -> None:
        """Change fields of the state."""

    def start_turn(self) -> None:
        """Begin to count."""

    def end_turn(self, activity: Activity = "idle") -> None:
        """Say how the turn ended."""

    def wait_for_retry(self, attempt: int, max_attempts: int, wait_s: float) -> None:
        """Count down to the next attempt."""


class Presenter:
    """Calls one widget method for each event; knows what of the current round was streamed already.

    role: whose events these are at first. source_role: of the dispatched child that is shown, None for the turn
    itself; requests of anybody else do not concern it.
    """

    def __init__(
        self,
        transcript: Transcript,
        output: OutputSink,
        status: StatusSink,
        *,
        role: str = "direct",
        source_role: str | None = None,
    ) -> None:
        self.transcript = transcript
        self.output = output
        self.status = status
        self._streaming = False
        self._role = role
        self._source_role = source_role
        self._conversation_id = ""
        self._awaits_prompt: bool | None = None
        """Whether the prompt that the running turn began with is yet to come; None while no turn runs."""
        self._counts_anew = False
        """Whether the tokens that are shown are of a turn before: one without a request leaves them there."""
        self._retry_reason = ""
        self._output_tails: dict[str, bytes] = {}
        self._child_usage: dict[str, Usage] = {}
        """What each running child has reported of its usage so far, by job id."""

    def show(self, event: AnyEvent) -> None:  # noqa: C901, PLR0912, PLR0915 - one flat case for each event
        """Show one event."""
        match event:
            case TextDelta(text=text):
                self._begin_answer("streaming")
                self.transcript.append_text(text)
            case ReasoningDelta(text=text):
                self._begin_answer("thinking")
                self.transcript.append_reasoning(text)
            case ToolCallProgress(name=name):
                self.status.change(activity="tool", tool_name=name)
            case ToolOutput(call_id=call_id, chunk=chunk):
                self._tool_output(call_id, chunk)
            case ToolStarted(call_id=call_id, name=name, arguments=arguments):
                self._tool_started(call_id, name, arguments)
            case PermissionRequested(call_id=call_id, name=name):
                self.status.change(activity="asking", tool_name=name)
                self.transcript.ask_tool(call_id, is_asked=True)
            case PermissionAnswered(call_id=call_id):
                self.status.change(activity="tool")
                self.transcript.ask_tool(call_id, is_asked=False)
            case ToolEnded(result=result):
                self._tool_ended(result)
            case MessageAdded(message=message):
                self._message_added(message)
            case RequestStarted(model=model, source_role=source) if source == self._source_role:
                self._request_started(model)
            case OutputDiscarded():
                self.transcript.discard_live()
                self._streaming = False
            case RetryWaiting():
                self._retry_waiting(event)
            case UsageReported(usage=usage):
                self._count(usage)
                self._measure(event)
            case ChildEvent() | ChildStarted() | ChildEnded():
                self._child(event)
            case Notice(level=level, text=text):
                self.transcript.add_notice(level, text)
            case CommandOutput(text=text):
                self.transcript.add_plain(text)
            case SaveStateChanged(problem=problem):
                self.status.change(is_unsaved=bool(problem))
            case SessionChanged():
                self._session_changed(event)
            case ConversationLoaded(messages=messages):
                self._loaded(messages)
            case MessagesFollowed(messages=messages):
                self.transcript.add_messages(messages)
            case TurnStarted():
                self._turn_started(event)
            case FilesChanged(turns=turns, is_new=is_new):
                self.transcript.show_files(turns, is_new=is_new)
            case TurnEnded(result=result):
                self._turn_ended(result)
            case _:
                pass

    def end_answer(self) -> None:
        """End an answer that still streams: nothing more of it will come."""
        if self._streaming:
            self.transcript.end_assistant(interrupted=True)
            self._streaming = False

    def _request_started(self, model: str) -> None:
        if self._counts_anew:
            self._counts_anew = False
            self.status.change(tokens_in=0, tokens_out=0)
        if model != self.status.state.model:
            self.status.change(context_percent=None)
        self.status.change(activity="thinking", model=model)

    def _count(self, usage: Usage) -> None:
        state = self.status.state
        self.status.change(
            tokens_in=state.tokens_in + usage.input_tokens, tokens_out=state.tokens_out + usage.output_tokens
        )

    def _measure(self, event: UsageReported) -> None:
        """Say how much of the window the last request took; one without an answer leaves it as it was."""
        if event.context_tokens and event.context_window:
            # Where the window is not known but assumed, a request can be larger.
            self.status.change(context_percent=min(100.0, 100 * event.context_tokens / event.context_window))

    def _child(self, event: ChildEvent | ChildStarted | ChildEnded) -> None:
        """Count children and their usage; what else happens inside them is shown elsewhere."""
        match event:
            case ChildEvent(job_id=job_id, event=UsageReported(usage=usage)):
                self._child_usage[job_id] = self._child_usage.get(job_id, Usage()) + usage
                self._count(usage)
            case ChildStarted(job_id=job_id, call_id=call_id):
                self._child_usage[job_id] = Usage()
                self.transcript.link_child(call_id, job_id)
            case ChildEnded(job_id=job_id, result=result) if job_id in self._child_usage:
                # What it had not reported while it ran counts now.
                seen, whole = self._child_usage.pop(job_id), result.usage
                tokens_in = max(0, whole.input_tokens - seen.input_tokens)
                self._count(
                    Usage(input_tokens=tokens_in, output_tokens=max(0, whole.output_tokens - seen.output_tokens))
                )
            case _:
                return
        self.status.change(children=len(self._child_usage))

    def _begin_answer(self, activity: Activity) -> None:
        if not self._streaming:
            self._streaming = True
            self.transcript.start_assistant(self._role)
        self.status.change(activity=activity)

    def _message_added(self, message: Message) -> None:
        if message.role == "user" and self._awaits_prompt is not None:
            if not self._awaits_prompt:
                self.transcript.add_user(typed_text(message), goes_there=False)
            self._awaits_prompt = False
        if message.role != "assistant":
            return
        if not self._streaming and message.content:
            # An answer that came in one piece, without a stream.
            self._begin_answer("streaming")
            self.transcript.append_text(message.content)
        if self._streaming:
            self.transcript.end_assistant(interrupted=message.interrupted)
            self._streaming = False

    def _tool_started(self, call_id: str, name: str, arguments: str) -> None:
        summary = summarize(name, arguments)
        self.status.change(activity="tool", tool_name=name)
        self.transcript.start_tool(call_id, name, arguments)
        self.output.start_call(call_id, name, summary)

    def _tool_output(self, call_id: str, chunk: bytes) -> None:
        tail = self._output_tails[call_id] = (self._output_tails.get(call_id, b"") + chunk)[-TAIL_BYTES:]
        self.output.feed(call_id, chunk)
        self.transcript.tool_output(call_id, clean_output(tail))

    def _tool_ended(self, result: ToolResult) -> None:
        state: CallState = "cancelled" if result.cancelled else "ok" if result.ok else "error"
        self.transcript.end_tool(result.call_id, result)
        if self._output_tails.pop(result.call_id, None) is None:
            diff = result.metadata.diff
            self.output.set_text(result.call_id, diff or result.content, diff=bool(diff))
        self.output.end_call(result.call_id, state, result.metadata.exit_code, result.metadata.full_output_path)
        self.status.change(activity="thinking")

    def _retry_waiting(self, event: RetryWaiting) -> None:
        self.status.wait_for_retry(event.attempt, event.max_attempts, event.wait_s)
        reason = event.error.message
        said = "The same again" if reason == self._retry_reason else reason
        self._retry_reason = reason
        self.transcript.add_notice(
            "warning",
            f"{said}. Attempt {event.attempt} of {event.max_attempts} "
            f"follows in {event.wait_s:.1f} s; Ctrl+C stops waiting.",
        )

    def _session_changed(self, event: SessionChanged) -> None:
        state = self.status.state
        alias, model = ROLES[event.role].alias, event.model or state.model
        is_same = (alias, model, event.conversation_id) == (state.role_alias, state.model, self._conversation_id)
        self._conversation_id = event.conversation_id
        self.status.change(
            role_alias=alias,
            model=model,
            permission=event.permission or state.permission,
            sandbox=event.sandbox or state.sandbox,
            # Another request than the last one will follow.
            context_percent=state.context_percent if is_same and not event.cleared else None,
        )
        if event.cleared:
            self.transcript.clear()
            self.output.clear()

    def _loaded(self, messages: tuple[Message, ...]) -> None:
        self._streaming = False
        self.status.change(context_percent=None)
        self.transcript.load(messages)
        self.output.restore(stored_calls(messages))

    def _turn_started(self, event: TurnStarted) -> None:
        self._role = event.role
        self._conversation_id = event.conversation_id
        self._awaits_prompt = self._counts_anew = True
        self._retry_reason = ""
        self.status.start_turn()
        self.transcript.set_role(event.role)
        self.transcript.add_user(event.text)

    def _turn_ended(self, result: TurnResult) -> None:
        self.end_answer()
        self._awaits_prompt = None
        self._child_usage.clear()
        self.status.change(children=0)
        match result.stop_reason:
            case "completed":
                self.status.end_turn("idle")
            case "cancelled":
                self.transcript.add_notice("info", "cancelled")
                self.status.end_turn("cancelled")
            case _:
                self.transcript.add_notice("error", result.error.message if result.error else "the turn failed")
                self.status.end_turn("error")
