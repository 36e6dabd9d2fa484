"""The sample project of the tour: made in a temporary folder, with one mistake in it, and removed at the end."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smith_core.errors import failure

PRICES_FILE = "prices.py"
WRONG_LINE = "    return sum(prices) * (1 + discount / 100)"
RIGHT_LINE = "    return sum(prices) * (1 - discount / 100)"

_FILES = {
    PRICES_FILE: f'''"""Prices of a small shop."""


def total(prices, discount=0):
    """Return the sum of the prices, less the discount in percent."""
{WRONG_LINE}


if __name__ == "__main__":
    print(total([10, 20], discount=50))
''',
    # The second test fails even when the discount is right: floating-point sums are not exact.
    "test_prices.py": """import unittest

from prices import total


class TotalTest(unittest.TestCase):
    def test_half_price(self):
        self.assertEqual(total([10, 20], discount=50), 15)

    def test_cents(self):
        self.assertEqual(total([1.1, 2.2]), 3.3)


if __name__ == "__main__":
    unittest.main()
""",
    "README.md": "A sample project for the tour of Agent Smith. It is removed when the tour ends.\n",
}


@contextmanager
def sample_project() -> Iterator[Path]:
    """Give the folder of a new sample project; AgentFailure of kind persistence when it cannot be made."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="smith-tour-")).resolve()
    except OSError as error:
        raise failure(
            "persistence",
            "no_temporary_folder",
            f"the tour needs a temporary folder ({error.strerror or error}); set TMPDIR to a folder of yours",
            origin="tour",
        ) from error
    try:
        project = folder / "shop"
        _fill(project)
        yield project
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(project: Path) -> None:
    try:
        project.mkdir()
        for name, text in _FILES.items():
            (project / name).write_text(text)
    except OSError as error:
        raise failure(
            "persistence",
            "tour_not_written",
            f"the sample project of the tour cannot be written ({error.strerror or error}); free some disk space",
            origin="tour",
        ) from error
    _put_under_git(project)


def _put_under_git(project: Path) -> None:
    """Make it a repository where git is to be had; the tour works without."""
    identity = ("-c", "user.name=tour", "-c", "user.email=tour@localhost", "-c", "commit.gpgsign=false")
    for command in (("init", "-q", "-b", "main"), ("add", "."), (*identity, "commit", "-qm", "A shop with a mistake")):
        try:
            subprocess.run(("git", *command), cwd=project, check=True, capture_output=True, timeout=20)
        except (OSError, subprocess.SubprocessError):
            return
