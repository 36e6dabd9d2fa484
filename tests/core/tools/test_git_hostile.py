"""Repositories whose configuration names programs: none of them is ever started."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.git_calls import GitPlace

CALLS = (
    ["status"],
    ["status", "--porcelain=v2", "--branch"],
    ["diff"],
    ["diff", "--cached"],
    ["diff", "HEAD~1", "HEAD"],
    ["log"],
    ["log", "-p", "-m"],
    ["log", "--oneline", "--stat"],
    ["show"],
    ["show", "--format=%h %an", "HEAD"],
    ["show", "HEAD:a.txt"],
    ["blame", "a.txt"],
)


class Trap:
    """A repository, a script that leaves a mark when it runs, and plain git, which would run it."""

    def __init__(self, folder: Path) -> None:
        self.repo = GitPlace(folder)
        self.mark = folder / "it-ran"
        self.script = folder / "evil.sh"
        self.script.write_text(f"#!/bin/sh\necho \"$0 $*\" >>'{self.mark}'\ncat\n")
        self.script.chmod(0o755)

    async def spring(self) -> None:
        """Call the tool in every way; nothing may have left the mark, and every call must have worked."""
        for words in CALLS:
            outcome = await self.repo(*words)
            assert not self.mark.exists(), (words, self.mark.read_text())
            assert outcome.ok, (words, outcome.content)

    def plain(self, *words: str) -> bool:
        """Whether git without the tool's care, run in these ways, runs the script."""
        for word in words:
            subprocess.run(["git", *word.split()], cwd=self.repo.folder, env=self.repo.env, capture_output=True)
        return self.mark.exists()


def attributes(trap: Trap, text: str) -> None:
    (trap.repo.folder / ".gitattributes").write_text(text)


def filters(trap: Trap) -> None:
    attributes(trap, "* filter=evil diff=evil merge=evil\n")
    trap.repo.configure(f'[filter "evil"]\nclean = {trap.script}\nsmudge = {trap.script}\nrequired = true\n')


def process_filter(trap: Trap) -> None:
    attributes(trap, '* filter="e v.i=l"\n* filter=p\n')
    trap.repo.configure(f'[filter "p"]\nprocess = {trap.script}\nrequired\n[filter "e.v"]\nclean = {trap.script}\n')


def included(trap: Trap) -> None:
    attributes(trap, "* filter=evil diff=evil\n")
    (trap.repo.folder / "more.cfg").write_text(
        f'[filter "evil"]\nclean = {trap.script}\n[diff]\nexternal = {trap.script}\n[core]\nfsmonitor = {trap.script}\n'
    )
    trap.repo.configure('[includeIf "onbranch:main"]\npath = ../more.cfg\n[include]\npath = ../more.cfg\n')


def external_diff(trap: Trap) -> None:
    trap.repo.configure(f"[diff]\nexternal = {trap.script}\n")


def diff_driver(trap: Trap) -> None:
    attributes(trap, "*.txt diff=evil\n")
    trap.repo.configure(f'[diff "evil"]\ncommand = {trap.script}\n')


def textconv(trap: Trap) -> None:
    attributes(trap, "*.txt diff=evil\n")
    trap.repo.configure(f'[diff "evil"]\ntextconv = {trap.script}\ncachetextconv = true\n')


def fsmonitor(trap: Trap) -> None:
    trap.repo.configure(f"[core]\nfsmonitor = {trap.script}\n")


def hooks(trap: Trap) -> None:
    folder = trap.repo.folder / "hooks"
    folder.mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"):
        (folder / name).write_text(trap.script.read_text())
        (folder / name).chmod(0o755)
    trap.repo.configure(f"[core]\nhooksPath = {folder}\n")
    # A time of its own: git writes the index anew, and calls the hook, only for a file that looks changed.
    os.utime(trap.repo.folder / "a.txt", (1, 1))


def signatures(trap: Trap) -> None:
    signed = trap.repo.git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=trap.repo.folder, env=trap.repo.env, input=signed, capture_output=True, text=True, check=True,
    )  # fmt: skip
    trap.repo.git("update-ref", "refs/heads/main", done.stdout.strip())
    trap.repo.configure(
        f"[log]\nshowSignature = true\n[gpg]\nprogram = {trap.script}\n[format]\npretty = format:%G? %h\n"
        f"[pretty]\nevil = %G?\n"
    )


def submodule(trap: Trap) -> None:
    inner = trap.repo.folder / "inner"
    inner.mkdir()
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "in"]):
        subprocess.run(["git", *words], cwd=inner, env=trap.repo.env, check=True)
    (trap.repo.folder / ".gitmodules").write_text('[submodule "inner"]\npath = inner\nurl = ./inner\nignore = none\n')
    trap.repo.git("-c", "advice.addEmbeddedRepo=false", "add", "inner", ".gitmodules")
    trap.repo.git("commit", "-q", "-m", "with a submodule")
    with (inner / ".git" / "config").open("a") as file:
        file.write(f"[core]\nfsmonitor = {trap.script}\n[diff]\nexternal = {trap.script}\n")
    (inner / "x").write_text("x")
    trap.repo.configure("[status]\nsubmoduleSummary = true\n[diff]\nsubmodule = diff\nignoreSubmodules = none\n")


def pager_and_alias(trap: Trap) -> None:
    trap.repo.configure(
        f"[core]\npager = {trap.script}\neditor = {trap.script}\n[pager]\nlog = {trap.script}\nstatus = {trap.script}\n"
        f"[alias]\nlog = !{trap.script}\nstatus = !{trap.script}\n[interactive]\ndiffFilter = {trap.script}\n"
    )


def merge_driver(trap: Trap) -> None:
    attributes(trap, "*.txt merge=evil\n")
    repo = trap.repo
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "attributes")
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.commit("a.txt", "ONE\n2\n", "side")
    repo.git("checkout", "-q", "main")
    subprocess.run(["git", "merge", "-q", "-X", "ours", "side", "-m", "m"], cwd=repo.folder, env=repo.env, check=True)
    repo.configure(f'[merge "evil"]\ndriver = {trap.script} %A\n[log]\ndiffMerges = remerge\n')


RUN_BY_PLAIN_GIT: dict[Callable[[Trap], None], tuple[str, ...]] = {
    filters: ("status", "diff"),
    included: ("status", "diff"),
    process_filter: ("diff",),
    external_diff: ("diff",),
    diff_driver: ("diff",),
    textconv: ("diff", "log -p", "blame a.txt"),
    fsmonitor: ("status",),
    hooks: ("status",),
    signatures: ("log",),
    submodule: ("status",),
    merge_driver: ("log -p -m",),
}


@pytest.mark.parametrize("arm", RUN_BY_PLAIN_GIT, ids=lambda arm: arm.__name__)
async def test_what_plain_git_would_run_is_not_run(arm: Callable[[Trap], None], tmp_path: Path) -> None:
    trap = Trap(tmp_path)
    arm(trap)
    before = trap.repo.stored()
    await trap.spring()
    assert trap.repo.stored() == before
    assert trap.plain(*RUN_BY_PLAIN_GIT[arm]), "the trap itself does not work"


async def test_pagers_editors_and_aliases_are_not_run(tmp_path: Path) -> None:
    trap = Trap(tmp_path)
    pager_and_alias(trap)
    await trap.spring()


async def test_a_git_that_takes_no_settings_from_its_environment_is_not_used(tmp_path: Path) -> None:
    trap = Trap(tmp_path)
    fsmonitor(trap)
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec {shutil.which("git")} "$@"\n')
    old.chmod(0o755)
    trap.repo.env["PATH"] = f"{old.parent}:{trap.repo.env['PATH']}"
    assert "install git 2.31 or newer" in (await trap.repo("status")).content
    assert not trap.mark.exists()


async def test_a_partial_clone_fetches_nothing(tmp_path: Path) -> None:
    trap = Trap(tmp_path)
    trap.script.write_text(f"#!/bin/sh\ntouch '{trap.mark}'\nexit 1\n")
    repo = trap.repo
    repo.configure(
        f"[extensions]\npartialClone = origin\n[core]\nrepositoryformatversion = 1\nsshCommand = {trap.script}\n"
        f'[remote "origin"]\nurl = ext::{trap.script}\npromisor = true\nuploadpack = {trap.script}\n'
        f'[protocol "ext"]\nallow = always\n'
    )
    blob = repo.git("rev-parse", "HEAD~1:a.txt").strip()
    (repo.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    outcome = await repo("show", "HEAD~1:a.txt")
    assert not outcome.ok
    assert not trap.mark.exists()
    assert not (await repo("log", "-p")).ok
    assert not trap.mark.exists()
    assert trap.plain("show HEAD~1:a.txt"), "the trap itself does not work"


async def test_a_work_tree_elsewhere_and_a_broken_configuration_are_words(tmp_path: Path) -> None:
    trap = Trap(tmp_path)
    trap.repo.configure("[core]\nworktree = /nowhere\n")
    outcome = await trap.repo("status")
    assert not outcome.ok
    assert outcome.error is not None
    assert outcome.error.kind == "tool"
    trap.repo.configure("[[broken\n")
    assert "bad config" in (await trap.repo("log")).content
