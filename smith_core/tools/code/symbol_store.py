"""Remembers the symbols of files that did not change since, and has the others parsed by processes side by side."""

import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from smith_core.tools.code.children import Children
from smith_core.tools.code.symbols import FileSymbols

MANY_FILES = 300
"""Files that take long enough to parse that their order matters."""

MAX_REMEMBERED = 300_000
"""Symbols kept in memory, some 100 MB; the files that were not asked for the longest are forgotten first."""

_COMMAND = (sys.executable, "-P", "-m", "smith_core.tools.code.parsing_process")
_ALONE_BYTES = 400_000  # parsed sooner than a second process has started
_MOST_PROCESSES = 4

_Version = tuple[int, int]


class SymbolStore:
    """The symbols of files by absolute path; used by the threads of many calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[_Version, FileSymbols]] = {}
        self._count = 0

    def symbols_of(
        self,
        folder: Path,
        paths: Sequence[str],
        children: Children,
        limit_s: float,
        choose_first: Callable[[], Collection[str]] = tuple,
    ) -> Mapping[str, FileSymbols]:
        """Return the symbols of files by their path relative to the folder; those not there in time are missing.

        Files that cannot be looked at are missing as well. `paths` that matter most come first; where many have to be
        parsed, `choose_first` tells which of them go before the others.
        """
        deadline = time.monotonic() + limit_s
        found: dict[str, FileSymbols] = {}
        unknown: list[tuple[str, str, _Version]] = []
        for path in paths:
            full = os.path.join(folder, path)  # noqa: PTH118 - paths by the ten thousand
            try:
                status = os.stat(full)  # noqa: PTH116
            except OSError:
                continue
            version = (status.st_mtime_ns, status.st_size)
            with self._lock:
                known = self._known.get(full)
            if known is not None and known[0] == version:
                found[path] = msgspec.structs.replace(known[1], path=path)
            else:
                unknown.append((path, full, version))
        if len(unknown) > MANY_FILES:
            first = frozenset(choose_first())
            unknown.sort(key=lambda item: item[0] not in first)
        for (path, full, version), symbols in _parse(unknown, children, deadline):
            named = msgspec.structs.replace(symbols, path=path)
            found[path] = named
            self._remember(full, version, named)
        children.check()
        return found

    def _remember(self, full: str, version: _Version, symbols: FileSymbols) -> None:
        with self._lock:
            before = self._known.pop(full, None)
            self._count += len(symbols.symbols) - (len(before[1].symbols) if before else 0)
            self._known[full] = (version, symbols)
            while self._count > MAX_REMEMBERED and len(self._known) > 1:
                oldest = next(iter(self._known))
                self._count -= len(self._known.pop(oldest)[1].symbols)


_Unknown = tuple[str, str, _Version]


def _parse(unknown: Sequence[_Unknown], children: Children, deadline: float) -> Iterable[tuple[_Unknown, FileSymbols]]:
    if not unknown:
        return ()
    size = sum(version[1] for _, _, version in unknown)
    count = 1 if size < _ALONE_BYTES else min(_MOST_PROCESSES, os.cpu_count() or 1, len(unknown))
    shares = [unknown[start::count] for start in range(count)]
    if count == 1:
        return _parse_share(shares[0], children, deadline)
    with ThreadPoolExecutor(count) as pool:
        parts = list(pool.map(lambda share: _parse_share(share, children, deadline), shares))
    return [item for part in parts for item in part]


def _parse_share(share: Sequence[_Unknown], children: Children, deadline: float) -> list[tuple[_Unknown, FileSymbols]]:
    given = b"".join(os.fsencode(full) + b"\0" for _, full, _ in share)
    decoder = msgspec.json.Decoder(FileSymbols)
    with children.run(_COMMAND, Path("/"), given) as child:
        return [
            (asked, decoder.decode(line))
            for asked, line in zip(share, child.lines(deadline - time.monotonic()), strict=False)
            if line
        ]
