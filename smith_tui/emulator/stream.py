"""From the text that a program writes to calls of a screen: tolerant of every sequence, known or not."""

import re
from collections.abc import Callable, Iterator

import pyte

from smith_tui.emulator.screen import PageScreen

_TOKEN = re.compile(
    r"\x1b\[(?P<parameters>[0-?]*)(?P<between>[ -/]*)(?P<final>[@-~])?"
    r"|(?P<escape>\x1b[ -/]*[0-~]?)"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]{1,128})"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])"
)
_MAX_NUMBER = 9999
_NUMBERS = frozenset("0123456789;")
_TWO_NUMBERS = frozenset("Hfr")
_IGNORED = frozenset("hlmcn")  # the first three are handled apart; nothing is ever answered
_MORE = {"S": "scroll_up", "T": "scroll_down", "b": "repeat", "I": "tab", "Z": "back_tab"}
_MORE |= {"s": "save_cursor", "u": "restore_cursor"}
_WITHOUT_NUMBERS = frozenset("su")
_CHARSETS = {"\x1b(": "(", "\x1b)": ")"}

Handler = Callable[..., None]


class TolerantStream(pyte.Stream):
    """Takes whole tokens; strings (OSC, DCS, APC) must have been taken out of the text."""

    def __init__(self, screen: PageScreen) -> None:
        super().__init__(screen)
        self._screen = screen
        names = {final: name for final, name in self.csi.items() if final not in _IGNORED} | _MORE
        self._handlers: dict[str, Handler] = {final: getattr(screen, name) for final, name in names.items()}
        self._controls: dict[str, Handler] = {
            control: getattr(screen, name) for control, name in self.basic.items() if name != "bell"
        }
        self._escapes: dict[str, Handler] = {
            "\x1b7": screen.save_cursor,
            "\x1b8": screen.restore_cursor,
            "\x1bD": screen.index,
            "\x1bE": screen.next_line,
            "\x1bH": screen.set_tab_stop,
            "\x1bM": screen.reverse_index,
            "\x1bc": screen.reset,
            "\x1b#8": screen.alignment_display,
        }

    def feed(self, data: str) -> None:
        """Take text whose last sequence is whole."""
        for token in _TOKEN.finditer(data):
            self.take(token)

    def take(self, token: "re.Match[str]") -> None:
        """Do what one token of `tokens` says."""
        kind = token.lastgroup
        if kind == "text":
            self._screen.draw(token["text"])
        elif kind == "final":
            self._control_sequence(token["final"], token["parameters"], token["between"])
        elif kind == "control":
            handler = self._controls.get(token["control"])
            if handler is not None:
                handler()
        elif kind == "escape":
            self._escape(token["escape"])

    def _control_sequence(self, final: str, parameters: str, between: str) -> None:
        if between or parameters[:1] in ("<", "=", ">", "!"):
            if (final, between) == ("p", "!"):
                self._screen.soft_reset()
            return
        if final == "m":
            if not parameters.strip("0123456789;:"):
                self._screen.select_graphic_rendition(parameters)
            return
        private = parameters.startswith("?")
        digits = parameters.removeprefix("?")
        if not _NUMBERS.issuperset(digits):
            return
        numbers = [_number(part) for part in digits[:100].split(";")]
        if final in "hl":
            self._screen.change_modes(numbers, private=private, on=final == "h")
        elif not private or final in "JK":
            self._call(final, numbers, digits)

    def _call(self, final: str, numbers: list[int], digits: str) -> None:
        handler = self._handlers.get(final)
        if handler is None or (final in _WITHOUT_NUMBERS and digits):
            return
        most = 2 if final in _TWO_NUMBERS else 1
        # A sequence with numbers in excess is not what we know by that letter; ED is sent so by some programs.
        if len(numbers) <= most or final == "J":
            handler(*numbers[: 0 if final in _WITHOUT_NUMBERS else most])

    def _escape(self, sequence: str) -> None:
        handler = self._escapes.get(sequence)
        side = _CHARSETS.get(sequence[:2])
        if handler is not None:
            handler()
        elif side is not None and len(sequence) == 3:
            self._screen.define_charset(sequence[2], side)


def tokens(text: str) -> "Iterator[re.Match[str]]":
    """Return an iterator over the tokens of `text`."""
    return _TOKEN.finditer(text)


def _number(digits: str) -> int:
    # Longer numbers are beyond every screen, and int() refuses thousands of digits.
    return _MAX_NUMBER if len(digits) > 5 else min(int(digits or 0), _MAX_NUMBER)
