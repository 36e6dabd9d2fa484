"""The toolkit's input parser with pastes and reports taken out first, so that neither can act as a key.

The stock parser reads escape sequences inside a bracketed paste as keys: a paste with an escape character in it types,
and may send. It also turns the lines of a terminal without bracketed paste into one Enter after the other, and it
types what a terminal reports about itself, which may have been asked for by the program before.

It takes Alt and a digit for the sign that one terminal means by it on one system; everywhere else it is what it is.
Alt and Enter together is a key of its own and not Enter.
"""

import codecs
import os
import re
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from string import ascii_lowercase
from typing import Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.keys import Keys
from textual.message import Message

PASTE_START = "\x1b[200~"
PASTE_END = "\x1b[201~"
_HELD = len(PASTE_START) - 1  # as much of a marker as the end of a chunk can hold

# Patterns are compiled when the first key is read, which is behind the first frame.

# A line break with text behind it, in one read and without other controls: more than fingers send.
_TEXT = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
_BURST = rf"{_TEXT}*[\r\n](?![\r\n]){_TEXT}+\Z"
# What is copied may hold the end of a paste, and keys behind it that would send and run. No hand is as quick.
_SMUGGLED = r"(?s)[\r\n].|.[\r\n]"
_BEHIND_A_PASTE = 0.05  # seconds
_LONG_BURST = 256  # characters in one read that count as a paste even without a line break

# Control strings, and control sequences with a private mark that no key and no mode report has (ECMA-48, xterm).
_REPORT = r"\x1b(?:[P_^X][^\x1b]*\x1b\\|\][^\x1b\x07]*(?:\x07|\x1b\\)|\[[=>?][\d;:]*[@-~])"
_REPORT_BEGUN = r"\x1b(?:[P_^X\]][^\x1b\x07]{1,1000}\x1b?|\[[=>?][\d;:]*\$?)\Z"

# xterm's modes by which Alt sends an Escape before the key, and not another letter (é for Alt+I).
ALT_MODES = ("1036", "1039")
_ALT_IS_A_LETTER = rf"\x1b\[\?({'|'.join(ALT_MODES)});2\$y"

# Kitty's keyboard protocol: code and alternatives, modifiers and kind of event, text.
_KEY_REPORT = r"\x1b\[([\d:;]+)([u~A-FHPQRS])"
_NO_KEY = events.Key(Keys.Ignore, None)


class AltIsALetter(Message):
    """The terminal says that one of ALT_MODES is off."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode = mode


_LISTENERS: list[Callable[[str], object]] = []


def listen(listener: Callable[[str], object]) -> Callable[[], None]:
    """Have a function called with each report that is taken out, in the thread that reads; return what ends that."""
    _LISTENERS.append(listener)
    return lambda: _LISTENERS.remove(listener)


def reports_in(text: str) -> tuple[list[str], str]:
    """Return the reports in what was read from a terminal, and the end of it, where another one may have begun."""
    found = list(re.finditer(_REPORT, text))
    return [report[0] for report in found], text[found[-1].end() if found else 0 :]


def _told(found: re.Match[str]) -> str:
    for listener in tuple(_LISTENERS):
        listener(found[0])
    return ""


# While an answer is awaited, the first two characters of one are not taken for a key that they could be, too.
_ANSWER_BEGUN = r"\x1b(?:[P_^X\]][^\x1b\x07]{0,1000}\x1b?|\[(?:[=>?][\d;:]*\$?)?)?\Z"
_ANSWER_DELAY = 0.5  # seconds that its rest may take
# A lone Escape never waits longer than the key may: what follows it in one read tells then that it was an answer.
_REST_OF_ANSWER = r"P[>!\d]|_G|\[[=>?]\d"


class PasteParser(XTermParser):
    """Yields one Paste for each bracketed paste and each burst of lines, nothing for reports; the rest as before."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._before = ""  # end of what the stock parser has, where a marker may have begun
        self._pasted: list[str] | None = None
        self._held = ""
        self._pasted_at = 0.0
        self._report = ""  # end of what was read, where a report may have begun
        self._report_at = 0.0
        self._was_escape_given = False  # alone, and nothing was read since

    def feed(self, data: str) -> Iterable[Message]:
        """Take what was read from the terminal, cut anywhere; an empty string is the end of input."""
        if not data:
            yield from super().feed(data)
            return
        while data:
            if self._pasted is None:
                data, events_before = self._take_keys(data)
                yield from events_before
            else:
                data, paste = self._take_paste(data, self._pasted)
                if paste is not None:
                    yield paste

    def tick(self) -> Iterable[Message]:
        """Give out a lone Escape, or a report that does not end, once its time is over."""
        is_long = _LISTENERS and self._report != "\x1b"
        if self._report and time.monotonic() - self._report_at >= (_ANSWER_DELAY if is_long else ESCAPE_DELAY):
            begun, self._report = self._report, ""
            if begun == "\x1b":
                self._before, self._was_escape_given = "", True
                yield events.Key("escape", begun)
            else:
                yield from super().feed(begun)
        for event in super().tick():
            # No marker can begin before it any more.
            self._before = ""
            yield event

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if len(sequence) == 2 and sequence[0] == "\x1b" and sequence[1] in "0123456789":
            return [events.Key(f"alt+{sequence[1]}", None)]
        if sequence == "\x1b\r" or (alt and sequence == "\r"):
            return [events.Key("alt+enter", None)]
        plain = _plain_report(sequence)
        try:
            known = [_NO_KEY] if plain is None else list(super()._sequence_to_key_events(plain, alt))
        except (ValueError, OverflowError):  # numbers that are no characters
            known = [_NO_KEY]
        if not known and len(sequence) == 2 and sequence[0] == "\x1b" and sequence[1] in ascii_lowercase:
            # No longer sequence begins like that, so there is nothing to wait a tenth of a second for.
            return [events.Key(f"alt+{sequence[1]}", sequence[1])]
        return known

    def _take_keys(self, data: str) -> tuple[str, Iterable[Message]]:
        joined = self._before + data
        start = joined.find(PASTE_START)
        if start < 0:
            self._before = joined[-_HELD:]
            return "", self._keys(data)
        end = start + len(PASTE_START) - len(self._before)
        keys = data[: max(0, start - len(self._before))]
        smuggled = self._smuggled(keys)
        self._before = ""
        self._pasted = []
        # The stock parser needs both markers to drop what it holds of the first; it sees nothing in between.
        seen = data[len(keys) if smuggled else 0 : end]
        events_before = [*super().feed(self._without_reports(seen) + PASTE_END)]
        return data[end:], [*smuggled, *(event for event in events_before if not isinstance(event, events.Paste))]

    def _smuggled(self, data: str) -> list[events.Paste]:
        """Return as a paste what is right behind one and would send; nothing for what a person may have typed."""
        if time.monotonic() - self._pasted_at >= _BEHIND_A_PASTE or not re.search(_SMUGGLED, data):
            return []
        self._pasted_at = time.monotonic()
        return [events.Paste(data.replace(PASTE_END, ""))]

    def _keys(self, data: str) -> Iterable[Message]:
        data = self._without_reports(data)
        if not data:
            return []
        if smuggled := self._smuggled(data):
            return smuggled
        if found := re.search(_ALT_IS_A_LETTER, data):
            return [AltIsALetter(found[1]), *self._keys(data[: found.start()] + data[found.end() :])]
        if re.match(_BURST, data) or (len(data) >= _LONG_BURST and "\x1b" not in data and data.isprintable()):
            return [events.Paste(data)]
        return super().feed(data)

    def _without_reports(self, data: str) -> str:
        if self._was_escape_given:
            self._was_escape_given = False
            if _LISTENERS and re.match(_REST_OF_ANSWER, data):
                data = f"\x1b{data}"
        data = re.sub(_REPORT, _told, self._report + data)
        begun = re.search(_ANSWER_BEGUN if _LISTENERS else _REPORT_BEGUN, data)
        end = begun.start() if begun else len(data)
        self._report, self._report_at = data[end:], time.monotonic()
        return data[:end]

    def _take_paste(self, data: str, pasted: list[str]) -> tuple[str, events.Paste | None]:
        data = self._held + data
        end = data.find(PASTE_END)
        if end < 0:
            self._held = data[-_HELD:]
            pasted.append(data[:-_HELD])
            return "", None
        pasted.append(data[:end])
        self._pasted, self._held, self._pasted_at = None, "", time.monotonic()
        return data[end + len(PASTE_END) :], events.Paste("".join(pasted))


def _plain_report(sequence: str) -> str | None:
    """Return what reports a key without what was not asked for, None when the key was let go.

    A program that did not clean up behind itself leaves a terminal that tells more than the stock parser reads.
    """
    found = re.fullmatch(_KEY_REPORT, sequence)
    if found is None or ":" not in found[1]:
        return sequence
    key, *rest = found[1].split(";")
    modifiers, _, kind = "".join(rest[:1]).partition(":")
    fields = [key.partition(":")[0], modifiers, *rest[1:]]
    return None if kind == "3" else f"\x1b[{';'.join(fields)}{found[2]}"


def use_paste_parser() -> None:
    """Let every terminal driver that starts from now on read its input with a PasteParser, whatever bytes come."""
    from textual.drivers import linux_driver

    linux_driver.XTermParser = PasteParser  # type: ignore[attr-defined]
    linux_driver.getincrementaldecoder = _input_decoder  # type: ignore[assignment,attr-defined]


class InputDecoder(codecs.IncrementalDecoder):
    """Decodes what a terminal sends, which may be Latin-1: decoded strictly, one such byte ends the app.

    The end of input, which never comes from a terminal that is there, is treated as the hang-up that it is: without
    the signal, as in a container that lost its client, the app would go on for ever and read nothing in a loop.
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._has_ended = False

    def decode(self, data: Any, final: bool = False) -> str:
        """Return the text of the bytes so far."""
        if not data and not final and not self._has_ended:
            self._has_ended = True
            os.kill(os.getpid(), signal.SIGHUP)
        return self._decoder.decode(data, final)


def _input_decoder(encoding: str) -> Callable[[], InputDecoder]:
    return partial(InputDecoder, encoding)
