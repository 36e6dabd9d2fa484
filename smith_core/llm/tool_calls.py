"""Which call a streamed fragment belongs to, and what the finished calls are (fault kinds B01, B02).

Gateways leave indexes out, repeat them, send ids once, always, never or the same one for all calls; names come in
pieces or again with every fragment; arguments come as text, as null, or as an object.
"""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from smith_core.ids import new_id
from smith_core.llm.json_values import whole_number
from smith_core.messages import ToolCall
from smith_core.text import clean_text

NO_ARGUMENTS = "{}"
_LONGEST_PLACEHOLDER = 8


class _Slot:
    """One call while it is being written."""

    def __init__(self, position: int, index: int | None, call_id: str) -> None:
        self.position = position
        self.index = index
        self.call_id = call_id
        self.name = ""
        self.pieces: list[str] = []
        self.argument_chars = 0
        self.saw_arguments = False

    @property
    def arguments(self) -> str:
        """The arguments so far."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def is_complete(self) -> bool:
        """Whether the arguments are a whole JSON object already."""
        return is_json_object(self.arguments)

    @property
    def is_placeholder(self) -> bool:
        """Whether nothing but `{}` has come, which some gateways send ahead of the real arguments."""
        return self.argument_chars < _LONGEST_PLACEHOLDER and self.arguments.strip() == NO_ARGUMENTS

    def add_name(self, more: str) -> None:
        """Join a name sent in pieces; one that is sent again, or longer each time, is taken once."""
        if more and more != self.name:
            self.name = more if more.startswith(self.name) else self.name + more

    def add_arguments(self, more: str) -> None:
        """Join arguments; a whole object that is sent again is taken once."""
        is_repeat = len(more) == self.argument_chars and more == self.arguments and self.is_complete
        if not more or is_repeat:
            return
        if self.is_placeholder and more.lstrip().startswith("{"):
            self.pieces, self.argument_chars = [], 0
        self.pieces.append(more)
        self.argument_chars += len(more)


class CallAssembler:
    """Takes the fragments of an answer in order; falsy as long as no call has begun."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, fragment: Mapping[str, Any]) -> tuple[int, str, int]:
        """Take one entry of `delta.tool_calls`: (position of its call, name so far, characters of arguments so far)."""
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        name = function.get("name")
        name = clean_text(name) if isinstance(name, str) else ""
        arguments = _argument_text(function.get("arguments"))
        call_id, index = _read_id(fragment.get("id")), whole_number(fragment.get("index"))
        slot = self._find(call_id, index, name, arguments) or self._open(index, call_id)
        slot.call_id = slot.call_id or call_id
        slot.add_name(name)
        slot.add_arguments(arguments)
        slot.saw_arguments = slot.saw_arguments or "arguments" in function
        return slot.position, slot.name, slot.argument_chars

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order in which they began, each with an id of its own and arguments never blank."""
        used: set[str] = set()
        calls = []
        for slot in self._slots:
            if not (slot.name or slot.call_id or slot.arguments.strip()):
                continue
            call_id = slot.call_id if slot.call_id and slot.call_id not in used else f"call_{new_id()}"
            used.add(call_id)
            calls.append(ToolCall(id=call_id, name=slot.name.strip(), arguments=finish_arguments(slot.arguments)))
        return tuple(calls)

    def _open(self, index: int | None, call_id: str) -> _Slot:
        slot = _Slot(len(self._slots), index, call_id)
        self._slots.append(slot)
        return slot

    def _find(self, call_id: str, index: int | None, name: str, arguments: str) -> _Slot | None:
        """Return the call that the fragment continues, or None when it begins a new one."""
        slot = self._by_id(call_id, index) or self._without_id(index, name) if call_id else self._by_index(index, name)
        if slot is None or _begins_anew(slot, call_id, index, name, arguments):
            return None
        return slot

    def _by_id(self, call_id: str, index: int | None) -> _Slot | None:
        for slot in reversed(self._slots):
            if slot.call_id == call_id and (index is None or slot.index is None or slot.index == index):
                return slot
        return None

    def _without_id(self, index: int | None, name: str) -> _Slot | None:
        """Return the call whose id comes late: begun at this index without one."""
        slot = self._by_index(index, name)
        return slot if slot is not None and not slot.call_id and not (index is None and name) else None

    def _by_index(self, index: int | None, name: str) -> _Slot | None:
        if index is None:
            return self._slots[-1] if self._slots else None
        for slot in reversed(self._slots):
            if slot.index == index:
                return slot
        # Some gateways count only from the second fragment on.
        last = self._slots[-1] if self._slots else None
        return last if last is not None and last.index is None and not name else None


def _begins_anew(slot: _Slot, call_id: str, index: int | None, name: str, arguments: str) -> bool:
    """Say whether a fragment with a name must be the next call, although id and index point at `slot`."""
    if not name or not slot.name:
        return False
    if slot.is_complete:
        same_call = call_id != "" and name == slot.name
        if same_call and (slot.is_placeholder or arguments.strip() in ("", slot.arguments.strip())):
            return False
        return bool(arguments.strip()) or (not call_id and name != slot.name)
    nothing_tells = not call_id and index is None
    return nothing_tells and slot.saw_arguments and not slot.arguments.strip()


def _read_id(value: Any) -> str:
    return clean_text(str(value)).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _argument_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def is_json_object(text: str) -> bool:
    """Say whether `text` is one whole JSON object."""
    if not text.rstrip().endswith("}"):
        return False
    try:
        # This takes a little less than is JSON, such as no half of a surrogate pair, in a tenth of the time.
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        return isinstance(_STRICT.decode(text), dict)
    except (ValueError, RecursionError):
        return False


def _refuse_constant(name: str) -> None:
    """NaN and the infinities are no JSON, whatever Python's parser takes."""
    raise ValueError(name)


# Each call of json.loads with an option would make a decoder of its own.
_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)


def finish_arguments(text: str) -> str:
    """Return arguments as they go into the transcript: blank and null become `{}`, doubly encoded ones are unwrapped.

    Broken JSON stays as it is; whoever runs the call refuses it and the model reads why.
    """
    text = clean_text(text).strip()
    if text in ("", "null"):
        return NO_ARGUMENTS
    if text.startswith('"'):
        try:
            inner = msgspec.json.decode(text, type=str)
        except (msgspec.DecodeError, UnicodeError):
            return text
        return finish_arguments(inner) if inner.strip() in ("", "null") or is_json_object(inner) else text
    return text
