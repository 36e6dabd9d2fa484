"""Which of the two models suits this machine."""

from pathlib import Path

from smith_core.embedded.catalog import DEFAULT_MODEL, SMALL_MODEL, find_model

LOW_MEMORY_BYTES = 3_000_000_000
"""Below this much free memory the small model is taken: the default one needs 1.9 GB resident, with room to work."""

_MEMINFO = Path("/proc/meminfo")


def default_model_name(chosen: str | None = None, available_bytes: int | None = None) -> str:
    """Return the name of the model that is `chosen` (name or alias), else the one that fits into free memory.

    available_bytes: free memory; None asks the system. AgentFailure of kind schema when `chosen` is no model.
    """
    if chosen:
        return find_model(chosen).name
    free = available_memory_bytes() if available_bytes is None else available_bytes
    return SMALL_MODEL.name if free is not None and free < LOW_MEMORY_BYTES else DEFAULT_MODEL.name


def available_memory_bytes(meminfo: Path = _MEMINFO) -> int | None:
    """Return the bytes that programs can have without swapping (MemAvailable of proc_meminfo(5)); None if unknown."""
    try:
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None
