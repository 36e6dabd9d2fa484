"""What stands between a tool and the machine, in sentences for a person."""

from smith_core.config.schema import ToolsConfig
from smith_core.tools.sandbox.layout import Layout
from smith_core.tools.sandbox.probe import Probe
from smith_core.tools.sandbox.sandboxes import SandboxState

PERMISSION_WORDS = {
    "auto": "tools run without a question (tools.permission is auto)",
    "ask": "each call that may change something waits for your answer (tools.permission is ask)",
    "read-only": "no tool that may change something runs (tools.permission is read-only)",
}
"""By the value of tools.permission."""


def sandbox_words(tools: ToolsConfig, state: SandboxState, probe: Probe, layout: Layout) -> str:
    """Return how commands run; the first line says it, the others what a sandbox lets them do."""
    if state == "off":
        could = "bubblewrap works here: set it to auto to use it" if probe.program else probe.problem
        return f"commands run as you would run them (tools.sandbox is off)\n{could}"
    if state == "refused":
        return f"no command runs (tools.sandbox is required)\n{probe.problem}"
    if state != "on":
        return f"commands run as you would run them, although tools.sandbox is {tools.sandbox}\n{probe.problem}"
    network = "have the network" if tools.sandbox_network == "on" else "have no network"
    writable = " and ".join(layout.writable) or "no folder of yours, for this project holds your home folder"
    return (
        f"commands run in bubblewrap ({probe.program}; tools.sandbox is {tools.sandbox})\n"
        f"they can write {writable}, and a /tmp of their own\n"
        f"they can read the rest, but for {len(layout.hidden)} places of secrets, and {network}\n"
        "read, edit, write and the code tools keep to the same places; your own !commands do not"
    )
