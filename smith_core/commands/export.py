"""The command that writes the conversation into a file."""

import asyncio
import os
import re
import time
from pathlib import Path

from smith_core.commands.context import CommandContext
from smith_core.errors import failure
from smith_core.export.conversation import EXTENSIONS, ExportForm, render
from smith_core.export.parts import ExportedConversation

FORM_NAMES: dict[str, ExportForm] = {"markdown": "markdown", "md": "markdown", "html": "html", "json": "json"}
_LONGEST_SLUG = 40
_MOST_TRIES = 100


async def export(context: CommandContext, arguments: str) -> None:
    """Write the conversation as markdown, HTML or JSON into a new file that only the person can read."""
    form, target = parse_target(arguments)
    conversation = context.services.conversation
    if not conversation.messages:
        raise failure("policy", "nothing_to_export", "there is nothing to export: this conversation is empty")
    exported = ExportedConversation(
        conversation_id=conversation.conversation_id,
        title=conversation.title,
        cwd=str(context.session.cwd),
        exported_at=time.time(),
        messages=conversation.messages,
    )
    path = await asyncio.to_thread(_write, exported, form, context.session.cwd, target)
    context.say("export", f"written: {path}")


def parse_target(arguments: str) -> tuple[ExportForm, str]:
    """Return the form and the path of "[form] [path]"; without a form the path's ending says it, else it is markdown.

    A first word that is a form is taken as one, whatever follows.
    """
    first, _, rest = arguments.partition(" ")
    if first.lower() in FORM_NAMES:
        return FORM_NAMES[first.lower()], rest.strip()
    ending = Path(arguments).suffix.lstrip(".").lower()
    return FORM_NAMES.get(ending, "markdown"), arguments.strip()


def default_name(exported: ExportedConversation, form: ExportForm) -> str:
    """Return a file name made of title and time."""
    slug = re.sub(r"[^\w]+", "-", exported.title.lower()).strip("-_")[:_LONGEST_SLUG].strip("-_")
    when = time.strftime("%Y%m%d-%H%M%S", time.localtime(exported.exported_at))
    return f"smith-{slug}-{when}.{EXTENSIONS[form]}" if slug else f"smith-{when}.{EXTENSIONS[form]}"


def _write(exported: ExportedConversation, form: ExportForm, cwd: Path, target: str) -> Path:
    """Write a new file, mode 0600, and return its path; nothing that exists is replaced."""
    data = render(exported, form).encode("utf-8", "replace")
    path = cwd / (target or default_name(exported, form))
    try:
        if target.startswith("~"):
            path = Path(target).expanduser()
        if path.is_dir():
            path /= default_name(exported, form)
        with _new_file(path, may_rename=not target) as stream:
            stream.write(data)
            return Path(stream.name)
    except FileExistsError:
        raise failure("policy", "exists", f"{path} is there already; give another name") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise failure(
            "persistence", "cannot_write", f"cannot write {path}: {reason}; name another place", origin="export"
        ) from error


class _NewFile:
    """A file that did not exist; it is taken away again when writing fails."""

    def __init__(self, descriptor: int, name: str) -> None:
        self._stream = os.fdopen(descriptor, "wb")
        self.name = name

    def __enter__(self) -> "_NewFile":
        return self

    def write(self, data: bytes) -> None:
        """Write all of it, onto the disk."""
        self._stream.write(data)
        self._stream.flush()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self._stream.close()
        finally:
            if error is not None:
                Path(self.name).unlink(missing_ok=True)


def _new_file(path: Path, *, may_rename: bool) -> _NewFile:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    for number in range(1, _MOST_TRIES):
        name = str(path if number == 1 else path.with_stem(f"{path.stem}-{number}"))
        try:
            return _NewFile(os.open(name, flags, 0o600), name)
        except FileExistsError:
            if not may_rename:
                raise
    raise failure("persistence", "no_free_name", f"no free name beside {path}; give one", origin="export")
