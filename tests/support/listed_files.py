"""Lists the files of a folder for a watch, without a program."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def files_of(root: Path) -> Callable[[], Iterator[str]]:
    """Return what yields the paths of all files below a folder, relative to it."""

    def listed() -> Iterator[str]:
        for folder, _, names in os.walk(root):
            yield from (os.path.relpath(f"{folder}/{name}", root) for name in names)

    return listed
