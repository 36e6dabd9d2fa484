"""What `smith-tui --version` says: the version, and the commit that it was made from where that is known."""

from importlib.metadata import version
from pathlib import Path

from smith_core.checkout import find_checkout, read_commit

UNKNOWN = "unknown"
COMMIT_FILE = "commit.txt"
"""Beside this module in a wheel; the hook in hatch_build.py writes it when the wheel is built."""

_PACKAGE = Path(__file__).resolve().parent


def version_line() -> str:
    """Return one line for the screen; a commit that nothing tells is called unknown."""
    return f"smith-tui {version('smith-tui')} (commit {commit_of(_PACKAGE)})"


def commit_of(package: Path) -> str:
    """Return the commit that a package folder was made from: as recorded in it, or of the checkout that it lies in."""
    try:
        recorded = (package / COMMIT_FILE).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        recorded = ""
    if recorded:
        return recorded
    checkout = find_checkout(str(package.parent))
    # A virtual environment may lie inside a repository that has nothing to do with us.
    if checkout is None or checkout.root != str(package.parent):
        return UNKNOWN
    return read_commit(checkout) or UNKNOWN
