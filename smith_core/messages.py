"""What a conversation is made of: messages, tool calls, tool results, usage and the record of one turn."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from smith_core.errors import AgentError

Role = Literal["system", "user", "assistant", "tool"]
MutationState = Literal["none", "attempted", "unknown"]
StopReason = Literal["completed", "cancelled", "error", "budget_exhausted"]

RESULT_FOLDER = "result/"
"""How a recall key begins that names what a call of this conversation gave: the id of the call follows."""


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """One call that the model asked for; `arguments` is JSON text as the provider wants it back."""

    id: str
    name: str
    arguments: str = "{}"


# Without gc=False, each full collection looks at all messages of a long conversation, for tens of milliseconds.
class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One entry of the transcript; which fields are set depends on `role`.

    assistant: content, reasoning, tool_calls, interrupted (the stream broke off behind `content`).
    tool: content, tool_call_id, name, ok, cancelled, recall_key (where the full result can be found again).
    """

    role: Role
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    ok: bool = True
    cancelled: bool = False
    interrupted: bool = False
    recall_key: str = ""
    model: str = ""
    created_at: float = 0.0
    metadata: "ToolMetadata | None" = None


class ToolMetadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a person or a later tool wants to know of a result besides its text.

    diff: unified diff of the change, for the screen. full_output_path: the raw stream on disk.
    omitted_chars: characters left out of `content`. lines: of the file read. duration_s: wall seconds.
    job_id: of the child that a dispatch call ran. command: of a line that the person ran in a shell. typed_chars: how
    much of a prompt the person typed, when files are attached behind it. turn_id: of the turn that ends with the
    message, if it has changed files. turn_error: why that turn failed, for the screen. turn_cancelled: whether it was
    cancelled.
    """

    path: str = ""
    diff: str = ""
    new_hash: str = ""
    lines: int = -1
    line_delta: int = 0
    exit_code: int | None = None
    timed_out: bool = False
    omitted_chars: int = 0
    full_output_path: str = ""
    recall_key: str = ""
    duration_s: float = 0.0
    job_id: str = ""
    command: str = ""
    typed_chars: int = -1
    turn_id: str = ""
    turn_error: str = ""
    turn_cancelled: bool = False


def typed_text(message: Message) -> str:
    """Return what the person typed: a prompt without the files attached to it, a shell line without its output."""
    if message.metadata is not None and message.metadata.command:
        return f"!{message.metadata.command}"
    typed = message.metadata.typed_chars if message.metadata is not None else -1
    return message.content if typed < 0 else message.content[:typed]


def prompt_message(text: str, attached: str, created_at: float) -> Message:
    """Return the message of a prompt, with the files that go along behind what was typed."""
    if not attached:
        return Message(role="user", content=text, created_at=created_at)
    metadata = ToolMetadata(typed_chars=len(text))
    return Message(role="user", content=f"{text}\n\n{attached}", metadata=metadata, created_at=created_at)


def shell_line_header(command: str) -> str:
    """Return what stands above the output in the message of a command line that the person ran."""
    return f"I ran this command in the terminal myself:\n$ {command}\n\n"


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one tool call; `content` is what the model reads."""

    call_id: str
    ok: bool
    content: str
    error: AgentError | None = None
    cancelled: bool = False
    mutation_state: MutationState = "none"
    metadata: ToolMetadata = ToolMetadata()


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Token counts of one or more model calls; `estimated` when the endpoint did not report them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum of two counts."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            requests=self.requests + other.requests,
            estimated=self.estimated or other.estimated,
        )


class TurnResult(msgspec.Struct, frozen=True, kw_only=True):
    """How one turn ended: `text` is the final answer, `error` is set when `stop_reason` is error."""

    turn_id: str
    conversation_id: str
    role: str
    stop_reason: StopReason
    text: str = ""
    error: AgentError | None = None
    model: str = ""
    usage: Usage = Usage()
    tool_calls: int = 0
    duration_s: float = 0.0


class ChildTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """What a dispatched child said, verbatim and in order; its first message is its task."""

    job_id: str
    messages: tuple[Message, ...]


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A finished turn as it is persisted: the slice of the transcript, verbatim and in order, and its result.

    child_usage: pairs of dispatch job id and usage. children: the transcripts of the children that it dispatched.
    """

    turn_id: str
    conversation_id: str
    project_id: str
    cwd: str
    started_at: float
    messages: tuple[Message, ...]
    result: TurnResult
    child_usage: tuple[tuple[str, Usage], ...] = ()
    children: tuple[ChildTranscript, ...] = ()


def jobs_of(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return the job ids of the children whose results are among these messages, in order."""
    jobs = (message.metadata.job_id for message in messages if message.metadata is not None)
    return tuple(dict.fromkeys(job_id for job_id in jobs if job_id))
