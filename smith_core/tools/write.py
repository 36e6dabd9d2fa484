"""The tool write: creates a file, or replaces all that is in it."""

import hashlib
from pathlib import Path
from typing import Annotated

import msgspec

from smith_core.atomic import follow_links, write_atomically
from smith_core.fileedit import EditRefusedError, join_surrogates, lines_in_words
from smith_core.linediff import diff_lines, unified_diff
from smith_core.plainfile import check_regular, exclusively, read_regular
from smith_core.text import clean_text
from smith_core.textformat import detect_format
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, succeeded
from smith_core.tools.changes.recorder import kept_before
from smith_core.tools.file_access import run_in_thread, shown_path

MAX_DIFF_BYTES = 1024 * 1024
"""Largest old or new content that is compared for the screen."""


class WriteArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of write."""

    path: Annotated[
        str, msgspec.Meta(description="The file: absolute, or relative to the working folder; ~ is your home.")
    ]
    content: Annotated[str, msgspec.Meta(description="The whole content, stored as UTF-8 exactly as given.")]


async def write(arguments: WriteArguments, ctx: ToolContext) -> ToolOutcome:
    """Create or overwrite a file and the folders above it, and return its hash."""
    return await run_in_thread(lambda path: _write(arguments, path, ctx), "write", arguments.path, ctx)


def _write(arguments: WriteArguments, path: Path, ctx: ToolContext) -> ToolOutcome:
    data = _encode(arguments.content)
    target = follow_links(path)
    with exclusively(target):
        old_size = _size(target)
        old_lines = _old_lines(target, old_size) if len(data) <= MAX_DIFF_BYTES else None
        with kept_before(ctx, target, data):
            write_atomically(target, data, confirm=ctx.cancel_token.check)
    shown = shown_path(path, ctx.cwd)
    new_lines = diff_lines(arguments.content)
    new_hash = hashlib.sha256(data).hexdigest()
    what = "created" if old_size is None else f"overwritten ({old_size} bytes before)"
    return succeeded(
        f"{shown}: {what}, now {lines_in_words(len(new_lines))}, {len(data)} bytes\nnew_hash: {new_hash}",
        mutation_state="attempted",
        path=clean_text(str(path)),
        new_hash=new_hash,
        lines=len(new_lines),
        line_delta=0 if old_lines is None else len(new_lines) - len(old_lines),
        diff="" if old_lines is None else clean_text(unified_diff(old_lines, new_lines, shown)),
    )


def _encode(content: str) -> bytes:
    try:
        return join_surrogates(content).encode("utf-8")
    except UnicodeEncodeError as error:
        line = content.count("\n", 0, error.start) + 1
        raise EditRefusedError(
            f"line {line} of content holds half of a character (a lone surrogate); give it whole"
        ) from None


def _size(target: Path) -> int | None:
    try:
        return check_regular(target).st_size
    except FileNotFoundError:
        return None


def _old_lines(target: Path, size: int | None) -> list[str] | None:
    """Return the lines that are replaced, none for a new file; None when they are too many, binary or unreadable."""
    if size is None:
        return []
    if size > MAX_DIFF_BYTES:
        return None
    try:
        data = read_regular(target)
    except OSError:
        return None
    stored = detect_format(data)
    return None if stored is None else diff_lines(stored.decode(data[len(stored.bom) :]))


WRITE = ToolSpec(
    name="write",
    description=(
        "Create a file, or replace all that is in it, with exactly this content; missing folders are made. "
        "To change a part of a file, use edit. The result has new_hash for a following edit."
    ),
    arguments=WriteArguments,
    handler=write,
    mutates=True,
)
