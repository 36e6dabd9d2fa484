"""Folders of generated and of real code, and paths to look for."""

import atexit
import random
import shutil
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

FILES = 50_000
_BODIES = {
    "py": "def {name}(a, b):\n    return {other}(a) + b\n",
    "js": "function {name}(a, b) {{\n  return {other}(a) + b;\n}}\n",
    "go": "func {name}(a int, b int) int {{\n\treturn {other}(a) + b\n}}\n",
    "c": "int {name}(int a, int b) {{\n  return {other}(a) + b;\n}}\n",
}
VERBS = ("get", "set", "load", "save", "make", "read", "parse", "open")
NOUNS = ("User", "File", "Page", "Node", "Item", "Path")


@cache
def tree() -> Path:
    """Return a folder with 50,000 files of four languages in 500 folders, 41 MB, made anew for each run."""
    root = Path(tempfile.mkdtemp(prefix="smith-bench-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    folder = root / "tree"
    rng = random.Random(1)
    for number in range(FILES):
        place = folder / f"pkg{number // 100 % 25}" / f"mod{number // 100}"
        if number % 100 == 0:
            place.mkdir(parents=True)
        ending, body = tuple(_BODIES.items())[number % 4]
        text = "\n".join(body.format(name=f"{_name(rng)}{number}x{k}", other=_name(rng)) for k in range(12))
        (place / f"f{number % 100}.{ending}").write_text(text)
    return folder


def _name(rng: random.Random) -> str:
    return f"{rng.choice(VERBS)}{rng.choice(NOUNS)}{rng.choice(('Name', 'List', 'Map', 'Set', ''))}"


@cache
def library() -> Path:
    """Return a copy of Python's own library, without what is installed into it."""
    root = Path(tempfile.mkdtemp(prefix="smith-bench-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    left_out = shutil.ignore_patterns("site-packages", "__pycache__", "*.so", "*.a")
    return Path(shutil.copytree(sysconfig.get_paths()["stdlib"], root / "library", symlinks=True, ignore=left_out))
