"""Which children a role may have, and the children of the turn that runs."""

from collections.abc import Iterable

from smith_core.cancel import CancelToken
from smith_core.errors import AgentError
from smith_core.messages import Message, MutationState, Usage
from smith_core.roles import DISPATCH_TARGETS, check_dispatch


class LiveChild:
    """What a child of the running turn has said and used so far; only its worker changes it."""

    def __init__(self, job_id: str, token: CancelToken) -> None:
        self.job_id = job_id
        self.token = token
        self.messages: list[Message] = []
        self.usage = Usage()
        self.tool_calls = 0
        self.mutation_state: MutationState = "none"
        """The worst that one of its calls has told of itself."""
        self.changing: set[str] = set()
        """The calls of tools that change things which have begun and not ended."""
        self.is_over = False


class DispatchService:
    """The handle `dispatch`."""

    def __init__(self) -> None:
        self._children: dict[str, LiveChild] = {}

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

    def begin(self, job_id: str, token: CancelToken) -> LiveChild:
        """Take a child in; it can be cancelled and looked at from here on."""
        child = self._children[job_id] = LiveChild(job_id, token)
        return child

    def cancel(self, job_id: str) -> bool:
        """Cancel one child alone; say whether it was running."""
        child = self._children.get(job_id)
        if child is None or child.is_over:
            return False
        child.token.request()
        return True

    def messages(self, job_id: str) -> tuple[Message, ...]:
        """Return what a child of the running turn has said so far, () when it has none of that id."""
        child = self._children.get(job_id)
        return tuple(child.messages) if child is not None else ()

    def children(self, job_ids: Iterable[str]) -> tuple[LiveChild, ...]:
        """Return the children of those ids that are known here, in the order of the ids."""
        return tuple(self._children[job_id] for job_id in job_ids if job_id in self._children)

    def forget(self, job_ids: Iterable[str]) -> None:
        """Let go of children whose turn is on record."""
        for job_id in job_ids:
            self._children.pop(job_id, None)
