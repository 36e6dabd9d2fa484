"""The four roles, whom they may dispatch to, and which tools they may use: policy as two tables."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

Decision = Literal["allow", "deny"]


class RoleSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One role; `alias` and `palette` are for the screen, `prompt_profile` names its file of instructions."""

    name: str
    alias: str
    user_facing: bool
    can_dispatch: bool
    dispatch_targets: tuple[str, ...]
    prompt_profile: str
    default_model_key: str
    palette: str


def _spec(name: str, alias: str, palette: str, *, user_facing: bool) -> RoleSpec:
    return RoleSpec(
        name=name,
        alias=alias,
        user_facing=user_facing,
        can_dispatch=user_facing,
        dispatch_targets=DISPATCH_TARGETS[name],
        prompt_profile=name,
        default_model_key="default",
        palette=palette,
    )


DISPATCH_TARGETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "direct": ("worker", "explorer"),
        "orchestrator": ("worker", "explorer"),
        "worker": (),
        "explorer": (),
    }
)

_EXPLORE = frozenset({"read", "code_map", "code_grep", "code_files", "code_symbols", "code_outline"})
_WEB = frozenset({"web_search", "web_fetch"})
_MEMORY = frozenset({"record", "recall", "note", "dispatch"})

TOOL_MATRIX: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "direct": _EXPLORE | _WEB | _MEMORY | {"bash", "edit", "write"},
        "orchestrator": _EXPLORE | _MEMORY | {"git"},
        "worker": _EXPLORE | _WEB | {"bash", "edit", "write", "report"},
        "explorer": _EXPLORE | _WEB | {"bash", "report"},
    }
)

ROLES: dict[str, RoleSpec] = {
    spec.name: spec
    for spec in (
        _spec("direct", "Smith", "green", user_facing=True),
        _spec("orchestrator", "Tank", "amber", user_facing=True),
        _spec("worker", "Niobe", "cyan", user_facing=False),
        _spec("explorer", "Link", "violet", user_facing=False),
    )
}


def resolve_role(name: str) -> RoleSpec | None:
    """Return the role of that name, or None."""
    return ROLES.get(name)


def list_roles() -> tuple[RoleSpec, ...]:
    """Return all roles, user-facing ones first."""
    return tuple(ROLES.values())


def check_dispatch(role: str, target: str) -> Decision:
    """Say whether `role` may dispatch a child of role `target`; an unknown role may not."""
    return "allow" if target in DISPATCH_TARGETS.get(role, ()) else "deny"


def check_tool(role: str, tool_name: str) -> Decision:
    """Say whether `role` may use the tool; unknown roles and tools are denied."""
    return "allow" if tool_name in TOOL_MATRIX.get(role, frozenset()) else "deny"


class RoleCatalog:
    """The handle `role`: the catalogue and its policy behind one object."""

    resolve_role = staticmethod(resolve_role)
    list_roles = staticmethod(list_roles)
    check_dispatch = staticmethod(check_dispatch)
    check_tool = staticmethod(check_tool)
