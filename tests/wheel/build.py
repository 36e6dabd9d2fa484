"""Building the wheel, without network, with the backend that is in the lock."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("smith_core", "smith_tui")


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into `folder`."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=120)
    return next(folder.glob("*.whl"))


def missing_files(wheel: Path) -> set[str]:
    """Return the files of our packages, code and data, that the wheel lacks."""
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    wanted = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return wanted - packed
