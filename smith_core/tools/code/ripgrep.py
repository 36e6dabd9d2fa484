"""Runs ripgrep: where it is, the options that every run has, and what it lists and finds."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from smith_core.errors import failure
from smith_core.tools.base import ToolContext
from smith_core.tools.code.children import Child, Children
from smith_core.tools.code.place import Place

VERSION_CONTROL = (".git", ".hg", ".svn", ".jj", ".bzr")
"""Folders in which version control keeps its own files."""

_MADE_BY_MACHINES = (
    *("node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".cache"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache"),
)
_ERROR = 2


def find_ripgrep(env: Mapping[str, str]) -> str:
    """Return the path of rg: the one on PATH, or else the one installed beside Python.

    Raises AgentFailure of kind tool if there is none.
    """
    path = env.get("PATH", os.defpath)
    found = shutil.which("rg", path=path) or shutil.which("rg", path=str(Path(sys.executable).parent))
    if found is None:
        raise failure("tool", "no_ripgrep", "rg is not installed; install ripgrep, or search with bash (grep, find)")
    return found


def common_options(ctx: ToolContext) -> list[str]:
    """Return the options by which hidden files are seen, ignore rules hold, and nobody's settings interfere."""
    options = ["--no-config", "--color=never", "--hidden", "--no-messages"]
    if ctx.project.is_git:
        return [*options, *(f"--glob=!{name}" for name in VERSION_CONTROL)]
    # Nothing but the folder's own files can tell here what is not part of the project.
    excluded = (f"--glob=!{name}" for name in (*VERSION_CONTROL, *_MADE_BY_MACHINES))
    return [*options, "--no-require-git", "--no-ignore-parent", *excluded]


def ripgrep_command(options: list[str], place: Place, ctx: ToolContext) -> list[str]:
    """Return the command; the searched path stands behind -- and begins with ./ and so is never an option."""
    return [find_ripgrep(ctx.child_env), *common_options(ctx), *options, "--", f"./{place.name}"]


def list_files(place: Place, ctx: ToolContext, children: Children) -> list[str]:
    """Return the paths of all files that ignore rules leave, relative to the folder, in no order.

    Bytes that are no UTF-8 are kept as os.fsdecode gives them.
    """
    return decoded_paths(list_raw_files(place, ctx, children))


def list_raw_files(place: Place, ctx: ToolContext, children: Children, threads: int = 0) -> list[bytes]:
    """Return the same paths as ripgrep writes them; threads: how many it may use, 0 for as many as it likes."""
    options = ["--files", "--null", f"--threads={threads}"]
    with children.run(ripgrep_command(options, place, ctx), place.folder) as child:
        data = b"".join(child.chunks())
    children.check()
    return data.removesuffix(b"\0").split(b"\0") if data else []


def decoded_paths(paths: Iterable[bytes]) -> list[str]:
    """Return what ripgrep has written as paths relative to the folder."""
    return [os.fsdecode(path.removeprefix(b"./")) for path in paths]


def files_with(
    pattern: str, place: Place, ctx: ToolContext, children: Children, types: tuple[str, ...] = ()
) -> list[str]:
    """Return the paths of the files in which a regular expression of ours matches, case ignored.

    types: globs for file names, of which one has to match.
    """
    options = ["--files-with-matches", "--null", "--ignore-case"]
    options += [*(f"--type-add=ours:{glob}" for glob in types), *(["--type=ours"] if types else [])]
    return _paths([*options, "-e", pattern], place, ctx, children)


def _paths(options: list[str], place: Place, ctx: ToolContext, children: Children) -> list[str]:
    with children.run(ripgrep_command(options, place, ctx), place.folder) as child:
        data = b"".join(chunks_of(child, children))
        if child.is_late:
            raise failure(
                "tool", "too_slow", f"{place.title} is too large to be looked through in time; name a smaller folder"
            )
    return [os.fsdecode(path.removeprefix(b"./")) for path in data.split(b"\0") if path]


def has_failed(child: Child) -> bool:
    """Whether ripgrep gave up with an error, and not for a file that it could not read."""
    return child.status == _ERROR and bool(child.problem)


def chunks_of(child: Child, children: Children) -> Iterator[bytes]:
    """Yield the output, but raise AgentFailure of kind cancelled when the call is over."""
    for chunk in child.chunks():
        children.check()
        yield chunk
    children.check()
