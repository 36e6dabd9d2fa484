"""The settings that were kept by `/config set`, before the store is open: the first screen needs them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smith_core.frozen import EMPTY_MAPPING
from smith_core.store.version import GLOBAL_JOURNAL


def stored_settings_line(folder: Path) -> tuple[Path, str]:
    """Return the file below a data folder that holds the persisted patch, and what its newest line has in it."""
    from smith_core.store.peek import RECORD

    return folder / GLOBAL_JOURNAL, RECORD


def stored_settings(folder: Path) -> Mapping[str, Any]:
    """Return the persisted patch below a data folder as it is, unchecked; empty when there is none that can be read."""
    if not (folder / GLOBAL_JOURNAL).exists():
        return EMPTY_MAPPING
    from smith_core.store.peek import read_stored_overrides

    return read_stored_overrides(folder)
