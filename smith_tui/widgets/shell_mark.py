"""How the prompt shows that a line goes to a shell instead of the model. Pure."""

_HINTS = {"!": "a command for your shell; Smith sees it too", "!!": "a command for your shell that Smith does not see"}


def shell_gutter(text: str) -> str:
    """Return what stands before a line for a shell, "" before any other."""
    if not text.startswith("!"):
        return ""
    return "$$" if text.startswith("!!") else "$ "


def shell_hint(text: str) -> str:
    """Return what a line that has no command yet is for, "" for any other."""
    return _HINTS.get(text.strip(), "")
