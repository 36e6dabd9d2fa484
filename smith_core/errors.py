"""The one shape that every failure takes, and the rule that brings foreign failures into it.

kind              what went wrong                                           typical next step
----------------  --------------------------------------------------------  ------------------------------
transport         the endpoint was not reached, broke off or timed out      wait, retry, check the address
protocol          the endpoint answered something that is no answer         check address and model
schema            a value does not have the promised form                   correct the named value
tool              a tool could not do what was asked                        the model reads it and goes on
cancelled         the person stopped it                                     none
budget_exhausted  the turn's tool budget is used up                         raise tool_step_budget
policy            a rule forbids it                                         the rule is named
persistence       something could not be saved or read back                 free space, check permissions
internal          a bug of ours                                             report it
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from smith_core.frozen import EMPTY_MAPPING, freeze

ErrorKind = Literal[
    "transport",
    "protocol",
    "schema",
    "tool",
    "cancelled",
    "budget_exhausted",
    "policy",
    "persistence",
    "internal",
]
ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)


class AgentError(msgspec.Struct, frozen=True, kw_only=True):
    """A failure as a value; `message` is one sentence that says what to do next."""

    kind: ErrorKind
    code: str
    message: str
    retryable: bool = False
    origin: str = ""
    data: Mapping[str, Any] = EMPTY_MAPPING
    cause: str | None = None

    def __post_init__(self) -> None:
        """Freeze what a decoder or a caller handed over as a plain dict."""
        if type(self.data) is dict:
            msgspec.structs.force_setattr(self, "data", freeze(self.data))


class AgentFailure(Exception):
    """Carries an AgentError through code that cannot return it."""

    def __init__(self, error: AgentError) -> None:
        super().__init__(error.message)
        self.error = error


def failure(kind: ErrorKind, code: str, message: str, **fields: Any) -> AgentFailure:
    """Return a raisable failure; `fields` are the other fields of AgentError."""
    return AgentFailure(AgentError(kind=kind, code=code, message=message, **fields))


def normalize(value: object, origin: str = "") -> AgentError:
    """Turn a string, the word "cancelled", a partial table or an exception into an AgentError.

    Missing fields get defaults: kind internal, code equal to the kind, message equal to the code.
    """
    if isinstance(value, AgentFailure):
        value = value.error
    if isinstance(value, AgentError):
        return value if value.origin or not origin else msgspec.structs.replace(value, origin=origin)
    if isinstance(value, Mapping):
        return _from_table(value, origin)
    if isinstance(value, BaseException):
        return _from_exception(value, origin)
    if value == "cancelled":
        return AgentError(kind="cancelled", code="cancelled", message="cancelled", origin=origin)
    text = str(value).strip() if value is not None else ""
    return AgentError(kind="internal", code="internal", message=text or "unknown error", origin=origin)


def _from_table(table: Mapping[Any, Any], origin: str) -> AgentError:
    kind = table.get("kind")
    known: ErrorKind = kind if kind in ERROR_KINDS else "internal"
    code = str(table.get("code") or known)
    cause = table.get("cause")
    data = table.get("data")
    return AgentError(
        kind=known,
        code=code,
        message=str(table.get("message") or code),
        retryable=table.get("retryable") is True,
        origin=str(table.get("origin") or origin),
        data=freeze(data) if isinstance(data, Mapping) else EMPTY_MAPPING,
        cause=None if cause is None else str(cause),
    )


def _from_exception(error: BaseException, origin: str) -> AgentError:
    name = type(error).__name__
    detail = str(error).strip()
    return AgentError(
        kind="internal",
        code=name,
        message=f"unexpected {name}: {detail}" if detail else f"unexpected {name}",
        origin=origin,
        cause=repr(error.__cause__) if error.__cause__ else None,
    )
