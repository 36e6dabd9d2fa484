"""Whether a process is still there."""

import subprocess
import time
from pathlib import Path

import psutil


def is_alive(pid: int) -> bool:
    """Say whether a process runs; a zombie that nobody has reaped yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until_over(pid: int, timeout: float = 1.0) -> None:
    """Wait until a process that was killed is over."""
    end = time.monotonic() + timeout
    while is_alive(pid):
        assert time.monotonic() < end, f"process {pid} is still there"
        time.sleep(0.001)


def wait_for_file(path: Path, timeout: float = 20) -> str:
    """Wait until a file has content, and return it."""
    command = ["sh", "-c", 'until [ -s "$0" ]; do sleep 0.02; done', str(path)]
    subprocess.run(command, check=True, timeout=timeout)
    return path.read_text()


def waited_for_a_core() -> float:
    """Return for how many seconds others had the cores when this thread could run; 0 where no system says so."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0
