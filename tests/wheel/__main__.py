"""`make wheel-check`: build the wheel, install it on each Python that is supported, and use it there.

Arguments: the versions (3.11 3.12 3.13). It needs the network for the dependencies; the exit status is 1 if anything
failed.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.wheel.build import build_wheel, missing_files
from tests.wheel.checks import CheckError, Installed, checks

VERSIONS = ("3.11", "3.12", "3.13")
UV = str(Path(sys.executable).parent / "uv")


def main() -> int:
    """Check all versions, one after the other."""
    with tempfile.TemporaryDirectory(prefix="smith-wheel-") as name:
        folder = Path(name)
        wheel = build_wheel(folder / "dist")
        missing = missing_files(wheel)
        print(f"{'✗' if missing else '✓'} {wheel.name} has all files {sorted(missing) or ''}", flush=True)
        results = [check_version(version, wheel, folder / version) for version in sys.argv[1:] or VERSIONS]
    return 0 if all(results) and not missing else 1


def check_version(version: str, wheel: Path, folder: Path) -> bool:
    """Install the wheel for one Python, as pipx would, and make all checks; say whether all went well."""
    python = find_python(version)
    if python is None:
        print(f"✗ {version}: this Python is not here; install it, for instance with pyenv", flush=True)
        return False
    folder.mkdir()
    started = time.monotonic()
    subprocess.run([UV, "venv", "-q", "--python", python, str(folder / "venv")], check=True)
    into = str(folder / "venv" / "bin" / "python")
    subprocess.run([UV, "pip", "install", "-q", "--python", into, str(wheel)], check=True)
    print(f"✓ {version}: installed ({time.monotonic() - started:.0f} s)", flush=True)
    went_well = True
    for name, check in checks(Installed(folder / "venv" / "bin", folder)):
        started = time.monotonic()
        try:
            check()
        except (CheckError, OSError, TimeoutError, AssertionError, subprocess.TimeoutExpired) as problem:
            went_well = False
            print(f"✗ {version}: {name}: {problem}", flush=True)
        else:
            print(f"✓ {version}: {name} ({time.monotonic() - started:.1f} s)", flush=True)
    return went_well


def find_python(version: str) -> str | None:
    """Return the interpreter of a version such as 3.12: of pyenv, or on the search path; None without one."""
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    candidates = [*sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True), f"python{version}"]
    asked = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    for candidate in map(str, candidates):
        try:
            said = subprocess.run([candidate, "-c", asked], capture_output=True, text=True, timeout=30)
        except OSError:
            continue
        if said.stdout.strip() == version:
            return candidate
    return None


if __name__ == "__main__":
    sys.exit(main())
