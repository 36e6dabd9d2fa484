"""The files that a prompt can mention: those of the project below the working folder, and folders beside it."""

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

from smith_core.cancel import new_root
from smith_core.errors import AgentFailure
from smith_core.fuzzy import PathIndex, quality
from smith_core.log import LOGGER
from smith_core.secrets import child_environment
from smith_core.session.session import Session
from smith_core.tools.base import ToolContext
from smith_core.tools.code.children import Children
from smith_core.tools.code.place import Place
from smith_core.tools.code.ripgrep import decoded_paths, list_raw_files
from smith_core.tools.file_access import PathRefusedError, resolve_path

MOST_FOUND = 50
MOST_FILES = 500_000
MOST_ENTRIES = 5_000
"""Names of one folder that are looked at."""
REFRESH_S = 10.0
"""Age from which on the list is made anew behind the next look at it."""
PAUSE_S = 1.0
MOST_WAIT_S = 30.0
"""A list is made anew in a pause of so many seconds between looks, lest it takes the time of the keys between them, or
after so many at the latest."""
_SLOW_LIST_SHARE = 40
"""A list that took long to make is kept for so many times as long."""


class ProjectFiles:
    """Lists and searches in threads; the list is made with the first look and refreshed behind later ones.

    refresh_s: the least age of a list that is refreshed. pause_s: the pause between looks that this waits for.
    """

    def __init__(self, session: Session, refresh_s: float = REFRESH_S, pause_s: float = PAUSE_S) -> None:
        self._session = session
        self._refresh_s, self._pause_s = refresh_s, pause_s
        self._index: PathIndex | None = None
        self._raw_paths: frozenset[bytes] | None = None
        self._listing: asyncio.Task[None] | None = None
        self._children: Children | None = None
        self._fresh_until = 0.0
        self._looked_at = 0.0

    def search_at_once(self, query: str) -> Sequence[str]:
        """Return what a list that is there already has in one piece; () says nothing about what there is."""
        self._refresh()
        if self._index is None or _leads_elsewhere(query):
            return ()
        return self._index.search(query.removeprefix("./"), MOST_FOUND, in_one_piece=True)

    async def search(self, query: str) -> Sequence[str]:
        """Return the paths that fit, the best first, relative to the working folder; folders end with a slash.

        A query that begins like a path to elsewhere gives what is in that folder.
        """
        if _leads_elsewhere(query):
            return await asyncio.to_thread(entries_of, query, self._session.cwd)
        self._refresh()
        if self._index is None and self._listing is not None:
            await asyncio.shield(self._listing)
        found, index = self.search_at_once(query), self._index
        if found or index is None:
            return found
        return await asyncio.to_thread(index.search, query.removeprefix("./"), MOST_FOUND)

    def _refresh(self) -> None:
        """Make the list, or make it anew when it has become old; what is there is used until then."""
        self._looked_at = time.monotonic()
        if self._looked_at >= self._fresh_until and self._listing is None:
            self._listing = asyncio.create_task(self._list())

    async def aclose(self) -> None:
        """End what runs."""
        if self._listing is None:
            return
        if self._children is not None:
            self._children.end()
        else:
            self._listing.cancel()
        await asyncio.wait({self._listing})

    async def _list(self) -> None:
        begin = time.monotonic()
        try:
            if self._index is not None:
                begin = await self._pause(begin)
            context = await self._context()
            self._children = Children(context.child_env, context.spill_dir)
            await asyncio.to_thread(self._make_index, context, self._children)
        except AgentFailure as caught:
            LOGGER.info("the files could not be listed: %s", caught.error.message)
        except OSError as error:
            LOGGER.info("the files could not be listed: %s", error)
        finally:
            now = time.monotonic()
            self._fresh_until = now + max(self._refresh_s, _SLOW_LIST_SHARE * (now - begin))
            self._children = self._listing = None

    async def _pause(self, now: float) -> float:
        """Wait for a pause between looks and return the time."""
        end = now + MOST_WAIT_S
        while (left := min(end, self._looked_at + self._pause_s) - now) > 0:
            await asyncio.sleep(left)
            now = time.monotonic()
        return now

    def _make_index(self, context: ToolContext, children: Children) -> None:
        # A refresh takes its time, so that whoever types meanwhile does not notice it.
        listed = list_raw_files(Place(context.cwd), context, children, threads=0 if self._index is None else 1)
        raw_paths = frozenset(listed[:MOST_FILES])
        if raw_paths != self._raw_paths:
            index = PathIndex(decoded_paths(raw_paths))
            index.prepare()
            self._index, self._raw_paths = index, raw_paths

    async def _context(self) -> ToolContext:
        session = self._session
        scope = session.scope if session.scope.project.project_id else await session.recompute_turn_scope()
        return ToolContext(
            call_id="",
            role=session.active_role,
            turn_id="",
            cancel_token=new_root(),
            cwd=session.cwd,
            project=scope.project,
            emit_output=lambda chunk: None,
            child_env=child_environment(session.services.config.effective),
            spill_dir=session.spill_dir,
        )


def _leads_elsewhere(query: str) -> bool:
    return query.startswith(("/", "~", "../")) or query == ".."


def entries_of(query: str, cwd: Path, *, as_begun: bool = False) -> list[str]:
    """Return what fits in the folder that a path leads to, written as the query begins; () when there is no folder.

    as_begun: names that begin so, case ignored, as in a shell; else also those that fit in another way.
    """
    typed, slash, name = query.rpartition("/")
    typed += slash
    if not slash and (query == ".." or query.startswith("~")):
        return [f"{query}/"]
    try:
        folder = resolve_path(typed or ".", cwd)
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.is_dir()) for entry, _ in zip(entries, range(MOST_ENTRIES), strict=False)]
    except (OSError, ValueError, PathRefusedError):
        return []
    if not name.startswith("."):
        found = [(entry, is_folder) for entry, is_folder in found if not entry.startswith(".")]
    if as_begun:
        found = [row for row in found if row[0].casefold().startswith(name.casefold())]
    rated = [(quality(name, entry) if name else 1, entry, is_folder) for entry, is_folder in found]
    rated = sorted((row for row in rated if row[0]), key=lambda row: (-row[0], not row[2], row[1]))
    return [f"{typed}{entry}{'/' if is_folder else ''}" for _, entry, is_folder in rated[:MOST_FOUND]]


def programs_in(search_path: str) -> dict[str, str]:
    """Return the programs of a PATH in the order of their names, each with its folder; the first folder wins."""
    found: dict[str, str] = {}
    for folder in dict.fromkeys(search_path.split(os.pathsep)):
        if not folder.startswith("/"):
            continue  # it means another place in each working folder
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if os.access(entry.path, os.X_OK) and not entry.is_dir()]
        except OSError:
            continue
        for name in names:
            found.setdefault(name, folder)
    return dict(sorted(found.items()))
