"""Makes text of a fetched body, in a process of its own that is stopped when it takes too much."""

import asyncio
import os
import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from smith_core.text import clean_text, shorten
from smith_core.tools.base import ToolContext
from smith_core.tools.foreign_text import ForeignText, without_controls
from smith_core.tools.output import HeadAndTail, Spill
from smith_core.tools.program import ProgramEnd, ProgramLimits, run_program
from smith_core.tools.web.fetched import Fetched

HTML_CHARACTERS = 4_000_000
"""Characters of HTML that are made into text: forty times what fits into a result, markup included."""

_ATTEMPTS = ((HTML_CHARACTERS, 4.0), (HTML_CHARACTERS // 16, 2.0), (0, 2.0))
"""How much is taken as HTML and for how many seconds; at the end the source as it is."""

_OUTPUT_BYTES = 40_000_000
_MEMORY_BYTES = 160 * 1024 * 1024
_PROGRAM = Path(__file__).with_name("page_reader.py")
_HEAD_SHARE = 0.8
_MAX_FACTS_BYTES = 64 * 1024


class _Facts(msgspec.Struct, frozen=True):
    charset: str = ""
    title: str = ""
    characters: int = 0


class PageText:
    """The text of a page as it comes from the page reader: facts on the first line, then the text.

    html_characters: how much of the page is taken as HTML, 0 for its source.
    """

    def __init__(self, spill_dir: Path, html_characters: int) -> None:
        self.html_characters = html_characters
        self.spill = Spill(spill_dir)
        self.text = HeadAndTail(head_share=_HEAD_SHARE)
        self._cleaner = ForeignText()
        self._first_line = b""
        self._has_text = False
        self._facts = _Facts()

    @property
    def charset(self) -> str:
        """The encoding that the page was read in."""
        return self._facts.charset

    @property
    def part_note(self) -> str:
        """What to say when not all of the page was read, or "" when it was."""
        if not 0 < self.html_characters < self._facts.characters:
            return ""
        return f"only the first {self.html_characters} of its {self._facts.characters} characters were read"

    @property
    def title(self) -> str:
        """The page's title as one line."""
        return shorten(without_controls(clean_text(self._facts.title)), 300)

    def take(self, data: bytes) -> None:
        """Take a piece of output."""
        if not self._has_text:
            self._first_line += data
            line, newline, data = self._first_line.partition(b"\n")
            if not newline or len(line) > _MAX_FACTS_BYTES:
                return
            self._has_text = True
            self._facts = _decode_facts(line)
        self.spill.add(data)
        self.text.add(self._cleaner.feed(data))

    def finish(self, end: ProgramEnd) -> bool:
        """Take the end; say whether the text is whole."""
        self.text.add(self._cleaner.finish())
        return end.ending == "exited" and end.status == 0 and bool(self._facts.charset)


async def read_page(fetched: Fetched, ctx: ToolContext) -> PageText | None:
    """Return the text of a fetched body, or None when no text can be made of it; its `spill` is to be closed.

    Raises OSError when the body cannot be handed to the page reader.
    """
    for html_characters, seconds in _ATTEMPTS if fetched.is_html else _ATTEMPTS[-1:]:
        page = PageText(ctx.spill_dir, html_characters)
        is_whole = False
        try:
            is_whole = page.finish(await _run_reader(fetched, page, ctx, seconds))
        finally:
            if not is_whole:
                page.spill.close()
        if is_whole:
            return page
        ctx.cancel_token.check()
    return None


async def _run_reader(fetched: Fetched, page: PageText, ctx: ToolContext, seconds: float) -> ProgramEnd:
    job = {"charset": fetched.charset, "address": fetched.address, "html_characters": page.html_characters}
    limits = ProgramLimits(seconds=seconds, output_bytes=_OUTPUT_BYTES, memory_bytes=_MEMORY_BYTES)
    with await asyncio.to_thread(_nameless_file, ctx.spill_dir, msgspec.json.encode(job) + b"\n", fetched.body) as file:
        argv = [sys.executable, "-I", str(_PROGRAM), str(file.fileno())]
        env = {"PATH": ctx.child_env.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
        return await run_program(argv, ctx, env=env, limits=limits, on_output=page.take, pass_fds=(file.fileno(),))


def _nameless_file(folder: Path, *parts: bytes) -> BinaryIO:
    import tempfile

    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - the caller closes it
    try:
        for part in parts:
            file.write(part)
        file.flush()
    except OSError:
        file.close()
        raise
    return file


def _decode_facts(line: bytes) -> _Facts:
    try:
        return msgspec.json.decode(line, type=_Facts)
    except (msgspec.DecodeError, UnicodeError):
        return _Facts()
