"""The log file that `SMITH_LOG` asks for; without it nothing is logged."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

LOGGER = logging.getLogger("smith")
LEVELS = ("debug", "info", "warning", "error")


def start_logging(environ: Mapping[str, str] = os.environ) -> str:
    """Log to the file that `SMITH_LOG` names as `path` or `path:level`; return a sentence if that cannot be done."""
    # Without any handler Python prints errors, with their tracebacks, on the terminal; also those of a full disk.
    logging.getLogger().addHandler(logging.NullHandler())
    logging.raiseExceptions = False
    wanted = environ.get("SMITH_LOG", "").strip()
    if not wanted:
        return ""
    path, _, level = wanted.rpartition(":")
    if level.lower() not in LEVELS or not path:
        path, level = wanted, "info"
    try:
        # A pipe without a reader must not hold the start up.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(Path(path).expanduser(), flags, 0o600)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        return f"SMITH_LOG: cannot write {path}: {reason}; name a file in a folder of yours"
    handler = logging.StreamHandler(os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace"))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level.upper())
    LOGGER.propagate = False
    return ""
