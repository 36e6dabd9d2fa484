"""The arguments of a plain start of the app, read without the parser of the whole program, which takes long to make."""

import os
from collections.abc import Sequence

TYPE_CHECKING = False
"""Stands here because the module that has it takes longer to import than all of this one."""
if TYPE_CHECKING:
    from argparse import Namespace
else:
    from types import SimpleNamespace as Namespace

_NAMES = {"--role": "role", "--model": "model", "--config": "config", "--resume": "resume"}
_ROLES = ("direct", "orchestrator")


def read_app_start(arguments: Sequence[str]) -> "Namespace | None":
    """Return what the whole parser would make of arguments that `is_app_start` takes for a start of the app.

    None for what it would refuse, and where the working folder is gone: there are words to be said then.
    """
    values: dict[str, object] = dict.fromkeys(("command", "version", *_NAMES.values()))
    overrides: list[str] = []
    is_new = False
    left = iter(arguments)
    for word in left:
        if word == "--new":
            is_new = True
        elif word == "--set":
            overrides.append(next(left))
        else:
            values[_NAMES[word]] = next(left)
    if values["role"] not in (None, *_ROLES) or (is_new and values["resume"] is not None):
        return None
    try:
        os.getcwd()  # noqa: PTH109 - pathlib takes longer to import than all of this
    except OSError:
        return None
    return Namespace(**values, overrides=overrides, new=is_new)
