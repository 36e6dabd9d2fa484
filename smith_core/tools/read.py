"""The tool read: numbered lines of a text file, with the hash that an edit must quote."""

import hashlib
import os
from pathlib import Path
from typing import Annotated

import msgspec

from smith_core.cancel import CancelToken
from smith_core.fileedit import lines_in_words
from smith_core.linewindow import Line, LineWindow
from smith_core.plainfile import check_regular, open_regular
from smith_core.text import clean_text
from smith_core.textformat import TextDecoder
from smith_core.tools.base import MODEL_TEXT_LIMIT, ToolContext, ToolOutcome, ToolSpec, failed, succeeded
from smith_core.tools.file_access import run_in_thread, shown_path

CHUNK_BYTES = 256 * 1024
MAX_READ_BYTES = 256 * 1024 * 1024
"""Bytes of a file that is read: its hash takes all of them, which is a matter of seconds."""
MAX_LINE_CHARS = 8_000
"""Characters shown of one line: more than prose or code needs, less than a minified file has."""
PAGE_CHARS = MODEL_TEXT_LIMIT - 10_000
"""Characters of the page itself; the rest is for the lines above and below it."""
_MAX_PATH_CHARS = 180  # of a binary file, whose whole description stays within 300 characters

LineNumber = Annotated[int, msgspec.Meta(ge=1)]


class ReadArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of read."""

    path: Annotated[
        str, msgspec.Meta(description="The file: absolute, or relative to the working folder; ~ is your home.")
    ]
    start_line: Annotated[LineNumber | None, msgspec.Meta(description="First line to show, from 1. Default: 1.")] = None
    end_line: Annotated[LineNumber | None, msgspec.Meta(description="Last line to show. Default: the last one.")] = None

    def __post_init__(self) -> None:
        """Refuse a range that runs backwards."""
        if self.start_line is not None and self.end_line is not None and self.start_line > self.end_line:
            raise ValueError(f"start_line {self.start_line} is greater than end_line {self.end_line}")


class _FileView(msgspec.Struct):
    """What one pass over the whole file found out."""

    sha256: str
    size: int
    decoder: TextDecoder
    window: LineWindow


async def read(arguments: ReadArguments, ctx: ToolContext) -> ToolOutcome:
    """Show lines of a file, its line count, its encoding and the SHA-256 of all its bytes."""
    return await run_in_thread(
        lambda path: read_lines(arguments, path, ctx.cwd, ctx.cancel_token), "read", arguments.path, ctx
    )


def read_lines(
    arguments: ReadArguments, path: Path, cwd: Path, token: CancelToken, page_chars: int = PAGE_CHARS
) -> ToolOutcome:
    """Return what the tool shows of a file, at most about `page_chars` of it.

    Raises OSError, NotRegularFileError, and AgentFailure when the token is cancelled.
    """
    first = arguments.start_line or 1
    shown, full_path = shown_path(path, cwd), clean_text(str(path))
    size = check_regular(path).st_size
    if size > MAX_READ_BYTES:
        return failed(
            f"Cannot read {shown}: it has {size} bytes, and {MAX_READ_BYTES} are read at most; "
            "look at parts of it with bash (head, tail, grep, sed -n)",
            code="file_too_large",
            path=full_path,
        )
    window = LineWindow(first, arguments.end_line, max_chars=page_chars, max_line_chars=MAX_LINE_CHARS)
    view = _scan(path, window, token)
    if view.decoder.format is None:
        shown = shown if len(shown) <= _MAX_PATH_CHARS else "…" + shown[-_MAX_PATH_CHARS:]
        return succeeded(f"{shown}: binary file, {view.size} bytes\nhash: {view.sha256}", path=full_path)
    if first > max(1, window.line_count):
        return failed(
            f"Cannot read {shown} from line {first}: the file has {lines_in_words(window.line_count)}; "
            "ask for an earlier one",
            code="out_of_range",
            path=full_path,
            lines=window.line_count,
        )
    text = "\n".join([*_heading(shown, view), "", *_body(view), *_footing(view)])
    return succeeded(clean_text(text), path=full_path, lines=window.line_count)


def _scan(path: Path, window: LineWindow, token: CancelToken) -> _FileView:
    digest, decoder, size = hashlib.sha256(), TextDecoder(), 0
    with os.fdopen(open_regular(path), "rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            token.check()
            size += len(chunk)
            digest.update(chunk)
            window.feed(decoder.feed(chunk))
    window.feed(decoder.finish())
    window.finish()
    return _FileView(digest.hexdigest(), size, decoder, window)


def _heading(shown: str, view: _FileView) -> list[str]:
    window, found = view.window, view.decoder.format
    if window.lines:
        what = f"lines {window.lines[0].number}-{window.lines[-1].number} of {window.line_count}"
    else:
        what = "0 lines, the file is empty"
    facts = [what, f"{view.size} bytes", found.name if found else "", f"line endings: {_endings(window)}"]
    if window.ends_open:
        facts.append("no newline at the end")
    return [f"{shown}: {', '.join(facts)}", f"hash: {view.sha256}"]


def _endings(window: LineWindow) -> str:
    counts = [(window.lf, "LF"), (window.crlf, "CRLF"), (window.cr, "CR")]
    found = [(count, name) for count, name in counts if count]
    if len(found) > 1:
        return "mixed (" + " + ".join(f"{count} {name}" for count, name in found) + ")"
    return found[0][1] if found else "none"


def _body(view: _FileView) -> list[str]:
    return [f"{line.number:>6}\t{_line_text(line, view.decoder)}" for line in view.window.lines]


def _line_text(line: Line, decoder: TextDecoder) -> str:
    text = decoder.shown(line.text)
    if line.length == len(line.text):
        return text
    return f"{text} [… cut: line {line.number} has {line.length} characters]"


def _footing(view: _FileView) -> list[str]:
    window = view.window
    notes = []
    if window.is_full:
        notes.append(
            f"[not all is shown: go on with start_line {window.next_line}; there are {window.line_count} lines]"
        )
    if any(line.length > len(line.text) for line in window.lines):
        notes.append(f"[lines are cut after {MAX_LINE_CHARS} characters; see the rest of one with bash (cut -c)]")
    return ["", *notes] if notes else []


READ = ToolSpec(
    name="read",
    description=(
        "Show a text file with line numbers, all of it or the lines start_line to end_line, together with its line "
        "count and its hash. Pass that hash to edit. The number and the tab before each line are not part of the file."
    ),
    arguments=ReadArguments,
    handler=read,
)
