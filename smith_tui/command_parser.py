"""The argument parser that says what may have been meant where a command or an option is not known."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

_UNKNOWN_COMMAND = r"argument \{run,.*?\}: invalid choice: '(?P<word>.*?)' \(choose from"


class CommandParser(argparse.ArgumentParser):
    """An ArgumentParser whose errors about unknown words name the likely one, not all there are."""

    _typed: tuple[str, ...] = ()

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse as ever, and remember what was typed for the error."""
        self._typed = tuple(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error and exit with status 2."""
        import re  # an error alone needs it, and every start waits for what stands above

        found = re.match(_UNKNOWN_COMMAND, message)
        super().error(self._unknown(found["word"]) if found else message)

    def _unknown(self, word: str) -> str:
        # What stands behind an option that is not known is taken for the command.
        before = self._typed[: self._typed.index(word)] if word in self._typed else ()
        for typed in before:
            option = typed.partition("=")[0]
            if option.startswith("--") and not any(name.startswith(option) for name in self._option_string_actions):
                return f"there is no option {option}{_meant(option, self._option_string_actions)}"
        commands = next((action.choices for action in self._actions if action.dest == "command"), None) or ()
        hint = _meant(word, commands) or '; a task goes into quotes: smith-tui run "make the tests pass"'
        return f"there is no command {word}{hint}"


def _meant(word: str, known: Any) -> str:
    import difflib

    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
