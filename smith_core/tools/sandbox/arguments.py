"""The arguments that make bubblewrap set up a layout: a pure function."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from smith_core.tools.sandbox.layout import RUN_FOLDER, Layout

INSIDE: Mapping[str, str] = {"TMPDIR": "/tmp", "XDG_CACHE_HOME": "/tmp/.cache"}
"""Variables of a sandboxed command: compilers and package managers keep caches in the home folder otherwise."""

OWN_PROCESSES = ("--unshare-user", "--unshare-pid")
"""A user of its own, so that no capability outside is meant, and processes of its own.

Not --die-with-parent for a command: bubblewrap ends with the shell, and a server that it has left behind must not.
"""

ISOLATION = ("--unshare-ipc", "--cap-drop", "ALL")
"""No shared memory of others, and no capability at all."""

SYSTEM = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")


class Namespaces(msgspec.Struct, frozen=True, kw_only=True):
    """Descriptors of namespaces that are there already.

    owner: the user namespace that `processes` belongs to. user: the one inside of it that commands run in, None when
    it is the same: bubblewrap makes two when the person is not root.
    """

    owner: int
    processes: int
    user: int | None = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All of them."""
        return (self.owner, self.processes, *(() if self.user is None else (self.user,)))


def sandbox_arguments(
    layout: Layout, joined: Namespaces | None = None, is_folder: Callable[[str], bool] = os.path.isdir
) -> list[str]:
    """Return the arguments that set the sandbox up, with processes of its own or among those of `joined`."""
    own: tuple[str, ...] = OWN_PROCESSES
    if joined is not None:
        own = ("--userns", str(joined.owner), "--pidns", str(joined.processes))
        own += () if joined.user is None else ("--userns2", str(joined.user))
    network = () if layout.has_network else ("--unshare-net",)
    return [*own, *ISOLATION, *network, *SYSTEM, *_mounts(layout, is_folder)]


def _mounts(layout: Layout, is_folder: Callable[[str], bool]) -> list[str]:
    """Return the mounts, outer folders first: what lies further inside is meant more exactly."""
    empty = [path for path in (RUN_FOLDER, *layout.hidden) if is_folder(path)]
    mounts: dict[str, tuple[str, ...]] = {path: ("--tmpfs", path) for path in empty}
    for path in layout.hidden:
        # A device that may not be used as one: opening it is refused.
        mounts.setdefault(path, ("--ro-bind", "/dev/null", path))
    for path in layout.replaced:
        if is_folder(path):
            mounts[os.path.realpath(path)] = ("--bind", layout.temporary, os.path.realpath(path))
    mounts.update((path, ("--ro-bind", path, path)) for path in layout.kept)
    mounts.update((path, ("--bind", path, path)) for path in layout.writable)
    ordered = [argument for path in _outer_first(mounts) for argument in mounts[path]]
    # Only now, because what is kept inside of an empty folder needs a place to stand at.
    sealed = [argument for path in empty if mounts[path][0] == "--tmpfs" for argument in ("--remount-ro", path)]
    return [*ordered, *sealed]


def _outer_first(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=lambda path: len(Path(path).parts))
