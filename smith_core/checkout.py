"""A git checkout as its own files describe it: root, branch and origin, without starting git.

Everything read here may be broken or hostile; what cannot be understood counts as absent.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from smith_core.patterns import later
from smith_core.regular_file import read_regular_file

MAX_FILE_BYTES = 1_000_000
SHORT_HASH_LENGTH = 7
COMMIT_LENGTH = 12

_SECTION = later(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]')
_ENTRY = later(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=(.*)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}
_HASH = later(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = later(r"refs/(?!.*\.\.)[^\0]+")


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """Where a working tree and its repository are, all as resolved absolute paths.

    git_dir: holds this tree's own HEAD. common_dir: what all worktrees of the repository share.
    """

    root: str
    git_dir: str
    common_dir: str

    @property
    def main_root(self) -> str:
        """The folder that stands for the repository in all its worktrees."""
        parent, name = os.path.split(self.common_dir)
        return parent if name == ".git" else self.common_dir


def find_checkout(folder: str) -> Checkout | None:
    """Return the checkout that `folder`, a resolved path, lies in, or None."""
    for root in (Path(folder), *Path(folder).parents):
        git_dir = _git_dir_of(root)
        if git_dir is not None:
            common = _first_line(git_dir / "commondir")
            common_dir = git_dir / common if common else git_dir
            if not stat.S_ISDIR(_mode(common_dir)):
                common_dir = git_dir
            return Checkout(root=str(root), git_dir=_resolved(git_dir), common_dir=_resolved(common_dir))
    return None


def read_branch(checkout: Checkout) -> str:
    """Return the branch, the full name of another ref, the short hash of a detached head, or ""."""
    head = _first_line(Path(checkout.git_dir, "HEAD"))
    if head.startswith("ref:"):
        # A repository of the reftable format keeps its branch elsewhere and writes this in its place.
        ref = head.removeprefix("ref:").strip()
        return "" if ref == "refs/heads/.invalid" else ref.removeprefix("refs/heads/")
    return head[:SHORT_HASH_LENGTH] if _HASH.fullmatch(head) else ""


def read_commit(checkout: Checkout) -> str:
    """Return the short hash of what is checked out, or "" when the plain files of the repository do not tell it."""
    head = _first_line(Path(checkout.git_dir, "HEAD"))
    if head.startswith("ref:"):
        ref = head.removeprefix("ref:").strip()
        head = _first_line(Path(checkout.common_dir, ref)) if _REF.fullmatch(ref) else ""
        head = head or _packed_commit(checkout, ref)
    return head[:COMMIT_LENGTH] if _HASH.fullmatch(head) else ""


def read_origin(checkout: Checkout) -> str:
    """Return the first address of the remote `origin`, or ""; included files and `insteadOf` are not looked at."""
    text = _read_text(Path(checkout.common_dir, "config"))
    addresses = (value for name, value in _config_entries(text) if name == "remote.origin.url")
    return next((address for address in addresses if address.strip()), "")


def _packed_commit(checkout: Checkout, ref: str) -> str:
    for line in _read_text(Path(checkout.common_dir, "packed-refs")).splitlines():
        commit, _, name = line.partition(" ")
        if name == ref:
            return commit
    return ""


def _git_dir_of(root: Path) -> Path | None:
    dot_git = root / ".git"
    if stat.S_ISREG(_mode(dot_git)):
        pointer = _first_line(dot_git)
        if not pointer.startswith("gitdir:"):
            return None
        dot_git = root / pointer.removeprefix("gitdir:").strip()
    return dot_git if stat.S_ISREG(_mode(dot_git / "HEAD")) else None


def _config_entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield (section.subsection.key, value) of git's configuration syntax; lines that break it are passed over."""
    section = ""
    for line in re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n", r"\1", text).split("\n"):
        header = _SECTION.match(line)
        if header is not None:
            subsection = re.sub(r"\\(.)", r"\1", header[2]) if header[2] is not None else None
            section = header[1].lower() if subsection is None else f"{header[1].lower()}.{subsection}"
        entry = _ENTRY.match(line, header.end() if header else 0)
        if entry is not None and section:
            yield f"{section}.{entry[1].lower()}", _config_value(entry[2])


def _config_value(raw: str) -> str:
    value, kept, is_quoted, is_escaped = "", 0, False, False
    for character in raw.strip():
        if is_escaped:
            value += _ESCAPES.get(character, character)
            is_escaped = False
        elif character == "\\":
            is_escaped = True
            continue
        elif character == '"':
            is_quoted = not is_quoted
        elif character in "#;" and not is_quoted:
            break
        else:
            value += character
        # Blanks at the end are part of the value only inside quotation marks.
        kept = len(value) if is_quoted or not character.isspace() else kept
    return value[:kept]


def _first_line(path: Path) -> str:
    return _read_text(path).partition("\n")[0].strip()


def _read_text(path: Path) -> str:
    # Names of folders need not be UTF-8; surrogate escapes keep their bytes.
    return read_regular_file(path, MAX_FILE_BYTES).data.decode("utf-8", "surrogateescape")


def _mode(path: Path) -> int:
    """Return the mode of what is at `path`, links followed, or 0 when that cannot be told."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _resolved(path: Path) -> str:
    return os.path.realpath(path)
