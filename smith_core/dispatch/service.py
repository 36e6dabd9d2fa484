"""Which children a role may have, and how many at once."""

from smith_core.errors import AgentError
from smith_core.roles import DISPATCH_TARGETS, check_dispatch


class DispatchService:
    """The handle `dispatch`."""

    def __init__(self, max_parallel: int = 4) -> None:
        self.max_parallel = max_parallel

    def refuse(self, parent_role: str, target_role: str) -> AgentError | None:
        """Return why the parent may not dispatch that child, or None if it may."""
        if check_dispatch(parent_role, target_role) == "allow":
            return None
        targets = ", ".join(DISPATCH_TARGETS.get(parent_role, ())) or "nobody"
        return AgentError(
            kind="policy",
            code="dispatch_denied",
            message=f"{parent_role} may not dispatch to {target_role or 'an unnamed role'}; it may to: {targets}",
            origin="dispatch",
        )
