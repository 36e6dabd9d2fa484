"""What is said after a mistake has ended the app, and the file that holds the rest."""

import os
import time
import traceback

from smith_core.errors import AgentFailure
from smith_core.paths import ensure_private_dir, state_dir


def crash_sentence(error: Exception) -> str:
    """Write the traceback to a private file and return one sentence that names it; a failure has its own sentence."""
    if isinstance(error, AgentFailure):
        return error.error.message
    what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    sentence = f"smith-tui stopped because of a mistake in it ({what!r})"
    try:
        path = ensure_private_dir(state_dir()) / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.writelines(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - the sentence is worth more than the file
        return f"{sentence}; please report it, and start again"
    return f"{sentence}; please report it with {path}, and start again"
