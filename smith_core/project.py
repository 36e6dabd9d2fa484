"""Where a turn works: folder, git root, origin, its normalised form, and the project id derived from them."""

import hashlib
import os
from pathlib import Path

import msgspec

from smith_core.checkout import Checkout, find_checkout, read_branch, read_origin
from smith_core.origin import normalize_origin, without_credentials
from smith_core.paths import relative_path_problem
from smith_core.regular_file import read_regular_file
from smith_core.text import REPLACEMENT, clean_text, shorten

PROJECT_ID_LENGTH = 16
INDEX_LIMIT = 100_000
"""Most characters of the index file, the note about the cut included (fault kind B30)."""

_MAX_BYTES_PER_CHARACTER = 4
_SHOWN_NAME_LIMIT = 500


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """The git project around a folder; `root` is the folder itself outside of git.

    branch: the short hash when the head is detached. origin: as git has it, less its credentials;
    normalized: the same for SSH, HTTPS and file forms of one repository;
    index_text: content of the index file, "" without one; index_notice: why it was left out or cut, "" if it was not.
    """

    root: str
    is_git: bool = False
    branch: str = ""
    origin: str = ""
    normalized: str = ""
    project_id: str = ""
    index_file: str = ""
    index_text: str = ""
    index_notice: str = ""


class _Index(msgspec.Struct, frozen=True):
    text: str = ""
    notice: str = ""


def find_project(cwd: str | Path, index_file: str) -> Project:
    """Return the project that the folder `cwd` belongs to, with the content of its index file; raises nothing."""
    folder = _resolved(str(cwd))
    checkout = find_checkout(folder)
    root = folder if checkout is None else checkout.root
    origin, identity_root, normalized = _identity(folder, checkout)
    index = _read_index(root, index_file)
    return Project(
        root=root,
        is_git=checkout is not None,
        branch="" if checkout is None else _shown(read_branch(checkout)),
        origin=_shown(without_credentials(origin)),
        normalized=_shown(normalized),
        project_id=derive_project_id(normalized or identity_root),
        index_file=index_file,
        index_text=index.text,
        index_notice=index.notice,
    )


def find_project_id(cwd: str | Path) -> str:
    """Return the id alone of the project that the folder `cwd` belongs to; raises nothing."""
    folder = _resolved(str(cwd))
    _, identity_root, normalized = _identity(folder, find_checkout(folder))
    return derive_project_id(normalized or identity_root)


def _identity(folder: str, checkout: Checkout | None) -> tuple[str, str, str]:
    """Return the origin, the folder that stands for the project without one, and the normalised origin."""
    origin = "" if checkout is None else read_origin(checkout)
    identity_root = folder if checkout is None else checkout.main_root
    return origin, identity_root, normalize_origin(origin, identity_root)


def derive_project_id(identity: str) -> str:
    """Return 16 hex digits of the SHA-256 of a normalised origin, or of a root path where there is no origin."""
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:PROJECT_ID_LENGTH]


def _read_index(root: str, index_file: str) -> _Index:
    danger = relative_path_problem(index_file)
    if danger:
        return _left_out(index_file, f"{danger}; set index_file to a path inside the repository")
    target = Path(_resolved(f"{root}/{index_file}"))
    if not target.is_relative_to(root):
        return _left_out(index_file, "it leads outside the repository")
    if any(part.casefold() == ".git" for part in target.relative_to(root).parts):
        return _left_out(index_file, "it leads into git's own files")
    # The path is resolved already: a link found now was put there in the meantime.
    content = read_regular_file(target, INDEX_LIMIT * _MAX_BYTES_PER_CHARACTER, follow_symlink=False)
    if content.is_missing:
        return _Index()
    if content.problem:
        return _left_out(index_file, content.problem)
    text = clean_text(content.data.decode("utf-8-sig", "replace"))
    if len(text) <= INDEX_LIMIT and content.size <= len(content.data):
        return _Index(text)
    note = f"\n[The file has {content.size} bytes; the rest of it is left out here.]"
    return _Index(
        text[: INDEX_LIMIT - len(note)] + note,
        f"{_shown(index_file)} is cut: only its first {INDEX_LIMIT} characters are sent to the model",
    )


def _left_out(index_file: str, reason: str) -> _Index:
    return _Index(notice=f"{_shown(index_file) or 'the index file'} is left out of the prompt: {reason}")


def _shown(text: str) -> str:
    """Return text of a foreign file as one printable line."""
    line = "".join(character if character.isprintable() else REPLACEMENT for character in text)
    return shorten(line, _SHOWN_NAME_LIMIT)


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
