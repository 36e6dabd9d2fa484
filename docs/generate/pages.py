"""Which page has which generated part.

In a page of the guide, what stands between `<!-- generated: NAME -->` and `<!-- end -->` is made anew; the rest is
written by hand.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from docs.generate import floors, options, tables
from docs.generate.man import man_page

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"
MAN_PAGE = ROOT / "docs" / "man" / "smith-tui.1"
PARTS: dict[str, Callable[[], str]] = {
    "settings": tables.settings,
    "keys": tables.keys,
    "commands": tables.commands,
    "roles": tables.roles,
    "providers": tables.providers,
    "local-servers": tables.local_servers,
    "embedded-models": tables.embedded_models,
    "command-line": options.command_line,
    "floors": floors.floors,
}
_PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def renewed(page: str) -> str:
    """Return a page with all its generated parts made anew; KeyError for a part that nobody makes."""
    return _PART.sub(lambda match: f"{match[1]}\n{PARTS[match[2]]()}\n\n{match[3]}", page)


def write_all() -> Iterator[Path]:
    """Write what is stale and yield its paths."""
    wanted = {path: renewed(path.read_text("utf-8")) for path in sorted(GUIDE.glob("*.md"))}
    wanted[MAN_PAGE] = man_page()
    for path, text in wanted.items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            yield path.relative_to(ROOT)
