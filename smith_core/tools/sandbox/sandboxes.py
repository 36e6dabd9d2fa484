"""The sandbox of a session: whether there is one is found out once, and where it may write is fixed once."""

import asyncio
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from smith_core.config.schema import ToolsConfig
from smith_core.errors import failure
from smith_core.log import LOGGER
from smith_core.paths import ensure_private_dir
from smith_core.patterns import later
from smith_core.tools.sandbox.arguments import INSIDE, Namespaces, sandbox_arguments
from smith_core.tools.sandbox.keeper import START_S, Keeper
from smith_core.tools.sandbox.layout import TEMPORARY, Layout, plan_layout
from smith_core.tools.sandbox.probe import Probe, bare_environment, probe_bubblewrap

SandboxState = Literal["off", "on", "missing", "refused", "unknown"]
"""Not wanted; working; not working, so commands run without; required and not working; not tried yet."""

TEMPORARY_NAME = "sandbox-tmp"

_SIGNS = later(
    r"read-only file system|permission denied|operation not permitted|EROFS|EACCES|EPERM|OS error (?:1|13|30)\b",
    re.IGNORECASE,
)
_NETWORK_SIGNS = later(
    r"could(?: not|n't) resolve|name resolution|name or service not known|network is unreachable|ENETUNREACH|EAI_AGAIN"
    r"|connection refused|cannot assign requested address|getaddrinfo",
    re.IGNORECASE,
)


class Sandbox(msgspec.Struct, frozen=True, kw_only=True):
    """A sandbox that works; `program` is bubblewrap's path, joined: the processes that commands can see."""

    program: str
    layout: Layout
    joined: Namespaces | None = None

    def wrap(self, argv: Sequence[str], cwd: Path) -> list[str]:
        """Return the argument vector that runs `argv` inside."""
        return [self.program, *sandbox_arguments(self.layout, self.joined), "--chdir", str(cwd), "--", *argv]

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What bubblewrap has to inherit."""
        return () if self.joined is None else self.joined.descriptors

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return an environment as it has to be inside."""
        return {**environ, **INSIDE}

    def note_on(self, output: str) -> str:
        """Return a line on the sandbox if a failed command seems to have met it, else ""."""
        if output.startswith("bwrap: "):
            return "[sandboxed: the sandbox could not be set up for this command, so it was not run]"
        layout = self.layout
        no_network = not layout.has_network and _NETWORK_SIGNS.search(output) is not None
        if not no_network and not _SIGNS.search(output) and not any(path in output for path in layout.hidden):
            return ""
        places = " and ".join([*layout.writable, *(["/tmp"])])
        network = "" if layout.has_network else ", and there is no network"
        return f"[sandboxed: only {places} can be written, and secrets cannot be read{network}]"


class Sandboxes:
    """Gives the sandbox for commands; used on one event loop.

    spill_dir: stays readable inside; the private temporary folder of all commands is made in it. environ: of this
    process. probe: tries whether there can be a sandbox; called once, in a thread. replaced: as in Layout.
    """

    def __init__(
        self,
        spill_dir: Path,
        environ: Mapping[str, str] | None = None,
        probe: Callable[[Mapping[str, str]], Probe] = probe_bubblewrap,
        replaced: tuple[str, ...] = TEMPORARY,
    ) -> None:
        self._spill_dir = spill_dir
        self._environ = os.environ if environ is None else environ
        self._try = probe
        self._trying: asyncio.Task[Probe] | None = None
        self._replaced = replaced
        self._layout: Layout | None = None
        self._keeper: Keeper | None = None
        self._can_share = True
        self._one_at_a_time = asyncio.Lock()

    async def probe(self) -> Probe:
        """Return whether bubblewrap works here."""
        if self._trying is None:
            self._trying = asyncio.create_task(asyncio.to_thread(self._try, self._environ))
        return await asyncio.shield(self._trying)

    async def look(self, tools: ToolsConfig) -> SandboxState:
        """Find out how it stands under these settings."""
        if tools.sandbox != "off":
            await self.probe()
        return self.state(tools)

    def state(self, tools: ToolsConfig) -> SandboxState:
        """Return how it stands under these settings, as far as it is known."""
        if tools.sandbox == "off":
            return "off"
        if self._trying is None or not self._trying.done():
            return "unknown"
        if self._trying.result().program:
            return "on"
        return "refused" if tools.sandbox == "required" else "missing"

    async def sandbox(self, tools: ToolsConfig, root: str) -> Sandbox | None:
        """Return the sandbox for commands in a project, None where they run without one.

        Raises AgentFailure of kind policy when one is required and cannot be had, of kind persistence when it has no
        place for temporary files.
        """
        if tools.sandbox == "off":
            return None
        probe = await self.probe()
        if not probe.program:
            if tools.sandbox == "required":
                raise failure(
                    "policy",
                    "no_sandbox",
                    f"bash was not run: tools.sandbox is required, and {probe.problem}. The person can mend that, or "
                    "allow commands without a sandbox with /config set tools.sandbox auto",
                    origin="sandbox",
                )
            return None
        async with self._one_at_a_time:
            layout = await self.plan(root)
            joined = await self._join(probe.program, layout)
        has_network = tools.sandbox_network == "on"
        return Sandbox(
            program=probe.program,
            layout=msgspec.structs.replace(layout, has_network=has_network),
            joined=joined,
        )

    async def aclose(self) -> None:
        """End every process that is left in the sandbox."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            await asyncio.to_thread(keeper.close)

    async def plan(self, root: str) -> Layout:
        """Return the layout, the same one for ever: what commands change in the project must not widen it.

        Raises AgentFailure of kind persistence when there is no place for temporary files.
        """
        if self._layout is None:
            temporary = ensure_private_dir(self._spill_dir / TEMPORARY_NAME)
            layout = await asyncio.to_thread(plan_layout, root, self._environ, self._spill_dir, temporary)
            self._layout = msgspec.structs.replace(layout, replaced=self._replaced)
        return self._layout

    async def _join(self, program: str, layout: Layout) -> Namespaces | None:
        """Return what lets commands see each other's processes, None where bubblewrap is too old for that."""
        if self._keeper is not None and not self._keeper.is_alive:
            await self.aclose()
        if self._keeper is None and self._can_share:
            keeper: Keeper | None = None
            try:
                keeper = Keeper([program, *sandbox_arguments(layout)], self._environ)
                joined = await asyncio.to_thread(keeper.open_namespaces)
                await asyncio.to_thread(self._try_to_join, program, layout, joined)
                self._keeper = keeper
            except (OSError, subprocess.SubprocessError) as error:
                LOGGER.warning("commands in the sandbox cannot share their processes: %s", error)
                self._can_share = False
                if keeper is not None:
                    await asyncio.to_thread(keeper.close)
        return self._keeper.open_namespaces() if self._keeper is not None else None

    def _try_to_join(self, program: str, layout: Layout, joined: Namespaces) -> None:
        argv = [program, *sandbox_arguments(layout, joined), "--", "true"]
        subprocess.run(
            argv,
            env=bare_environment(self._environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=joined.descriptors,
            timeout=START_S,
            check=True,
        )
