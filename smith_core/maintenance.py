"""Looking after the store from outside of a session: check it, rebuild its index, move it to another machine."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from smith_core.errors import failure
from smith_core.store.check import JournalReport, StoreReport
from smith_core.store.faults import translate
from smith_core.store.transfer import TransferSummary

__all__ = [
    "JournalReport",
    "StoreReport",
    "TransferSummary",
    "check_store",
    "export_store",
    "import_store",
    "rebuild_index",
]

R = TypeVar("R")


def check_store(folder: Path) -> StoreReport:
    """Verify every checksum and every record below `folder`; AgentFailure of kind persistence if it cannot be read."""
    from smith_core.store import check

    return _translated(folder, lambda: check.check_store(folder))


def rebuild_index(folder: Path) -> int:
    """Make the search index below `folder` anew, and return its number of documents; AgentFailure if it cannot be."""
    from smith_core.store.search.journal_files import JournalFiles
    from smith_core.store.search.service import rebuild

    return _translated(folder, lambda: rebuild(folder, JournalFiles(folder)))


def export_store(folder: Path, target: Path) -> TransferSummary:
    """Write everything below `folder` into one file of JSON lines; AgentFailure when that fails, and then no file."""
    from smith_core.store import transfer

    return _translated(target.parent, lambda: transfer.export_store(folder, target))


def import_store(folder: Path, source: Path, *, with_settings: bool = False) -> TransferSummary:
    """Add what an export holds to the store below `folder`; AgentFailure for a file that is not a whole export.

    Its settings are taken over only `with_settings`, and only where none are stored.
    """
    from smith_core.store import transfer

    if not source.is_file():
        raise failure("persistence", "no_export", f"there is no file {source}; name one that `store export` wrote")
    return _translated(folder, lambda: transfer.import_store(folder, source, with_settings=with_settings))


def _translated(folder: Path, work: Callable[[], R]) -> R:
    try:
        return work()
    except Exception as error:  # the border of the store: people get one sentence
        raise translate(error, folder) from error
