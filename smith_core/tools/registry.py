"""The tools that exist, and the two gates that each must pass before a role is offered it."""

from smith_core.errors import AgentError
from smith_core.llm.protocol import ToolDefinition
from smith_core.roles import check_tool
from smith_core.tools.base import ToolSpec


class ToolRegistry:
    """Specs by name; changed only while services are composed."""

    def __init__(self, specs: tuple[ToolSpec, ...] = ()) -> None:
        self._specs: dict[str, ToolSpec] = {}
        for spec in specs:
            self.register(spec)

    def register(self, spec: ToolSpec) -> None:
        """Add a tool, or replace the one of the same name."""
        self._specs[spec.name] = spec

    def get(self, name: str) -> ToolSpec | None:
        """Return the tool of that name, whoever may use it."""
        return self._specs.get(name)

    def list(self, role: str | None = None) -> tuple[ToolSpec, ...]:
        """Return the tools open to a role, or all of them."""
        return tuple(spec for spec in self._specs.values() if role is None or is_open(spec, role))

    def resolve(self, name: str, role: str) -> ToolSpec | AgentError:
        """Return the tool if the role may use it; else an error that lists those it may use."""
        spec = self._specs.get(name)
        if spec is not None and is_open(spec, role):
            return spec
        open_names = ", ".join(sorted(spec.name for spec in self.list(role))) or "none"
        if spec is None and check_tool(role, name) == "deny":
            words = f"there is no tool named {name!r}" if name else "the call names no tool"
            return AgentError(
                kind="tool", code="unknown_tool", message=f"{words}; your tools are: {open_names}", origin="registry"
            )
        return AgentError(
            kind="policy",
            code="tool_denied",
            message=f"the role {role} may not use {name}; your tools are: {open_names}",
            origin="registry",
        )

    def llm_specs(self, role: str) -> tuple[ToolDefinition, ...]:
        """Return what is offered to the model in that role."""
        return tuple(
            ToolDefinition(name=spec.name, description=spec.description, parameters=spec.schema)
            for spec in self.list(role)
        )


def is_open(spec: ToolSpec, role: str) -> bool:
    """Whether both gates, the role matrix and the tool's own lists, let the role use the tool."""
    if check_tool(role, spec.name) == "deny" or role in spec.role_denylist:
        return False
    return spec.role_allowlist is None or role in spec.role_allowlist
