"""What a sandboxed command finds: which folders it can write, and which it cannot even read."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from smith_core.checkout import Checkout, find_checkout
from smith_core.regular_file import read_regular_file
from smith_core.tools.sandbox.hidden import hidden_places, home_folders, is_below

RUN_FOLDER = "/run"
"""Holds the sockets of services, some of which would run anything outside; it is empty in a sandbox."""

TEMPORARY = ("/tmp", "/var/tmp")

_RESOLVER = Path("/etc/resolv.conf")
_KEPT_IN_RUN = ("/run/current-system", "/run/opengl-driver")
_MAX_LINK_BYTES = 10_000


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """All paths are absolute and resolved; whatever is named nowhere can be read and not written.

    writable: folders. hidden: folders that are empty and files that cannot be opened. kept: what can be read although
    all around it is hidden or replaced. temporary: the folder outside that stands in place of all of `replaced`.
    """

    writable: tuple[str, ...]
    hidden: tuple[str, ...]
    kept: tuple[str, ...]
    temporary: str
    replaced: tuple[str, ...] = TEMPORARY
    has_network: bool = True


def plan_layout(root: str, environ: Mapping[str, str], spill_dir: Path, temporary: Path) -> Layout:
    """Return the layout for a project; spill_dir stays readable. The disk is looked at, nothing is changed."""
    root = os.path.realpath(root)
    writable = () if _is_too_wide(root, environ) else (root, *_git_folders(root))
    resolver = os.path.realpath(_RESOLVER)
    kept = [str(spill_dir.resolve()), *(path for path in _KEPT_IN_RUN if Path(path).exists())]
    if is_below(resolver, RUN_FOLDER) and Path(resolver).exists():
        kept.append(resolver)
    return Layout(
        writable=writable,
        hidden=tuple(path for path in hidden_places(environ) if path not in writable),
        kept=tuple(kept),
        temporary=str(temporary.resolve()),
    )


def _is_too_wide(root: str, environ: Mapping[str, str]) -> bool:
    """Whether a project holds a whole home folder: writing there is as good as leaving the sandbox."""
    return root == "/" or any(home == root or is_below(home, root) for home in home_folders(environ))


def _git_folders(root: str) -> tuple[str, ...]:
    """Return the folders outside of the project that git writes to, of a worktree or a submodule.

    What a checkout says of itself is not believed, for a command can write that: the other side must say it, too.
    """
    checkout = find_checkout(root)
    if checkout is None or checkout.root != root or is_below(checkout.common_dir, root):
        return ()
    if _is_worktree(checkout):
        return (checkout.common_dir,)
    return (checkout.git_dir,) if _is_submodule(checkout) else ()


def _is_worktree(checkout: Checkout) -> bool:
    git_dir = Path(checkout.git_dir)
    if git_dir.parent != Path(checkout.common_dir, "worktrees"):
        return False
    link = read_regular_file(git_dir / "gitdir", _MAX_LINK_BYTES).data.decode("utf-8", "surrogateescape")
    return os.path.realpath(git_dir / link.partition("\n")[0].strip()) == f"{checkout.root}/.git"


def _is_submodule(checkout: Checkout) -> bool:
    outer, modules, _ = checkout.git_dir.partition("/.git/modules/")
    return bool(modules) and checkout.git_dir == checkout.common_dir and is_below(checkout.root, outer)
