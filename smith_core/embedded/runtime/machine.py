"""Whether this machine can run the local model, and with how many threads."""

import os
import platform
from pathlib import Path

from smith_core.embedded.choice import available_memory_bytes
from smith_core.embedded.words import size_in_words
from smith_core.errors import AgentError

GGUF_MAGIC = b"GGUF"
"""First bytes of every weights file (GGUF specification)."""
WORKING_MEMORY_BYTES = 300_000_000
"""What is needed besides the weights: the context's cache and the buffers, measured with 8192 tokens."""

_CPU_INFO = Path("/proc/cpuinfo")
_X86_MACHINES = frozenset({"x86_64", "amd64", "i686"})


def machine_problem(machine: str | None = None, cpu_info: Path = _CPU_INFO) -> AgentError | None:
    """Return why no local model can run here, or None; an x86 processor must have AVX2."""
    if (machine or platform.machine()).lower() not in _X86_MACHINES:
        return None
    try:
        flags = next((line for line in cpu_info.read_text().splitlines() if line.startswith("flags")), "")
    except OSError:
        return None
    if not flags or "avx2" in flags.split():
        return None
    return _error(
        "no_avx2",
        "the local model cannot run here: this processor has no AVX2; connect an endpoint instead with "
        "--set llm_config.api_url=ADDRESS --model MODEL",
    )


def weights_problem(path: Path, available_bytes: int | None = None) -> AgentError | None:
    """Return why a file cannot be loaded, or None.

    available_bytes: free memory; None asks the system, and where that cannot say, nothing is held against the file.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            magic = stream.read(len(GGUF_MAGIC))
    except OSError as error:
        return _error("no_weights", f"cannot read the model file {path} ({error.strerror}); check its path")
    if magic != GGUF_MAGIC:
        return not_a_model(path)
    free = available_memory_bytes() if available_bytes is None else available_bytes
    needed = size + WORKING_MEMORY_BYTES
    if free is not None and free < needed:
        return out_of_memory(needed, free)
    return None


def not_a_model(path: Path) -> AgentError:
    """Return the error that llama.cpp cannot make a model of a file."""
    return _error(
        "wrong_weights",
        f"{path} is not a complete GGUF model file that can be loaded; install the model again or name another file",
    )


def out_of_memory(needed: int, free: int | None) -> AgentError:
    """Return the error that memory does not suffice; in bytes."""
    have = "" if free is None else f", {size_in_words(free)} are free"
    return _error(
        "out_of_memory",
        f"not enough memory for the local model: it needs {size_in_words(needed)}{have}; close other programs or "
        "choose the small model",
    )


def usable_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return os.cpu_count() or 1


def _error(code: str, message: str) -> AgentError:
    return AgentError(kind="policy", code=code, message=message, origin="embedded")
