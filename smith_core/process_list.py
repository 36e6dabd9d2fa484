"""Which processes there are, and which belong to the tree of a program; imports next to nothing, for its watcher."""

import os
from typing import NamedTuple

_PROC = "/proc"


class TreeMarks(NamedTuple):
    """What all processes of a tree carry: a text in their environment, and an odd soft limit on real-time CPU."""

    text: bytes
    limit: int


class Process(NamedTuple):
    """A process; `started` in the ticks of proc_pid_stat(5)."""

    pid: int
    parent: int
    session: int
    started: int
    is_alive: bool


def tree_members(pid: int, marks: TreeMarks, started: int | None = None) -> list[int] | None:
    """Return the ids of all living processes of the tree of a program, None when the program is not there.

    started: when it was started, for one that may be gone already.
    """
    processes = {process.pid: process for process in _list_processes()}
    program = processes.get(pid)
    since = program.started if program is not None else started
    if since is None:
        return None
    # Nothing can descend from the program that started before it did.
    young = [process for process in processes.values() if process.started >= since]
    tree = {process.pid for process in young if process.pid == pid or _is_marked(process.pid, marks)}
    grown = True
    while grown:
        found = {process.pid for process in young if process.parent in tree or process.session in (pid, *tree)} - tree
        tree |= found
        grown = bool(found)
    return [member for member in tree if processes[member].is_alive]


def read_process(name: str) -> Process | None:
    """Read what is needed of /proc/<name>/stat (proc_pid_stat(5)); None if the process is gone."""
    stat = _read(f"{_PROC}/{name}/stat")
    if not stat:
        return None
    # The command name, in parentheses, may hold spaces and parentheses of its own.
    fields = stat[stat.rfind(b")") + 2 :].split()
    return Process(
        pid=int(name),
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]),
        # A process whose first thread has ended looks like a zombie, but has further threads.
        is_alive=fields[0] not in (b"Z", b"X") or int(fields[17]) > 1,
    )


def _list_processes() -> list[Process]:
    try:
        names = [name for name in os.listdir(_PROC) if name.isdecimal()]  # noqa: PTH208 - pathlib is a slow import
    except OSError:
        return []
    return [process for name in names if (process := read_process(name)) is not None]


def _is_marked(pid: int, marks: TreeMarks) -> bool:
    folder = f"{_PROC}/{pid}"
    return marks.text in _read(f"{folder}/environ") or b" %d " % marks.limit in _read(f"{folder}/limits")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is a slow import
            return file.read()
    except OSError:
        return b""
