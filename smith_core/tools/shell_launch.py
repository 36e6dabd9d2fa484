"""How a command line is handed to a shell: which shell, which arguments, which environment."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from smith_core.process import ProcessTree
from smith_core.tools.sandbox.sandboxes import Sandbox
from smith_core.tools.terminal import COLUMNS, ROWS

ARGUMENT_LIMIT = 131_072
"""Bytes from which on Linux refuses one argument of a program (MAX_ARG_STRLEN, execve(2))."""

NOBODY_ANSWERS: Mapping[str, str] = {
    "TERM": "xterm-256color",
    "COLUMNS": str(COLUMNS),
    "LINES": str(ROWS),
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "GH_PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "PSQL_PAGER": "cat",
    "DELTA_PAGER": "cat",
    "BAT_PAGER": "cat",
    "AWS_PAGER": "",
    "LESS": "-EFRX",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GH_PROMPT_DISABLED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}
"""Variables under which common programs neither page, nor open an editor, nor ask."""


def find_shell(child_env: Mapping[str, str]) -> str | None:
    """Return the path of bash, or of sh where there is no bash, or None."""
    path = child_env.get("PATH", os.defpath)
    for name in ("bash", "sh"):
        found = shutil.which(name, path=path) or shutil.which(name, path=os.defpath)
        if found:
            return found
    return None


def shell_environment(child_env: Mapping[str, str], cwd: Path) -> dict[str, str]:
    """Return the environment of a command: `child_env` and nothing else of ours, with NOBODY_ANSWERS over it."""
    return {**child_env, **NOBODY_ANSWERS, "PWD": str(cwd)}


def start_shell(
    shell: str,
    command: str,
    *,
    cwd: Path,
    child_env: Mapping[str, str],
    output_fd: int,
    script_dir: Path,
    sandbox: Sandbox | None = None,
) -> ProcessTree:
    """Start the command line, in a sandbox if there is one; raise OSError if that fails.

    A command too long for an argument is passed as an open file without a name, made in `script_dir`.
    """
    environ = shell_environment(child_env, cwd)
    with _shell_arguments(command, script_dir) as (arguments, script_fds):
        argv = [shell, *arguments]
        return ProcessTree(
            argv if sandbox is None else sandbox.wrap(argv, cwd),
            cwd=cwd,
            env=environ if sandbox is None else sandbox.environment(environ),
            output_fd=output_fd,
            pass_fds=(*script_fds, *(sandbox.descriptors if sandbox is not None else ())),
        )


@contextlib.contextmanager
def _shell_arguments(command: str, script_dir: Path) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    import tempfile

    data = command.encode()
    if len(data) < ARGUMENT_LIMIT:
        yield ["-c", command], ()
        return
    with tempfile.TemporaryFile(dir=script_dir) as script:
        script.write(data)
        script.flush()
        yield [f"/dev/fd/{script.fileno()}"], (script.fileno(),)
