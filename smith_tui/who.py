"""How a role is called and coloured on the screen."""

from smith_core.roles import ROLES


def alias_of(role: str) -> str:
    """Return a role's name on the screen; that of an unknown one is its own."""
    return ROLES[role].alias if role in ROLES else role


def palette_of(role: str) -> str:
    """Return a role's palette; an unknown role is green."""
    return ROLES[role].palette if role in ROLES else "green"
