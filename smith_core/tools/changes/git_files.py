"""What git already keeps of the files of a working tree; git is only asked, and its index is never written."""

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence

from smith_core.tools.git_safety import git_environment, list_settings_argv, named_programs
from smith_core.tools.program import find_program

_LIMIT_S = 20.0


class GitFiles:
    """One working tree; every call may raise OSError when git cannot be asked."""

    def __init__(self, git: str, root: str, child_env: Mapping[str, str]) -> None:
        self._git = git
        self._root = root
        self._env: Mapping[str, str] = git_environment(child_env, {})
        listed = self._run(["config", "--list", "--name-only", "-z"], argv=list_settings_argv(git))
        self._env = git_environment(child_env, named_programs(listed.decode("utf-8", "surrogateescape")))

    def tracked(self) -> tuple[dict[str, str], list[str]]:
        """Return the files that are as git has them by path, with the ids of their contents, and the symbolic links."""
        changed = set(_names(self._run(["diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules"])))
        unchanged: dict[str, str] = {}
        links: list[str] = []
        for entry in _names(self._run(["ls-files", "-s", "-v", "-z"])):
            about, _, path = entry.partition("\t")
            tag, mode, identity, stage = about.split(" ")
            if mode == "120000":
                links.append(path)
            # What git was told not to look at may be anything.
            elif tag == "H" and mode.startswith("100") and stage == "0" and path not in changed:
                unchanged[path] = identity
        return unchanged, links

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Return those of the paths that the ignore rules leave out."""
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        return set(_names(self._run(["check-ignore", "--stdin", "-z"], given, fine=(0, 1)))) if given else set()

    def contents(self, identities: Sequence[str]) -> dict[str, bytes]:
        """Return contents by their ids; those that git does not have any more are left out."""
        wanted = "".join(f"{identity}\n" for identity in dict.fromkeys(identities))
        data = self._run(["cat-file", "--batch"], wanted.encode()) if wanted else b""
        found: dict[str, bytes] = {}
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            identity, *about = data[start:end].split(b" ")
            start = end + 1
            if len(about) == 2:
                size = int(about[1])
                found[identity.decode()] = data[start : start + size]
                start += size + 1
        return found

    def _run(
        self, call: Sequence[str], given: bytes = b"", *, fine: Sequence[int] = (0,), argv: Sequence[str] = ()
    ) -> bytes:
        command = argv or [self._git, "--no-pager", "--no-optional-locks", *call]
        try:
            done = subprocess.run(
                command,
                cwd=self._root,
                env=self._env,
                input=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise OSError("git does not answer") from error
        if done.returncode not in fine:
            raise OSError(f"git {call[0]} failed")
        return done.stdout


def open_git(root: str, child_env: Mapping[str, str]) -> GitFiles | None:
    """Return what git knows of a working tree, None where it cannot be asked."""
    git = find_program("git", child_env)
    if git is None:
        return None
    try:
        return GitFiles(git, root, child_env)
    except OSError:
        return None


def _names(data: bytes) -> list[str]:
    return [os.fsdecode(name) for name in data.split(b"\0") if name]
