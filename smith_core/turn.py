"""The loop of one turn: ask the model, run the calls it makes, hand it the results, until it is done."""

import asyncio
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from smith_core.cancel import CANCELLED, CancelToken
from smith_core.config.schema import Config
from smith_core.embedded.local_models import is_local
from smith_core.errors import AgentError, AgentFailure, normalize
from smith_core.events import AnyEvent, MessageAdded, Notice, ToolEnded, ToolStarted, UsageReported
from smith_core.ids import new_id
from smith_core.llm.protocol import Completion, Endpoint, ModelClient, ModelRequest, Timeouts, ToolDefinition
from smith_core.llm.retry import CompletionOutcome, RetryPolicy, request_completion
from smith_core.llm.wire import sends_reasoning
from smith_core.log import LOGGER
from smith_core.messages import RESULT_FOLDER, Message, StopReason, ToolCall, ToolResult, Usage, prompt_message
from smith_core.model import SelectedModel
from smith_core.overflow import ask_within_window
from smith_core.patterns import later
from smith_core.prompt import build_messages
from smith_core.roles import RoleSpec
from smith_core.text import clean_text
from smith_core.tokens import text_quarters, whole_tokens
from smith_core.tools.base import ToolContext
from smith_core.tools.executor import execute, not_run
from smith_core.tools.registry import ToolRegistry
from smith_core.tools.side_by_side import grouped, run_together
from smith_core.weighing import Weights
from smith_core.window import WindowLimits, without_stranded

MALFORMED_KEPT_CHARS = 2000
"""How much of arguments that are no JSON object the model gets to see again."""

_CANCELLED = ("the turn was cancelled", CANCELLED)
_HAS_ENDED = AgentError(kind="policy", code="turn_ended", message="the turn has ended", origin="turn")

_PLAIN_ID = later(r"[A-Za-z0-9_.:-]{1,120}")

# An even number of backslashes before it leaves the last one to be the escape.
_ESCAPED_NUL = later(r"(?<!\\)((?:\\\\)*)\\u0000")


class TurnSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a turn works with; nothing in it changes while the turn runs.

    make_tool_context: call id → the context of that call. source_role: the role's name inside a dispatched child.
    take_steering: returns, once, what the person has said to this turn since it was asked last. attached: files that
    go along with the text.
    """

    turn_id: str
    role: RoleSpec
    text: str
    history: tuple[Message, ...]
    system_prompt: str
    model: SelectedModel
    endpoint: Endpoint
    config: Config
    client: ModelClient
    registry: ToolRegistry
    token: CancelToken
    emit: Callable[[AnyEvent], None]
    make_tool_context: Callable[[str], ToolContext]
    source_role: str | None = None
    take_steering: Callable[[], tuple[str, ...]] = tuple
    attached: str = ""


class TurnOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn adds to the conversation, in order, and why it stopped.

    most_tokens: what messages may take at most from now on, where the endpoint has refused more.
    """

    messages: tuple[Message, ...]
    stop_reason: StopReason
    text: str = ""
    error: AgentError | None = None
    usage: Usage = Usage()
    tool_calls: int = 0
    most_tokens: int | None = None


async def run_turn(setup: TurnSetup) -> TurnOutput:
    """Run the loop to its end; failures are in the output, never raised, with all that was said before them."""
    loop = _TurnLoop(setup)
    try:
        return await loop.run()
    except asyncio.CancelledError:
        setup.token.request()
        return loop.abort(CANCELLED)
    except AgentFailure as caught:
        return loop.abort(caught.error)
    except Exception as caught:  # noqa: BLE001 - it is logged and becomes an error value
        LOGGER.exception("turn %s broke", setup.turn_id)
        return loop.abort(normalize(caught, origin="turn"))


class _TurnLoop:
    """The working state of one turn."""

    def __init__(self, setup: TurnSetup) -> None:
        self.setup = setup
        self.messages: list[Message] = []
        self.usage = Usage()
        self.calls_made = 0
        self.text = ""
        self.tools: tuple[ToolDefinition, ...] = setup.registry.llm_specs(setup.role.name)
        self.policy = RetryPolicy.from_config(setup.config)
        self.limits = window_limits(setup.config, setup.model, self.tools)
        self.weights = Weights()
        self._sent: tuple[int, WindowLimits | None, tuple[Message, ...]] = (0, None, ())
        self.used_call_ids = {call.id for message in setup.history for call in message.tool_calls}

    async def run(self) -> TurnOutput:
        self._add(prompt_message(clean_text(self.setup.text), clean_text(self.setup.attached), time.time()))
        before = (*self.setup.history[-1:], *self.messages)
        if len(without_stranded(before, self.limits)) < len(before):
            self._notice("the message before this one got no answer and is too long to go along; it is not sent")
        while True:
            if self.setup.token.is_cancelled:
                return self._finish("cancelled", CANCELLED)
            self._steer()
            transcript = self._transcript()
            outcome, self.limits = await ask_within_window(
                transcript, self.limits, self._ask, self._notice, self.weights
            )
            if outcome.completion is None:
                return self._broken_off(outcome)
            calls = self._add_answer(outcome.completion)
            if not calls and not self._steer():
                return self._finish("completed")
            ended = await self._run_calls(calls)
            if ended is not None:
                return ended

    def _steer(self) -> bool:
        """Add what the person has said to the running turn; say whether there was something."""
        said = self.setup.take_steering()
        for text in said:
            self._add(Message(role="user", content=clean_text(text), created_at=time.time()))
        return bool(said)

    def abort(self, error: AgentError) -> TurnOutput:
        """End at once, but answer every call that was made, so that history stays valid."""
        answered = {message.tool_call_id for message in self.messages if message.role == "tool"}
        for message in tuple(self.messages):
            for call in message.tool_calls:
                if call.id not in answered:
                    self._answer(call, not_run(call.id, "the turn broke off", error))
        return self._finish("cancelled" if error.kind == "cancelled" else "error", error)

    def _transcript(self) -> tuple[Message, ...]:
        """Return what there is to send; anew only where a prompt or other limits may change what was sent before."""
        known_messages, known_limits, transcript = self._sent
        added = self.messages[known_messages:]
        if known_limits is self.limits and all(message.role != "user" for message in added):
            transcript = (*transcript, *added)
        else:
            history = without_stranded((*self.setup.history, *self.messages), self.limits)
            transcript = build_messages(self.setup.system_prompt, history)
        self._sent = len(self.messages), self.limits, transcript
        return transcript

    async def _ask(self, messages: tuple[Message, ...]) -> CompletionOutcome:
        setup = self.setup
        request = ModelRequest(
            model=setup.model.model,
            messages=messages,
            tools=self.tools,
            endpoint=setup.endpoint,
            timeouts=timeouts(setup.config, setup.model.model),
            max_output_tokens=None,
        )
        outcome = await request_completion(
            setup.client, request, self.policy, setup.token, setup.emit, setup.turn_id, setup.source_role
        )
        self.usage += outcome.usage
        setup.emit(
            UsageReported(
                usage=outcome.usage,
                context_tokens=outcome.completion.usage.input_tokens if outcome.completion else 0,
                context_window=setup.model.context_window,
            )
        )
        return outcome

    def _add_answer(self, completion: Completion) -> tuple[ToolCall, ...]:
        calls = tuple(self._with_own_id(call) for call in completion.tool_calls)
        self.text = completion.text
        self._add(
            Message(
                role="assistant",
                content=completion.text,
                reasoning=completion.reasoning,
                tool_calls=tuple(map(history_safe, calls)),
                model=self.setup.model.model,
                created_at=time.time(),
            )
        )
        if completion.finish_reason == "length":
            self._notice("the answer was cut off at the model's output limit; ask it to go on")
        elif completion.finish_reason == "content_filter":
            self._notice("the provider's content filter cut the answer off; ask in other words")
        return calls

    def _with_own_id(self, call: ToolCall) -> ToolCall:
        """Providers count ids anew in each answer; history must never hold one twice."""
        if call.id in self.used_call_ids:
            call = msgspec.structs.replace(call, id=f"call_{new_id()}")
        self.used_call_ids.add(call.id)
        return call

    async def _run_calls(self, calls: tuple[ToolCall, ...]) -> TurnOutput | None:
        """Run the calls in order and answer every one of them; return the turn's end if it is over."""
        terminal: ToolResult | None = None
        for group in grouped(calls, self.setup.registry):
            runnable = self._runnable(group, has_ended=terminal is not None)
            results = await run_together(runnable, self._run_call, self.setup.token)
            for call, result in zip(runnable, results, strict=True):
                self._add_result(call, result)
                spec = self.setup.registry.get(call.name)
                if result.ok and spec is not None and spec.is_terminal:
                    terminal = result
            left = group[len(runnable) :]
            why = self._why_not(has_ended=terminal is not None) if left else None
            for call in left:
                self._answer(call, not_run(call.id, *(why or _CANCELLED)))
        if self.setup.token.is_cancelled:
            return self._finish("cancelled", CANCELLED)
        if terminal is not None:
            return self._finish("completed")
        if self._budget_left() <= 0:
            return self._finish("budget_exhausted", self._over_budget())
        return None

    def _runnable(self, group: tuple[ToolCall, ...], *, has_ended: bool) -> tuple[ToolCall, ...]:
        """Return the first calls of a group that may run now, paid for from the budget."""
        if self._why_not(has_ended=has_ended):
            return ()
        runnable = group[: int(min(len(group), self._budget_left()))]
        self.calls_made += len(runnable)
        return runnable

    def _why_not(self, *, has_ended: bool) -> tuple[str, AgentError] | None:
        """Return why no call may run now, in words and as an error; None when one may."""
        if self.setup.token.is_cancelled:
            return _CANCELLED
        if has_ended:
            return "the turn has ended", _HAS_ENDED
        return ("the tool budget of this turn is used up", self._over_budget()) if self._budget_left() <= 0 else None

    async def _run_call(self, call: ToolCall) -> ToolResult:
        self.setup.emit(ToolStarted(call_id=call.id, name=call.name, arguments=call.arguments))
        result = await execute(call, self.setup.role.name, self.setup.registry, self._context_of)
        self.setup.emit(ToolEnded(name=call.name, result=result))
        return result

    def _context_of(self, call_id: str) -> ToolContext:
        return msgspec.structs.replace(self.setup.make_tool_context(call_id), result_of=self._result_of)

    def _result_of(self, call_id: str) -> str | None:
        told = (message for message in (*self.setup.history, *self.messages) if message.role == "tool")
        return next((message.content for message in told if message.tool_call_id == call_id), None)

    def _recall_key(self, call: ToolCall, content: str) -> str:
        """Return the key of a result that is long enough to be left out later, where the role can ask for it again."""
        may_be_elided = len(content) > self.limits.elide_over_chars and _PLAIN_ID.fullmatch(call.id)
        can_recall = any(tool.name == "recall" for tool in self.tools)
        return f"{RESULT_FOLDER}{call.id}" if may_be_elided and can_recall else ""

    def _answer(self, call: ToolCall, result: ToolResult) -> None:
        self.setup.emit(ToolEnded(name=call.name, result=result))
        self._add_result(call, result)

    def _add_result(self, call: ToolCall, result: ToolResult) -> None:
        self._add(
            Message(
                role="tool",
                content=result.content,
                tool_call_id=call.id,
                name=call.name,
                ok=result.ok,
                cancelled=result.cancelled,
                recall_key=result.metadata.recall_key or self._recall_key(call, result.content),
                metadata=result.metadata,
                created_at=time.time(),
            )
        )

    def _broken_off(self, outcome: CompletionOutcome) -> TurnOutput:
        """Keep the text that had come, marked as interrupted; reasoning alone makes no message."""
        if outcome.partial_text.strip():
            self.text = outcome.partial_text
            self._add(
                Message(
                    role="assistant",
                    content=outcome.partial_text,
                    reasoning=outcome.partial_reasoning,
                    interrupted=True,
                    model=self.setup.model.model,
                    created_at=time.time(),
                )
            )
        error = outcome.error or CANCELLED
        return self._finish("cancelled" if error.kind == "cancelled" else "error", error)

    def _add(self, message: Message) -> None:
        self.messages.append(message)
        self.setup.emit(MessageAdded(message=message))

    def _notice(self, text: str) -> None:
        self.setup.emit(Notice(level="warning", text=text))

    def _budget_left(self) -> float:
        budget = self.setup.config.tool_step_budget
        return float("inf") if budget is None else budget - self.calls_made

    def _over_budget(self) -> AgentError:
        return AgentError(
            kind="budget_exhausted",
            code="budget_exhausted",
            message=f"the turn used up its tool budget of {self.calls_made}; send another prompt to go on, "
            "or raise tool_step_budget",
            origin="turn",
        )

    def _finish(self, stop_reason: StopReason, error: AgentError | None = None) -> TurnOutput:
        return TurnOutput(
            messages=tuple(self.messages),
            stop_reason=stop_reason,
            text=self.text,
            error=error,
            usage=self.usage,
            tool_calls=self.calls_made,
            most_tokens=self.limits.most_tokens,
        )


def history_safe(call: ToolCall) -> ToolCall:
    """Return the call with arguments that are a JSON object without NUL, as providers demand of history."""
    try:
        if isinstance(msgspec.json.decode(call.arguments), dict):
            cleaned = _ESCAPED_NUL.sub(r"\1\\ufffd", call.arguments)
            return call if cleaned == call.arguments else msgspec.structs.replace(call, arguments=cleaned)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    if call.arguments.strip() in ("", "null"):
        return msgspec.structs.replace(call, arguments="{}")
    kept = msgspec.json.encode({"malformed_arguments": call.arguments[:MALFORMED_KEPT_CHARS]}).decode()
    return msgspec.structs.replace(call, arguments=kept)


def window_limits(config: Config, model: SelectedModel, tools: tuple[ToolDefinition, ...]) -> WindowLimits:
    """Return the window policy of a configuration for a model and the tools that it is offered."""
    context = config.context_management
    # A local model is told of its tools in a few words of its own.
    sent_tools = () if is_local(model.model) else tools
    return WindowLimits(
        context_window=model.context_window,
        enabled=context.enabled,
        keep_rounds=context.tool_output_keep_rounds,
        elide_over_chars=context.tool_output_elide_over_chars,
        trim_threshold_pct=context.trim_threshold_pct,
        most_tokens=model.most_tokens,
        tool_tokens=whole_tokens(sum(_tool_quarters(f"{tool}") for tool in sent_tools)),
        counts_reasoning=sends_reasoning(model.model),
    )


@lru_cache(256)
def _tool_quarters(tool: str) -> int:
    # The same tools are offered in each turn.
    return text_quarters(tool)


def timeouts(config: Config, model: str = "") -> Timeouts:
    """Return the five transport timeouts of a configuration, for a model that Smith runs itself without recv_timeout.

    Such a model is silent while it reads, on a busy machine for minutes, and another attempt would read from the start
    again. That it died its closed connection shows.
    """
    fields: dict[str, Any] = {name: getattr(config.llm_config, name) for name in Timeouts.__struct_fields__}
    if is_local(model):
        fields["recv_timeout"] = max(fields["recv_timeout"], 2 * fields["timeout"])
    return Timeouts(**fields)
