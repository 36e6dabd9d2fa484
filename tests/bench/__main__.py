"""`make bench`: measure every figure and print one table; the exit status is 1 if a goal was missed."""

import platform
import sys
import time

from tests.bench.code_figures import CODE_FIGURES
from tests.bench.figures import FIGURES
from tests.bench.host_figures import HOST_FIGURES
from tests.bench.inspect_figures import INSPECT_FIGURES
from tests.bench.pane_figures import PANE_FIGURES
from tests.bench.screen_figures import SCREEN_FIGURES
from tests.bench.store_figures import STORE_FIGURES
from tests.bench.window_figures import WINDOW_FIGURES


def main() -> int:
    """Run the figures named on the command line, or all of them."""
    wanted = sys.argv[1:]
    print(f"{time.strftime('%Y-%m-%d %H:%M')}, Python {platform.python_version()}, {platform.machine()}")
    missed = 0
    for measure in (
        *FIGURES,
        *HOST_FIGURES,
        *PANE_FIGURES,
        *SCREEN_FIGURES,
        *STORE_FIGURES,
        *WINDOW_FIGURES,
        *CODE_FIGURES,
        *INSPECT_FIGURES,
    ):
        if wanted and measure.__name__ not in wanted:
            continue
        figure = measure()
        missed += not figure.good
        print(f"{'✓' if figure.good else '✗'} {figure.name:<58} {figure.value:<22} {figure.goal}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
