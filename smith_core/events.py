"""What a turn reports while it runs: frozen values of one tagged union, in the order in which things happen."""

from collections.abc import Callable
from typing import Literal

import msgspec

from smith_core.errors import AgentError
from smith_core.messages import Message, ToolResult, TurnResult, Usage
from smith_core.report import DispatchResult
from smith_core.turn_files import TurnFiles


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of all events; `type` in their JSON form is the tag of the class."""


class TurnStarted(Event, frozen=True, kw_only=True, tag="turn_started"):
    """A turn began with what the person typed."""

    turn_id: str
    conversation_id: str
    role: str
    text: str


class RequestStarted(Event, frozen=True, kw_only=True, tag="llm_request_started"):
    """A request goes to the model; `attempt` counts from 1, `source_role` is set inside a dispatched child."""

    turn_id: str
    model: str
    attempt: int = 1
    source_role: str | None = None


class ReasoningDelta(Event, frozen=True, kw_only=True, tag="reasoning_delta"):
    """More of the model's reasoning."""

    text: str


class TextDelta(Event, frozen=True, kw_only=True, tag="text_delta"):
    """More of the answer."""

    text: str


class ToolCallProgress(Event, frozen=True, kw_only=True, tag="tool_call_progress"):
    """The model is writing a call: its name and how many characters of arguments have come."""

    index: int
    name: str
    argument_chars: int


class OutputDiscarded(Event, frozen=True, kw_only=True, tag="output_discarded"):
    """What was streamed in this round is void, because the request is made again."""


class MessageAdded(Event, frozen=True, kw_only=True, tag="message_added"):
    """A whole message joined the conversation; text already streamed is in it again, for the record."""

    message: Message


class RetryWaiting(Event, frozen=True, kw_only=True, tag="retry_waiting"):
    """A request failed and is made again after `wait_s` seconds; `attempt` is the next one, counted from 1."""

    layer: Literal["transport", "empty_response"]
    attempt: int
    max_attempts: int
    wait_s: float
    error: AgentError


class ToolStarted(Event, frozen=True, kw_only=True, tag="tool_started"):
    """A tool call is about to run; `arguments` is the JSON text that the model sent."""

    call_id: str
    name: str
    arguments: str


PermissionAnswer = Literal["once", "tool", "same", "deny"]
"""What a person says to a call: yes, yes to this tool in this session, yes to this same call in this session, no."""


class PermissionRequested(Event, frozen=True, kw_only=True, tag="permission_requested"):
    """A call waits until `Runtime.answer_permission` says whether it may run.

    arguments: the JSON text that the model sent. covers: words for what the answer "same" is about. job_id: of the
    dispatched child that makes the call, "" for the turn itself.
    """

    call_id: str
    name: str
    arguments: str
    covers: str
    role: str
    job_id: str = ""


class PermissionAnswered(Event, frozen=True, kw_only=True, tag="permission_answered"):
    """A question is over; `answer` is None when it was withdrawn because the call was cancelled."""

    call_id: str
    answer: PermissionAnswer | None = None
    job_id: str = ""


class ToolOutput(Event, frozen=True, kw_only=True, tag="tool_output"):
    """Raw live output of a running tool, escape sequences included."""

    call_id: str
    chunk: bytes


class ToolEnded(Event, frozen=True, kw_only=True, tag="tool_ended"):
    """A tool call is over."""

    name: str
    result: ToolResult


class UsageReported(Event, frozen=True, kw_only=True, tag="usage_reported"):
    """Token counts of one round of the model, all its tries together.

    context_tokens: how many of the model's context_window tokens the last request took, 0 when it got no whole answer.
    """

    usage: Usage
    context_tokens: int = 0
    context_window: int = 0


class Notice(Event, frozen=True, kw_only=True, tag="notice"):
    """Something the person should know, in one sentence."""

    level: Literal["info", "warning", "error"]
    text: str


class CommandOutput(Event, frozen=True, kw_only=True, tag="command_output"):
    """What a slash command has to say, as plain text."""

    command: str
    text: str


class SessionChanged(Event, frozen=True, kw_only=True, tag="session_changed"):
    """The session now has this role, model and conversation; `cleared` when the transcript was emptied.

    permission: the value of tools.permission. sandbox: a SandboxState, how it stands with tools.sandbox.
    """

    role: str
    model: str
    conversation_id: str
    title: str = ""
    cleared: bool = False
    permission: str = ""
    sandbox: str = ""


class ConversationLoaded(Event, frozen=True, kw_only=True, tag="conversation_loaded"):
    """A stored conversation is the current one; what was shown before gives way to it.

    sequences: the numbers of `messages`. shown_sequence: the message to go to, 0 for the end. is_whole: False while
    only the last messages are there; the same event follows with all of them. is_read_only: another process has it.
    """

    conversation_id: str
    title: str
    messages: tuple[Message, ...]
    sequences: tuple[int, ...] = ()
    shown_sequence: int = 0
    is_whole: bool = True
    is_read_only: bool = False


class HistoryEdited(Event, frozen=True, kw_only=True, tag="history_edited"):
    """The person has changed messages of the current conversation; this is all of it, with the numbers in the store."""

    conversation_id: str
    title: str
    messages: tuple[Message, ...]
    sequences: tuple[int, ...]


class MessagesFollowed(Event, frozen=True, kw_only=True, tag="messages_followed"):
    """Another process has added messages to the conversation that is followed."""

    conversation_id: str
    messages: tuple[Message, ...]


class HeldElsewhere(Event, frozen=True, kw_only=True, tag="held_elsewhere"):
    """A conversation was not opened because another process has it; the choices are /follow, /fork and /new.

    pid: of that process, 0 when it is not known.
    """

    conversation_id: str
    title: str
    pid: int


class SaveStateChanged(Event, frozen=True, kw_only=True, tag="save_state_changed"):
    """Saving began to fail, or works again; `problem` is one sentence, "" when all is well."""

    problem: str
    unsaved_turns: int = 0


class PickerRequested(Event, frozen=True, kw_only=True, tag="picker_requested"):
    """The person wants to choose on a screen of its own: among all conversations, or by searching them."""

    kind: Literal["conversations", "search"]
    query: str = ""


class PromptReturned(Event, frozen=True, kw_only=True, tag="prompt_returned"):
    """A prompt that was sent before is given back, to be changed and sent again."""

    text: str


class ViewRequested(Event, frozen=True, kw_only=True, tag="view_requested"):
    """The person wants to see the conversation as a whole, or each of its messages."""

    view: Literal["conversation", "messages"]


class PromptsWaiting(Event, frozen=True, kw_only=True, tag="prompts_waiting"):
    """The conversation that was opened has prompts that no turn has taken; none is sent before the person says so."""

    texts: tuple[str, ...]


class QuitRequested(Event, frozen=True, kw_only=True, tag="quit_requested"):
    """The person asked to leave."""


class SetupRequested(Event, frozen=True, kw_only=True, tag="setup_requested"):
    """The person wants to choose the endpoint and the model anew."""


class FilesChanged(Event, frozen=True, kw_only=True, tag="files_changed"):
    """What turns have done to files: one has just ended (`is_new`), files were moved, or a conversation was loaded."""

    turns: tuple[TurnFiles, ...]
    is_new: bool = False


class TurnEnded(Event, frozen=True, kw_only=True, tag="turn_ended"):
    """A turn is over and what it produced is on record."""

    result: TurnResult


class ChildStarted(Event, frozen=True, kw_only=True, tag="child_started"):
    """A dispatch call has begun its child; `call_id` is the parent's call, `model` is "" until it is resolved."""

    job_id: str
    call_id: str
    role: str
    task: str
    model: str = ""


class ChildEnded(Event, frozen=True, kw_only=True, tag="child_ended"):
    """A child is over, and this is what its parent gets."""

    job_id: str
    call_id: str
    result: DispatchResult
    duration_s: float = 0.0
    tool_calls: int = 0


class ChildEvent(Event, frozen=True, kw_only=True, tag="child_event"):
    """Something that happened inside a dispatched child."""

    job_id: str
    role: str
    event: "AnyEvent"


AnyEvent = (
    TurnStarted
    | RequestStarted
    | ReasoningDelta
    | TextDelta
    | ToolCallProgress
    | OutputDiscarded
    | MessageAdded
    | RetryWaiting
    | ToolStarted
    | PermissionRequested
    | PermissionAnswered
    | ToolOutput
    | ToolEnded
    | UsageReported
    | Notice
    | CommandOutput
    | SessionChanged
    | ConversationLoaded
    | MessagesFollowed
    | HistoryEdited
    | HeldElsewhere
    | SaveStateChanged
    | PickerRequested
    | ViewRequested
    | PromptReturned
    | PromptsWaiting
    | QuitRequested
    | SetupRequested
    | FilesChanged
    | TurnEnded
    | ChildStarted
    | ChildEnded
    | ChildEvent
)
Emit = Callable[[AnyEvent], None]
