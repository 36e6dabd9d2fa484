"""What read, edit and write share: finding the file that a path means, and saying in one sentence why not."""

import asyncio
import contextlib
import errno
import itertools
import os
import unicodedata
import urllib.parse
from collections.abc import Callable
from pathlib import Path

from smith_core.atomic import PartialWriteError, ReadOnlyFileError
from smith_core.cancel import CANCELLED
from smith_core.errors import AgentFailure
from smith_core.fileedit import EditRefusedError
from smith_core.plainfile import FileBusyError, NotRegularFileError
from smith_core.text import clean_text
from smith_core.tools.base import ToolContext, ToolOutcome, failed
from smith_core.tools.sandbox.reach import OutOfReachError, layout_of, reached

_LISTED_NAMES = 5_000
_SUGGESTIONS = 3
_QUOTES = "'\"`"

_REASONS = {
    errno.EACCES: "permission denied; look at the mode and the owner with ls -l, also of the folders above",
    errno.EPERM: "the system does not permit it; look at the owner and the attributes (ls -l, lsattr)",
    errno.EROFS: "the file system is mounted read-only; choose another folder",
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.EFBIG: "the file would be larger than the system permits; write less",
    errno.ENAMETOOLONG: "the path is too long; a name has at most 255 bytes and a path 4095",
    errno.ELOOP: "its symbolic links form a loop; set the link anew with ln -sfn",
    errno.ENOTDIR: "a part of the path is a file and not a folder; check the path",
    errno.EISDIR: "it is a folder; name a file in it",
    errno.EMFILE: "too many files are open; try again in a moment",
    errno.EIO: "the disk reports an error; check the drive",
}


_EXPECTED = (OSError, NotRegularFileError, FileBusyError, ReadOnlyFileError, EditRefusedError)


class PathRefusedError(Exception):
    """The path cannot name a file; the message is a sentence without its full stop."""


def resolve_path(raw: str, cwd: Path) -> Path:
    """Return the absolute path that a model's `raw` means; `~` and a relative path are resolved.

    A path that exists letter for letter wins. Otherwise quotes or blanks around it and a file:// in front are taken
    off, and a name in the other Unicode composition (NFC, NFD) is found. Raises PathRefusedError.
    """
    meant = _unwrapped(raw)
    if not meant:
        raise PathRefusedError("the path is empty; name a file")
    if "\0" in raw or "\0" in meant:
        raise PathRefusedError("the path holds a NUL character, which no file name can have")
    try:
        os.fsencode(raw)
    except UnicodeEncodeError:
        raise PathRefusedError("the path holds half of a character (a lone surrogate); give it whole") from None
    forms = (raw, meant, *(unicodedata.normalize(form, meant) for form in ("NFC", "NFD")))
    paths = [Path(cwd, os.path.expanduser(form)) for form in forms]  # noqa: PTH111 - Path.expanduser raises for ~nobody
    path = next((path for path in paths if os.path.lexists(path)), paths[1])
    if meant.endswith("/") and not path.is_dir():
        raise PathRefusedError("the path ends in / and so means a folder; name a file")
    return path


def _unwrapped(raw: str) -> str:
    path = raw.strip()
    if len(path) > 1 and path[0] in _QUOTES and path[0] == path[-1]:
        path = path[1:-1]
    if path.lower().startswith("file://"):
        address = urllib.parse.urlsplit(path)
        if address.netloc in ("", "localhost"):
            path = urllib.parse.unquote(address.path)
    return path


def shown_path(path: Path, cwd: Path) -> str:
    """Return the path as a person would write it from `cwd`: relative inside of it, absolute outside."""
    inside = path.is_relative_to(cwd) and path != cwd
    return clean_text(str(path.relative_to(cwd) if inside else path))


def describe_missing(path: Path, cwd: Path) -> str:
    """Return a sentence on a file that does not exist, with the names in its folder that come nearest."""
    folder, wanted = path.parent, path.name
    what = f"there is no file {shown_path(path, cwd)}"
    while not folder.is_dir() and folder != folder.parent:
        folder, wanted = folder.parent, folder.name
    if folder != path.parent:
        what = f"{what}, nor a folder {shown_path(folder / wanted, cwd)}"
    near = _nearest_names(folder, wanted)
    if near:
        return f"{what}; did you mean {' or '.join(shown_path(folder / name, cwd) for name in near)}?"
    return f"{what}; look for the name with code_files or bash"


def _nearest_names(folder: Path, wanted: str) -> list[str]:
    import difflib

    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in itertools.islice(entries, _LISTED_NAMES)]
    except OSError:
        return []
    by_folded = {name.casefold(): name for name in sorted(names)}
    near = difflib.get_close_matches(wanted.casefold(), by_folded, n=_SUGGESTIONS, cutoff=0.6)
    return [by_folded[name] for name in near]


def explain(error: Exception, verb: str, path: Path, cwd: Path) -> str:
    """Return one sentence on why `verb` (read, edit, write) failed for `path`, and what to do."""
    shown = shown_path(path, cwd)
    if isinstance(error, NotRegularFileError) and error.is_folder:
        reason = "it is a folder; list it with bash (ls) or code_files, and name a file in it"
    elif isinstance(error, NotRegularFileError):
        reason = f"it is {error.what} and no regular file; use bash if you need it"
    elif isinstance(error, ReadOnlyFileError):
        reason = "it is read-only; if you mean to change it, make it writable first with bash (chmod u+w)"
    elif isinstance(error, PartialWriteError):
        reason = f"{error.strerror} half-way, so its content may be damaged; look at it, and write it anew"
    elif isinstance(error, FileBusyError):
        reason = "another program has locked it; try again in a moment"
    elif isinstance(error, FileNotFoundError) and verb != "write" and not os.path.lexists(path):
        return f"Cannot {verb} it: {describe_missing(path, cwd)}"
    elif isinstance(error, FileNotFoundError) and path.exists() and verb not in ("write", "edit"):
        reason = "it was replaced at this moment; try again"
    elif isinstance(error, FileNotFoundError) and (verb == "write" or path.exists()):
        # A change is written beside the file first.
        reason = "its folder takes no new files, like those below /proc; use bash if you mean to write into it"
    elif isinstance(error, FileNotFoundError):
        reason = f"it is a link to {_link_text(path)}, which does not exist"
    elif isinstance(error, OSError):
        reason = _REASONS.get(error.errno or 0) or error.strerror or type(error).__name__
    else:
        reason = str(error)
    return f"Cannot {verb} {shown}: {reason}"


def _link_text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return clean_text(str(path.readlink()))
    return "a file"


async def run_in_thread(work: Callable[[Path], ToolOutcome], verb: str, raw_path: str, ctx: ToolContext) -> ToolOutcome:
    """Run blocking `work` on the resolved path off the event loop; expected failures come back as an outcome."""
    layout = await layout_of(ctx)

    def guarded() -> ToolOutcome:
        path = Path(raw_path)
        try:
            path = resolve_path(raw_path, ctx.cwd)
            return work(path if layout is None else reached(layout, path, writes=verb != "read"))
        except AgentFailure as failure:
            if failure.error is not CANCELLED:
                raise
            return ToolOutcome(ok=False, content=f"[cancelled before the {verb}]", error=CANCELLED, cancelled=True)
        except PathRefusedError as error:
            return failed(f"Cannot {verb} it: {error}", code="bad_path")
        except OutOfReachError as error:
            return failed(f"Cannot {verb} {shown_path(path, ctx.cwd)}: {error}", code="out_of_reach", kind="policy")
        except _EXPECTED as error:
            return failed(
                explain(error, verb, path, ctx.cwd),
                code="not_found" if isinstance(error, FileNotFoundError) else "file_error",
                mutation_state="unknown" if isinstance(error, PartialWriteError) else "none",
                path=clean_text(str(path)),
            )

    return await asyncio.to_thread(guarded)
