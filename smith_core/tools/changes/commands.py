"""Lets the commands of a turn be watched while they run."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from smith_core.tools.base import ToolContext

if TYPE_CHECKING:
    from smith_core.tools.changes.watch import FolderWatch


@asynccontextmanager
async def watched(ctx: ToolContext) -> AsyncIterator[None]:
    """Put on record what a command changes in the project inside the block; nothing of it can fail."""
    recorder = ctx.changes
    if recorder is None:
        yield
        return
    watch = await asyncio.to_thread(recorder.find_watch, ctx.project.root, lambda: new_watch(ctx, recorder.apart))
    if watch is None:
        yield
        return
    await asyncio.to_thread(watch.enter, recorder)
    try:
        yield
    finally:
        await asyncio.to_thread(watch.leave, recorder)


def new_watch(ctx: ToolContext, apart: Iterable[str] = ()) -> "FolderWatch | None":
    """Return what watches the project of a call, None where it is no project but a home folder or the whole disk."""
    # Imported with the first command, not with the tools.
    from smith_core.tools.changes.git_files import open_git
    from smith_core.tools.changes.watch import FolderWatch
    from smith_core.tools.code.children import Children
    from smith_core.tools.code.place import Place
    from smith_core.tools.code.ripgrep import decoded_paths, list_raw_files
    from smith_core.tools.sandbox.hidden import home_folders, is_below

    root = os.path.realpath(ctx.project.root)
    if root == "/" or any(home == root or is_below(home, root) for home in home_folders(ctx.child_env)):
        return None
    git = open_git(root, ctx.child_env) if ctx.project.is_git else None

    def list_files() -> list[str]:
        children = Children(ctx.child_env, ctx.spill_dir)
        try:
            return decoded_paths(list_raw_files(Place(Path(root)), ctx, children))
        finally:
            children.end()

    return FolderWatch(root, ctx.spill_dir, git, list_files, [*apart, os.path.realpath(ctx.spill_dir)])
