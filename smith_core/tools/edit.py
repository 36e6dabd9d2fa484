"""The tool edit: changes a range of lines, provided that the file is still the one that was read."""

import hashlib
from pathlib import Path
from typing import Annotated

import msgspec

from smith_core.atomic import follow_links, write_atomically
from smith_core.fileedit import EditedFile, EditRefusedError, LineEdit, Operation, apply_edit, lines_in_words
from smith_core.linediff import unified_diff
from smith_core.plainfile import check_regular, exclusively, read_regular
from smith_core.text import clean_text
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.changes.recorder import kept_before
from smith_core.tools.file_access import run_in_thread, shown_path

MAX_EDIT_BYTES = 64 * 1024 * 1024
"""Largest file that is edited by lines; it is held in memory some three times."""
_SNIPPET_LINES = 40
_SNIPPET_LINE_CHARS = 300


class EditArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of edit."""

    path: Annotated[str, msgspec.Meta(description="The file to change, as given to read.")]
    operation: Annotated[
        Operation,
        msgspec.Meta(
            description="replace: put text in place of the lines start_line to end_line. insert: put text after "
            "start_line (0: before the first line). delete: remove the lines start_line to end_line."
        ),
    ]
    start_line: Annotated[
        int, msgspec.Meta(ge=0, description="Line number as shown by read, from 1; 0 for an insert at the top.")
    ]
    hash: Annotated[str, msgspec.Meta(description="The hash of the file from the last read, edit or write of it.")]
    end_line: Annotated[
        Annotated[int, msgspec.Meta(ge=0)] | None,
        msgspec.Meta(description="Last line, included. Default: start_line. An insert ignores it."),
    ] = None
    text: Annotated[
        str | None,
        msgspec.Meta(
            description="The new lines, for replace and insert, without line numbers. Line endings are adapted to the "
            "file, and one at the end of text is optional. A single newline makes an empty line; an empty text in "
            "replace removes the lines."
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse what no file could make good: a missing text, a range that runs backwards, line 0."""
        if self.operation == "insert":
            if not self.text:
                raise ValueError("insert needs the argument text; a single newline makes an empty line")
            return
        if self.operation == "replace" and self.text is None:
            raise ValueError("replace needs the argument text; use delete to remove lines")
        if self.operation == "delete" and self.text:
            raise ValueError("delete takes no text; use replace to put text in place of lines")
        if self.start_line == 0:
            raise ValueError(f"start_line is 0, but {self.operation} counts lines from 1")
        if self.start_line > self.last_line:
            raise ValueError(f"start_line {self.start_line} is greater than end_line {self.end_line}")

    @property
    def last_line(self) -> int:
        """Return the last line of the range."""
        return self.start_line if self.end_line is None or self.operation == "insert" else self.end_line


class _ChangedError(Exception):
    """The file is not the one that was read; `current` is its hash now."""

    def __init__(self, current: str) -> None:
        super().__init__(current)
        self.current = current


async def edit(arguments: EditArguments, ctx: ToolContext) -> ToolOutcome:
    """Replace, insert or delete lines of a file whose hash is still the given one."""
    return await run_in_thread(lambda path: _edit(arguments, path, ctx), "edit", arguments.path, ctx)


def _edit(arguments: EditArguments, path: Path, ctx: ToolContext) -> ToolOutcome:
    target = follow_links(path)
    shown = shown_path(path, ctx.cwd)
    try:
        with exclusively(target):
            edited, was_written = _edit_locked(arguments, target, ctx)
    except _ChangedError as error:
        return failed(
            f"Not edited: {shown} changed since it was read. Its hash is now {error.current}; "
            "read the lines again and repeat the edit with this hash",
            code="changed",
            path=clean_text(str(path)),
        )
    return _report(arguments, edited, path, shown, was_written)


def _edit_locked(arguments: EditArguments, target: Path, ctx: ToolContext) -> tuple[EditedFile, bool]:
    """Make the edit; return it and whether it was written, which it is not when it changes nothing."""
    size = check_regular(target).st_size
    if size > MAX_EDIT_BYTES:
        raise EditRefusedError(
            f"the file has {size} bytes, and edit takes at most {MAX_EDIT_BYTES}; change it with bash (sed) instead"
        )
    expected = arguments.hash.strip().lower().removeprefix("sha256:")
    data = read_regular(target)
    _check_unchanged(data, expected)
    edited = apply_edit(
        data, LineEdit(arguments.operation, arguments.start_line, arguments.last_line, arguments.text or "")
    )
    if edited.data == data:
        return edited, False

    def confirm() -> None:
        ctx.cancel_token.check()
        # Programs that know nothing of our lock are noticed up to this moment.
        _check_unchanged(read_regular(target), expected)

    with kept_before(ctx, target, edited.data):
        write_atomically(target, edited.data, confirm=confirm)
    return edited, True


def _check_unchanged(data: bytes, expected: str) -> None:
    current = hashlib.sha256(data).hexdigest()
    if current != expected:
        raise _ChangedError(current)


def _report(arguments: EditArguments, edited: EditedFile, path: Path, shown: str, was_written: bool) -> ToolOutcome:
    new_hash = hashlib.sha256(edited.data).hexdigest()
    summary = _summary(arguments, edited) if was_written else "nothing to do, the lines are like that already"
    content = "\n".join(
        [
            f"{shown}: {summary}; line delta {edited.line_delta:+d}, now {lines_in_words(edited.line_count)}",
            f"new_hash: {new_hash}",
            *_snippet(edited),
        ]
    )
    return succeeded(
        clean_text(content),
        mutation_state="attempted" if was_written else "none",
        path=clean_text(str(path)),
        new_hash=new_hash,
        lines=edited.line_count,
        line_delta=edited.line_delta,
        diff=clean_text(unified_diff(edited.old_window, edited.new_window, shown, first_line=edited.window_first)),
    )


def _summary(arguments: EditArguments, edited: EditedFile) -> str:
    old_range = _range(arguments.start_line, arguments.last_line)
    new_range = _range(edited.first, edited.first + edited.count - 1)
    if arguments.operation == "insert":
        return f"inserted {new_range}"
    return f"replaced {old_range} with {new_range}" if edited.count else f"deleted {old_range}"


def _range(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _snippet(edited: EditedFile) -> list[str]:
    lines = []
    for number, line in enumerate(edited.new_window, edited.window_first):
        text = line.removesuffix("\n")
        if len(text) > _SNIPPET_LINE_CHARS:
            text = f"{text[:_SNIPPET_LINE_CHARS]} [… cut: line {number} has {len(text)} characters]"
        lines.append(f"{number:>6}\t{text}")
    if len(lines) > _SNIPPET_LINES:
        half = _SNIPPET_LINES // 2
        lines[half:-half] = [f"   [… {len(lines) - 2 * half} lines left out]"]
    return lines


EDIT = ToolSpec(
    name="edit",
    description=(
        "Change lines of a text file that you have read: replace, insert or delete whole lines by number. hash is the "
        "hash of the file as you last saw it; the edit is refused if the file changed meanwhile. The result has "
        "new_hash for the next edit, and line numbers behind the change have moved by the line delta. Encoding, "
        "byte-order mark, line endings and all other lines stay as they are."
    ),
    arguments=EditArguments,
    handler=edit,
    mutates=True,
)
