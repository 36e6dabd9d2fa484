"""Whether bubblewrap works on this machine, found out by running it, and in plain words why not."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping

import msgspec

from smith_core.patterns import later
from smith_core.text import clean_text, shorten
from smith_core.tools.program import find_program
from smith_core.tools.sandbox.arguments import ISOLATION, OWN_PROCESSES, SYSTEM

PROGRAM = "bwrap"
_CONTROLS = later("[\x00-\x1f\x7f-\x9f]+")
PROBE_S = 10.0
"""Seconds after which a probe that hangs counts as failed; it takes some milliseconds."""

_REASONS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("namespace", "uid map", "user namespaces", "clone", "setns"),
        "this system refuses user namespaces to programs like it; on Ubuntu an AppArmor profile for bwrap allows them, "
        "a container has to be started with the right to make them",
    ),
    (
        ("mount proc", "/proc"),
        "the container that Smith runs in hides parts of /proc; start it without that, for instance with "
        "--security-opt systempaths=unconfined",
    ),
    (("unknown option", "unrecognized"), "its version is too old; install one from 0.4 on"),
)
"""What its error says, in lower case, and what that means."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome: the path of a bubblewrap that works, or a sentence on why there is none."""

    program: str = ""
    problem: str = ""


def bare_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what programs of ours inside of a sandbox get of an environment: nothing that commands may not see."""
    return {"PATH": environ.get("PATH", os.defpath)}


def probe_bubblewrap(environ: Mapping[str, str]) -> Probe:
    """Run a program that does nothing in a sandbox; blocks for some milliseconds."""
    if not sys.platform.startswith("linux"):
        return Probe(problem="the sandbox needs bubblewrap, which there is for Linux only")
    program = find_program(PROGRAM, environ)
    if program is None:
        return Probe(problem="bubblewrap is not installed; install the package bubblewrap, which brings bwrap")
    nothing = find_program("true", environ) or "/bin/true"
    for network in ((), ("--unshare-net",)):
        problem = _run([program, *OWN_PROCESSES, *ISOLATION, *network, *SYSTEM, "--", nothing], environ)
        if problem:
            return Probe(problem=f"bubblewrap ({program}) does not work: {_explain(problem)}")
    return Probe(program=program)


def _explain(said: str) -> str:
    """Return what an error of bubblewrap means, followed by its own words."""
    own_words = shorten(_CONTROLS.sub("", clean_text(said)).strip().removeprefix("bwrap: "), 160)
    for signs, meaning in _REASONS:
        if any(sign in said.lower() for sign in signs):
            return f"{meaning} ({own_words})"
    return own_words


def _run(argv: list[str], environ: Mapping[str, str]) -> str:
    """Return what was wrong, "" when nothing was."""
    try:
        process = subprocess.Popen(
            argv,
            env=bare_environment(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return f"it cannot be started: {error.strerror or error}"
    try:
        _, said = process.communicate(timeout=PROBE_S)
    except subprocess.TimeoutExpired:
        return f"it did not end within {PROBE_S:g} s"
    finally:
        if process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return "" if process.returncode == 0 else said.decode("utf-8", "replace") or f"exit code {process.returncode}"
