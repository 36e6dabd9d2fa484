"""Runs git so that it only reads: nothing that a repository's configuration names is started or fetched.

A configuration can name programs in many places: pager, external diff, textconv, fsmonitor, hooks, filters, merge
drivers, gpg, ssh, remote helpers. Settings on the command line win over all files, so each place is set there; those
with names that anybody can choose are listed first and then set one by one.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import copy2

from smith_core.checkout import find_checkout
from smith_core.tools.git_options import GitCall

_KEPT_VARIABLES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")

_VARIABLES: Mapping[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
    "LC_ALL": "C",
    "LANGUAGE": "",
}

_SETTINGS: Mapping[str, str] = {
    # Programs
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.sshCommand": "false",
    "core.askPass": "",
    "core.alternateRefsCommand": "",
    "credential.helper": "",
    "diff.external": "",
    "gpg.program": "/dev/null",
    "gpg.openpgp.program": "/dev/null",
    "gpg.x509.program": "/dev/null",
    "gpg.ssh.program": "/dev/null",
    "log.showSignature": "false",
    "log.diffMerges": "separate",
    "protocol.allow": "never",
    # Other repositories inside this one, whose configurations these settings do not reach
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "diff.submodule": "short",
    "diff.ignoreSubmodules": "dirty",
    # Files that are read as a whole, which could be endless
    "diff.orderFile": "/dev/null",
    "blame.ignoreRevsFile": "",
    "mailmap.file": "",
    # Writing, and a shape that does not depend on anybody's taste
    "core.splitIndex": "false",
    "core.quotePath": "false",
    "color.ui": "false",
    "color.status": "false",
    "blame.coloring": "none",
    "column.ui": "never",
    "advice.statusHints": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "status.displayCommentPrefix": "false",
}

_FORCED: Mapping[str, tuple[str, ...]] = {
    "status": ("--ignore-submodules=dirty", "--no-column"),
    "log": ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=dirty"),
    "diff": ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=dirty"),
    "show": ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=dirty"),
    "blame": ("--no-textconv", "--no-ext-diff"),
}


def list_settings_argv(git: str) -> list[str]:
    """Return the command that lists the names of all settings in effect; it runs none of them."""
    return [git, "--no-pager", "config", "--list", "--name-only", "-z"]


def named_programs(listed: str) -> dict[str, str]:
    """Return settings that disarm the filters and hooks among the names that `list_settings_argv` printed."""
    disarmed: dict[str, str] = {}
    for key in listed.split("\0"):
        section, _, rest = key.partition(".")
        name, _, variable = rest.rpartition(".")
        if section.lower() == "filter" and variable.lower() in ("clean", "smudge", "process"):
            disarmed |= {key: "", f"filter.{name}.required": "false"}
        elif section.lower() == "hook" and name:
            disarmed |= {f"hook.{name}.event": "", f"hook.{name}.enabled": "false"}
    return disarmed


def git_environment(child_env: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of git: no variable of its own but ours, and `settings` above every configuration file."""
    kept = {name: value for name, value in child_env.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES}
    above = list({**_SETTINGS, **settings}.items())
    kept |= {f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in enumerate(above)}
    kept |= {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(above)}
    return {**kept, **_VARIABLES, "GIT_CONFIG_COUNT": str(len(above))}


def git_argv(git: str, call: GitCall) -> list[str]:
    """Return the command line of a checked call; the options that keep it harmless come last and so win."""
    has_format = any(word.startswith(("--format", "--pretty", "--oneline")) for word in call.options)
    default_format = ["--pretty=medium"] if call.subcommand in ("log", "show") and not has_format else []
    argv = [git, "--no-pager", "--no-optional-locks", call.subcommand, *default_format, *call.options]
    argv += [*_FORCED[call.subcommand], *call.names]
    return argv if call.paths is None else [*argv, "--", *call.paths]


def outside_path(names: Iterable[str], cwd: Path) -> str:
    """Return the first name that leads to a file outside of the repository around `cwd`, or ""."""
    folder = os.path.realpath(cwd)
    checkout = find_checkout(folder)
    root = folder if checkout is None else checkout.root
    for name in names:
        path = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118 - `..` must go before links are followed
        if path != root and not path.startswith(f"{root.rstrip('/')}/") and os.path.lexists(path):
            return name
    return ""


@contextmanager
def index_copy(cwd: Path, scratch: Path) -> Iterator[dict[str, str]]:
    """Yield variables that make git use a locked copy of the index: `git diff` would write what it refreshed."""
    checkout = find_checkout(os.path.realpath(cwd))
    index = Path(checkout.git_dir, "index") if checkout else None
    if index is None or not index.is_file():
        yield {}
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="git-", dir=scratch) as folder:
        copied = Path(folder, "index")
        # With its times, by which git knows which entries it must look at again.
        copy2(index, copied)
        copied.with_suffix(".lock").touch()
        yield {"GIT_INDEX_FILE": str(copied)}
