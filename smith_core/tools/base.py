"""What a tool is: its spec, the context that its handler gets, and the outcome that it returns."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from smith_core.cancel import CancelToken
from smith_core.errors import AgentError, ErrorKind
from smith_core.messages import MutationState, ToolCall, ToolMetadata
from smith_core.project import Project
from smith_core.report import DispatchResult

if TYPE_CHECKING:
    from smith_core.store.search.service import SearchService
    from smith_core.tools.changes.recorder import TurnRecorder
    from smith_core.tools.sandbox.sandboxes import Sandbox

MODEL_TEXT_LIMIT = 100_000
"""Most characters of one result that go to the model (fault kind B18)."""


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """All that a handler may use; it fetches nothing by itself.

    emit_output: takes raw live output, on the event loop. child_env: the environment for programs it starts,
    without our keys. spill_dir: folder (0700) for full outputs; it exists. bash_timeout_s: default limit.
    conversation_id: owner of the scratchpad. search: finds what was ever said, None where nothing is indexed.
    dispatch: runs a child for the call, given its arguments and call id; None in a child. Raises AgentFailure for a
    job that cannot be given. permit: decides whether a call of a tool that changes things may run, given the call and
    its decoded arguments: returns why not, or None; everything may run without it. sandbox: gives the sandbox for
    commands, None where they run without one; raises AgentFailure where they may not run at all. changes: keeps what
    files are before they are changed, None where nothing is kept. result_of: returns what a call of this conversation
    gave, by its id, None when there is none.
    """

    call_id: str
    role: str
    turn_id: str
    cancel_token: CancelToken
    cwd: Path
    project: Project
    emit_output: Callable[[bytes], None]
    child_env: Mapping[str, str]
    spill_dir: Path
    bash_timeout_s: float = 120.0
    services: Any = None
    conversation_id: str = ""
    search: "SearchService | None" = None
    dispatch: Callable[[Any, str], Awaitable[DispatchResult]] | None = None
    permit: Callable[[ToolCall, Any], Awaitable[AgentError | None]] | None = None
    sandbox: Callable[[], Awaitable["Sandbox | None"]] | None = None
    changes: "TurnRecorder | None" = None
    result_of: Callable[[str], str | None] = lambda call_id: None

    def is_cancelled(self) -> bool:
        """Whether the person cancelled the turn."""
        return self.cancel_token.is_cancelled


class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a handler returns; the executor makes a ToolResult of it."""

    ok: bool
    content: str
    error: AgentError | None = None
    cancelled: bool = False
    mutation_state: MutationState = "none"
    metadata: ToolMetadata = ToolMetadata()


Handler = Callable[[Any, ToolContext], Awaitable[ToolOutcome]]


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as it is registered; `arguments` is the frozen struct that its JSON schema is generated from.

    coerce: brings what models send into the form of `arguments` before it is validated. side_by_side: neighbouring
    calls of such tools in one answer run at the same time.
    """

    name: str
    description: str
    arguments: type[msgspec.Struct]
    handler: Handler
    role_allowlist: frozenset[str] | None = None
    role_denylist: frozenset[str] = frozenset()
    is_terminal: bool = False
    mutates: bool = False
    coerce: Callable[[Any], Any] | None = None
    side_by_side: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments, as a self-contained object schema."""
        return json_schema(self.arguments)


def succeeded(content: str, *, mutation_state: MutationState = "none", **metadata: Any) -> ToolOutcome:
    """Return a good outcome; `metadata` are fields of ToolMetadata."""
    return ToolOutcome(ok=True, content=content, mutation_state=mutation_state, metadata=ToolMetadata(**metadata))


def failed(
    message: str,
    *,
    code: str = "failed",
    kind: ErrorKind = "tool",
    mutation_state: MutationState = "none",
    content: str = "",
    **metadata: Any,
) -> ToolOutcome:
    """Return an expected failure; the model reads `content`, or `message` when there is none."""
    error = AgentError(kind=kind, code=code, message=message, origin="tool")
    return ToolOutcome(
        ok=False,
        content=content or message,
        error=error,
        mutation_state=mutation_state,
        metadata=ToolMetadata(**metadata),
    )


@cache
def json_schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """Generate the schema of an arguments struct, its references inlined (some providers refuse $ref).

    It is made once, for it takes longer than all else between a prompt and its request; nobody may change it.
    """
    (root,), components = msgspec.json.schema_components([arguments], ref_template="{name}")
    schema: dict[str, Any] = _inline(root, components)
    schema.pop("title", None)
    schema.pop("description", None)
    return schema


def _inline(node: Any, components: Mapping[str, Any]) -> Any:
    if isinstance(node, dict):
        if "$ref" in node:
            return _inline(components[node["$ref"]], components)
        return {
            key: _inline(item, components) for key, item in node.items() if key != "title" or not isinstance(item, str)
        }
    if isinstance(node, list):
        return [_inline(item, components) for item in node]
    return node
