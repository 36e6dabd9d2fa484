"""The toolkit imported without what no start uses: widgets that only its list of types names, and markup's patterns."""

import sys
from typing import Any

from smith_tui.output.support import TEXTUAL_VERSION, textual_version


def import_toolkit() -> None:
    """Import the toolkit; what is left out is imported or compiled at its first use, as if nothing had been.

    A release that is not known is left to import itself as it likes.
    """
    if "textual.app" not in sys.modules and textual_version() == TEXTUAL_VERSION:
        _import_markup()
        _import_palette()


def _import_palette() -> None:
    from textual import _types

    # Of all that `textual.types` gathers from four large widgets and elsewhere, the palette takes one thing: from here.
    sys.modules["textual.types"] = _types
    try:
        import textual.command  # noqa: F401
    finally:
        del sys.modules["textual.types"]


def _import_markup() -> None:
    from textual.css import tokenize

    whole: Any = vars(tokenize)["Expect"]

    class LateExpect(whole):  # type: ignore[misc]
        """Compiles its pattern when something is looked for with it."""

        def __init__(self, description: str, **tokens: str) -> None:
            self._given = (description, tokens)

        def __getattr__(self, name: str) -> Any:
            given = self.__dict__.pop("_given", None)
            if given is not None:
                # What was set meanwhile stays as it is.
                meanwhile = dict(self.__dict__)
                super().__init__(given[0], **given[1])
                self.__dict__.update(meanwhile)
            return self.__getattribute__(name)

    vars(tokenize)["Expect"] = LateExpect
    try:
        import textual.markup  # noqa: F401
    finally:
        vars(tokenize)["Expect"] = whole
