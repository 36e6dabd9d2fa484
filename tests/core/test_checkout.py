"""What git's own files say, compared with what git says, and broken or hostile ones."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.checkout import Checkout, find_checkout, read_branch, read_commit, read_origin

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
HASH = "0123456789abcdef0123456789abcdef01234567"


def bare_bones(root: Path, config: bytes | str = "", head: str = "ref: refs/heads/main\n") -> Path:
    """Make the few files of a repository that are looked at."""
    git_dir = root / ".git"
    git_dir.mkdir(parents=True)
    (git_dir / "HEAD").write_text(head)
    (git_dir / "config").write_bytes(config if isinstance(config, bytes) else config.encode())
    return root


def _checkout(root: Path) -> Checkout:
    found = find_checkout(os.path.realpath(root))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("ref: refs/heads/main\n", "main"),
        ("ref: refs/heads/feature/x-1\n", "feature/x-1"),
        ("ref:refs/heads/main", "main"),
        ("ref: refs/remotes/origin/main\n", "refs/remotes/origin/main"),
        (HASH + "\n", HASH[:7]),
        (HASH + HASH[:24] + "\n", HASH[:7]),
        ("ref: refs/heads/.invalid\n", ""),
        ("", ""),
        ("nonsense", ""),
        (HASH[:39], ""),
        (f"{HASH} extra", ""),
    ],
)
def test_branch(tmp_path: Path, head: str, branch: str) -> None:
    assert read_branch(_checkout(bare_bones(tmp_path / "r", head=head))) == branch


CONFIGS = [
    '[remote "origin"]\n\turl = git@host:a/b.git\n',
    '[remote "origin"] url = git@host:a/b.git\n',
    '[REMOTE "origin"]\n  URL=git@host:a/b.git',
    '[core]\n\tbare = false\n[remote "other"]\nurl = x\n[remote "origin"]\nfetch = +a:b\n\turl = git@host:a/b.git\n',
    '[remote "origin"]\n# url = no\n; url = no\n\turl = git@host:a/b.git # mine\n',
    '[remote "origin"]\n\turl = "git@host:a/b.git" ; mine\n',
    '[remote "origin"]\n\turl = "https://host/a#b;c"\n',
    '[remote "origin"]\n\turl = https://host/"a  b"\n',
    '[remote "origin"]\n\turl = C:\\\\src\\\\repo\n',
    '[remote "origin"]\n\turl = "a\\tb\\"c"\n',
    '[remote "origin"]\n\turl = git@host:a\\\n/b.git\n',
    '[remote "origin"]\r\n\turl = git@host:a/b.git\r\n',
    '[remote "Origin"]\n\turl = no\n[remote "origin"]\n\turl = yes\n',
    '[remote.origin]\n\turl = git@host:a/b.git\n',
    '[remote "or\\igin"]\n\turl = git@host:a/b.git\n',
    '[remote "origin"]\n\turl = a   b  \n',
    '[remote "origin"]\n\turl = " spaced "\n',
    '[remote "origin"]\n\tpushurl = no\n',
    '[remote]\n\turl = no\n',
    "[core]\n\tbare = false\n",
    "",
]  # fmt: skip


@needs_git
@pytest.mark.parametrize("config", CONFIGS)
def test_origin_is_what_git_reads(tmp_path: Path, config: str) -> None:
    root = bare_bones(tmp_path / "r", config)
    asked = subprocess.run(
        ["git", "config", "--file", str(root / ".git/config"), "--null", "--get-all", "remote.origin.url"],
        capture_output=True,
        check=False,
    )
    assert asked.returncode in (0, 1), asked.stderr
    assert read_origin(_checkout(root)) == asked.stdout.decode().partition("\0")[0]


def test_the_first_of_two_addresses_counts(tmp_path: Path) -> None:
    root = bare_bones(tmp_path / "r", '[remote "origin"]\n\turl =\n\turl = first\n\turl = second\n')
    assert read_origin(_checkout(root)) == "first"


@given(st.binary(max_size=80) | st.text('[]"\\=#; \n\r\tremote.originurl', max_size=80).map(str.encode))
def test_no_configuration_is_too_broken(tmp_path_factory: pytest.TempPathFactory, config: bytes) -> None:
    root = tmp_path_factory.getbasetemp() / "broken"
    if not root.exists():
        bare_bones(root)
    (root / ".git/config").write_bytes(b'[remote "origin"]\n\turl = ' + config)
    assert isinstance(read_origin(_checkout(root)), str)
    (root / ".git/HEAD").write_bytes(config)
    assert isinstance(read_branch(_checkout(root)), str)


def test_a_line_that_never_ends_takes_no_time(tmp_path: Path) -> None:
    hostile = (
        b'[remote "' + b"\\" * 300_000 + b'\n[remote "origin"]\nurl = ' + b'"\\' * 200_000 + b"\n" + b"[" * 200_000
    )
    assert read_origin(_checkout(bare_bones(tmp_path / "r", hostile)))


@pytest.mark.parametrize("name", ["config", "HEAD", "commondir"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    root = bare_bones(tmp_path / "r")
    (root / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(root / ".git" / name)
    found = find_checkout(str(root))
    assert (found is None) == (name == "HEAD")
    assert found is None or read_origin(found) == ""


@pytest.mark.parametrize(
    "pointer",
    ["", "gitdir:", "gitdir: ", "gitdir: none", "gitdir: a\0b", "gitdir: /etc", "nonsense", "\xff\xfe", "gitdir: .git"],
)
def test_a_pointer_to_nowhere_is_no_checkout(tmp_path: Path, pointer: str) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / ".git").write_bytes(pointer.encode("latin-1"))
    assert find_checkout(str(tmp_path / "inner")) is None
    bare_bones(tmp_path / "outer")
    (tmp_path / "outer" / "inner").mkdir()
    shutil.copy(tmp_path / "inner" / ".git", tmp_path / "outer" / "inner" / ".git")
    assert _checkout(tmp_path / "outer" / "inner").root == os.path.realpath(tmp_path / "outer")


def test_an_empty_git_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert find_checkout(str(tmp_path)) is None


def test_names_that_are_not_utf8_are_followed(tmp_path: Path) -> None:
    real = bare_bones(tmp_path / os.fsdecode(b"r\xe9al"), head="ref: refs/heads/odd\n")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_bytes(b"gitdir: " + os.fsencode(real / ".git") + b"\n")
    assert read_branch(_checkout(tmp_path / "tree")) == "odd"


@pytest.mark.parametrize(
    ("head", "files", "commit"),
    [
        (HASH, {}, HASH[:12]),
        ("ref: refs/heads/main", {"refs/heads/main": HASH}, HASH[:12]),
        ("ref: refs/heads/a/b", {"packed-refs": f"# pack-refs with: peeled\n{HASH} refs/heads/a/b\n"}, HASH[:12]),
        ("ref: refs/heads/main", {"refs/heads/main": HASH, "packed-refs": "f" * 40 + " refs/heads/main"}, HASH[:12]),
        ("ref: refs/heads/main", {"packed-refs": f"{HASH} refs/heads/main2\n"}, ""),
        ("ref: refs/heads/main", {}, ""),
        ("ref: ../secret", {"../secret": HASH}, ""),
        ("ref: refs/../../secret", {"../secret": HASH}, ""),
        ("ref: refs/heads/main", {"refs/heads/main": "no hash"}, ""),
        ("", {}, ""),
    ],
)
def test_commit(tmp_path: Path, head: str, files: dict[str, str], commit: str) -> None:
    root = bare_bones(tmp_path / "r", head=head)
    for name, text in files.items():
        path = root / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert read_commit(_checkout(root)) == commit


@needs_git
def test_commit_is_what_git_says(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    assert read_commit(_checkout(tmp_path)) == ""
    git("commit", "-q", "--allow-empty", "-m", "one")
    assert read_commit(_checkout(tmp_path)) == git("rev-parse", "HEAD")[:12]
    git("pack-refs", "--all")
    assert read_commit(_checkout(tmp_path)) == git("rev-parse", "HEAD")[:12]
