"""Changes to the person's settings file: merged into what it says, all or nothing, and never over a broken file."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smith_core.atomic import PartialWriteError, ReadOnlyFileError, follow_links, write_atomically
from smith_core.config.report import describe_problem
from smith_core.config.schema import GivenTwice, deep_merge
from smith_core.config.user_file import UserFile, read_user_file
from smith_core.errors import AgentFailure, failure
from smith_core.paths import ensure_private_dir
from smith_core.plainfile import FileBusyError, NotRegularFileError, exclusively


def change_user_file(file: UserFile, changes: Mapping[str, Any]) -> None:
    """Merge `changes`, a valid partial configuration, into the settings file; null takes a value away.

    Whatever else the file says stays, also what we do not know. A new file has mode 0600, an existing one keeps its
    own. Raises AgentFailure of kind persistence; its sentence holds the lines to write by hand, and nothing was
    changed. Blocks, so call it in a thread.
    """
    if str(file.path) == os.devnull:
        raise _not_kept(file, changes, "no settings file is in use")
    try:
        target = follow_links(file.path)
        if not target.parent.is_dir():
            ensure_private_dir(target.parent)
        with exclusively(target):
            _merge_into(file, target, changes)
    except AgentFailure as caught:
        if caught.error.code == "settings_not_kept":
            raise
        raise _not_kept(file, changes, caught.error.message) from caught
    except PartialWriteError as error:
        raise _not_kept(file, changes, f"writing it broke off ({error.strerror}); look into it") from error
    except OSError as error:
        raise _not_kept(file, changes, (error.strerror or str(error)).lower()) from error
    except NotRegularFileError as error:
        raise _not_kept(file, changes, f"it is {error.what}") from error
    except ReadOnlyFileError as error:
        raise _not_kept(file, changes, "you have no permission to write to it") from error
    except FileBusyError as error:
        raise _not_kept(file, changes, "another program holds it") from error


def _merge_into(file: UserFile, target: Path, changes: Mapping[str, Any]) -> None:
    is_new = not target.exists()
    settings = read_user_file(file)
    if settings.problem is not None and not (is_new and file.is_named):
        raise _not_kept(file, changes, describe_problem(settings.problem))
    if _gives_a_key_twice(settings.candidate):
        raise _not_kept(file, changes, "it gives a key more than once")
    merged = _without_nulls(deep_merge(settings.candidate, changes), changes)
    try:
        text = json.dumps(merged, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        data = text.encode()
    except ValueError as error:
        raise _not_kept(file, changes, "it holds a number or a text that cannot be written again") from error
    _write(target, data, is_new=is_new)


def _write(target: Path, data: bytes, *, is_new: bool) -> None:
    if not is_new:
        write_atomically(target, data)
        return
    # The file that is there first decides the mode of the one that replaces it.
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        write_atomically(target, data)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _without_nulls(merged: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Take out what the changes set to null, and the tables that this leaves empty."""
    kept: dict[str, Any] = {}
    for key, value in merged.items():
        change = changes.get(key)
        if key in changes and change is None:
            continue
        if isinstance(change, Mapping):
            value = _without_nulls(value, change)
            if not value:
                continue
        kept[key] = value
    return kept


def _gives_a_key_twice(value: object) -> bool:
    if isinstance(value, GivenTwice):
        return True
    if isinstance(value, Mapping):
        return any(map(_gives_a_key_twice, value.values()))
    return isinstance(value, list) and any(map(_gives_a_key_twice, value))


def _not_kept(file: UserFile, changes: Mapping[str, Any], reason: str) -> AgentFailure:
    by_hand = json.dumps(_without_nulls(dict(changes), changes), ensure_ascii=False)
    return failure(
        "persistence",
        "settings_not_kept",
        f"{file.path} was left as it is ({reason.rstrip('.')}); write this into it by hand: {by_hand}",
        origin="config",
    )
