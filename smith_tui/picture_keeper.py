"""Keeping a picture of the first screen for the next start: what always stands there, no word of any conversation."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smith_core.errors import AgentFailure
from smith_core.log import LOGGER
from smith_core.paths import data_dir, ensure_private_dir
from smith_core.stored_settings import stored_settings_line
from smith_tui.first_picture import NAME_END, StartKey, picture_file

if TYPE_CHECKING:
    from textual.geometry import Region
    from textual.strip import Strip
    from textual.widget import Widget

    from smith_core.config.user_file import UserFile
    from smith_tui.output.canvas import Canvas

KEPT_PICTURES = 24
"""Sizes, arguments and kinds of terminals that a person changes between."""
_PACKAGES = ("smith_core", "smith_tui")
_TOOLKIT = ("textual", "rich")


async def keep_picture(
    key: StartKey | None,
    canvas: "Canvas | None",
    user_file: "UserFile | None",
    *,
    shown: "Iterable[Widget]",
    empty: "Sequence[Widget]",
) -> None:
    """Keep what the widgets `shown` show, and the empty grounds of others, each above those before, beside the loop.

    Nothing is kept of a start that may have no picture, or whose screen has changed its size.
    """
    if key is not None and canvas is not None and user_file is not None and canvas.size == key.size:
        picture = canvas.chrome([*map(_ground_of, empty), *map(_rows_of, shown)]).encode()
        await asyncio.to_thread(write_picture, key, picture, user_file.path)


def _ground_of(widget: "Widget") -> "tuple[Region, list[Strip]]":
    from textual.strip import Strip

    region = widget.region
    return region, [Strip.blank(region.width, widget.rich_style)] * region.height


def _rows_of(widget: "Widget") -> "tuple[Region, list[Strip]]":
    region = widget.region
    return region, widget.render_lines(region.size.region)


def write_picture(key: StartKey, picture: bytes, user_file: Path) -> None:
    """Write the picture of a start with these settings. Blocks; a failure is only logged."""
    target = Path(key.path)
    temporary = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        content = picture_file(key, _dependencies(user_file), picture)
        ensure_private_dir(target.parent)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(content)
        temporary.replace(target)
        _remove_old(target.parent)
    except (AgentFailure, OSError) as error:
        LOGGER.info("no picture of the first screen was kept: %s", error)
        with contextlib.suppress(OSError):
            temporary.unlink()


def _dependencies(user_file: Path) -> Iterator[tuple[str, str]]:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and (name.partition(".")[0] in _PACKAGES or name in _TOOLKIT):
            yield file, ""
    yield str(Path(__file__).with_name("smith.tcss")), ""
    yield str(user_file), ""
    with contextlib.suppress(AgentFailure):
        journal, needle = stored_settings_line(data_dir())
        yield str(journal), needle


def _remove_old(folder: Path) -> None:
    entries = sorted(folder.iterdir(), key=lambda entry: entry.stat().st_mtime)
    # Files of other versions may hold what is not kept any more.
    foreign = [entry for entry in entries if not entry.name.endswith(NAME_END) and not entry.name.startswith(".")]
    kept = [entry for entry in entries if entry not in foreign]
    for entry in (*foreign, *kept[:-KEPT_PICTURES]):
        entry.unlink(missing_ok=True)
