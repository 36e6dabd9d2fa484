"""Where our files are: the folders of the XDG rules, private folders, and what makes a relative path safe."""

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from smith_core.errors import failure

APP_FOLDER = "smith"


def config_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the person's own settings, `$XDG_CONFIG_HOME/smith`."""
    return _xdg_folder("XDG_CONFIG_HOME", ".config", environ)


def data_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the store, `$XDG_DATA_HOME/smith`."""
    return _xdg_folder("XDG_DATA_HOME", ".local/share", environ)


def cache_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of what may be deleted at any time, `$XDG_CACHE_HOME/smith`."""
    return _xdg_folder("XDG_CACHE_HOME", ".cache", environ)


def state_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of logs and history, `$XDG_STATE_HOME/smith`."""
    return _xdg_folder("XDG_STATE_HOME", ".local/state", environ)


def home_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return `$HOME`, or the home folder of the user database when it is blank or relative.

    Raises AgentFailure of kind persistence when there is neither.
    """
    home = Path((os.environ if environ is None else environ).get("HOME", ""))
    if home.is_absolute():
        return home
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise failure(
            "persistence", "no_home", "your home folder is unknown: set HOME to a folder of yours", origin="paths"
        ) from None


def _xdg_folder(variable: str, below_home: str, environ: Mapping[str, str] | None) -> Path:
    # Blank counts as unset and a relative path is ignored (XDG Base Directory Specification).
    base = Path((os.environ if environ is None else environ).get(variable, ""))
    return (base if base.is_absolute() else home_dir(environ) / below_home) / APP_FOLDER


def ensure_private_dir(path: Path) -> Path:
    """Create the folder and its missing parents with mode 0700, and take group and others off an existing one.

    A file system that knows no modes is left as it is. Raises AgentFailure of kind persistence when the folder
    cannot be made.
    """
    try:
        for folder in (*reversed(path.parents), path):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise failure(
            "persistence",
            "folder_unusable",
            f"cannot make the folder {path}: {error.strerror or error}; free that place or choose another one",
            origin="paths",
        ) from error
    if mode & 0o077:
        with contextlib.suppress(OSError):
            path.chmod(mode & ~0o077)
    return path


def relative_path_problem(path: str) -> str:
    """Say in plain words why `path` could lead out of the folder that it is relative to; "" when it cannot.

    It is a check of the words alone: links are resolved by whoever opens the file.
    """
    if not path.strip():
        return "it is empty"
    if not path.isprintable():
        return "it holds control characters"
    if "\\" in path:
        return "it holds a backslash"
    if path.startswith("/"):
        return "it starts at the root of the file system"
    if path.startswith("~"):
        return "it starts at a home folder"
    if path[1:2] == ":" and path[0].isascii() and path[0].isalpha():
        return "it starts with a drive letter"
    if any(segment.strip() == ".." for segment in path.split("/")):
        return "it leads upwards with .."
    return ""
