"""What tools that work outside of the sandbox may reach while commands are in one: what a command could reach."""

import os
from pathlib import Path

from smith_core.errors import AgentFailure
from smith_core.tools.base import ToolContext
from smith_core.tools.sandbox.hidden import is_below
from smith_core.tools.sandbox.layout import Layout


class OutOfReachError(Exception):
    """A command could not do it; the message is a sentence without its full stop."""


async def layout_of(ctx: ToolContext) -> Layout | None:
    """Return the layout of the sandbox that commands run in, None when they run without one or not at all."""
    if ctx.sandbox is None:
        return None
    try:
        sandbox = await ctx.sandbox()
    except AgentFailure:  # which is told to whoever calls bash
        return None
    return sandbox.layout if sandbox is not None else None


def reached(layout: Layout, path: Path, *, writes: bool) -> Path:
    """Return the file that a command would find at `path`; raise OutOfReachError where it could not.

    A link that is changed between this look and the use is not noticed.
    """
    real = os.path.realpath(path)
    places = {folder: "hidden" for folder in layout.hidden}
    places |= {os.path.realpath(folder): "replaced" for folder in layout.replaced}
    places |= {folder: "kept" for folder in layout.kept}
    places |= {layout.temporary: "writable"}
    places |= {folder: "writable" for folder in layout.writable}
    around = [folder for folder in places if real == folder or is_below(real, folder)]
    nearest = max(around, key=len, default="")
    kind = places.get(nearest, "")
    if kind == "hidden":
        raise OutOfReachError(
            "the sandbox hides it, for secrets are usually kept there; ask the person for what you need"
        )
    if kind == "replaced":
        return Path(layout.temporary + real.removeprefix(nearest))
    if writes and kind != "writable":
        writable = " and ".join([*layout.writable, "/tmp"])
        raise OutOfReachError(f"the sandbox lets only {writable} be written; choose a place there")
    return path
