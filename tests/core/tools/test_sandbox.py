"""Commands in a sandbox: what is planned, what bubblewrap is told, and what a command then can and cannot do.

Where bubblewrap does not work, the tests of what happens inside look at the sentence that says why instead.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import msgspec
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.cancel import new_root
from smith_core.config.schema import ToolsConfig
from smith_core.errors import AgentFailure
from smith_core.tools.base import ToolContext, ToolOutcome, ToolSpec
from smith_core.tools.sandbox.arguments import Namespaces, sandbox_arguments
from smith_core.tools.sandbox.hidden import IN_HOME, hidden_places, is_below
from smith_core.tools.sandbox.layout import Layout, plan_layout
from smith_core.tools.sandbox.probe import Probe, probe_bubblewrap
from smith_core.tools.sandbox.sandboxes import Sandbox, Sandboxes
from smith_core.tools.sandbox.words import sandbox_words
from smith_core.tools.shell import bash_tool
from tests.core.dispatch.test_children import report, to
from tests.support.bash_calls import DAEMON, SHORT_GRACE_S, BashCalls, python, wait_until
from tests.support.cast import cast, results_of
from tests.support.engine import open_engine, run_turn
from tests.support.processes import wait_until_over
from tests.support.scripted_client import ScriptedClient, calls

PROBE = probe_bubblewrap(os.environ)
AUTO = ToolsConfig(sandbox="auto")
REQUIRED = ToolsConfig(sandbox="required")


class Inside(BashCalls):
    """Runs commands in a sandbox whose home folder is beside the project; /tmp is as outside."""

    def __init__(self, base: Path, *, has_network: bool = True) -> None:
        self.home = base / "home"
        project = self.home / "project"
        project.mkdir(parents=True, exist_ok=True)
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        self.has_network = has_network
        super().__init__(project, self._tool())
        self.sandboxes = Sandboxes(self.spill_dir, self.environ, replaced=())

    def _tool(self) -> ToolSpec:
        spec = bash_tool(SHORT_GRACE_S)

        async def handle(arguments: object, ctx: ToolContext) -> ToolOutcome:
            outcome: ToolOutcome = await spec.handler(arguments, msgspec.structs.replace(ctx, sandbox=self._sandbox))
            return outcome

        return msgspec.structs.replace(spec, handler=handle)

    def living_commands(self) -> list[list[str]]:
        """Command lines of the living processes."""
        found = []
        for process in self.living():
            with contextlib.suppress(psutil.Error):
                found.append(process.cmdline())
        return found

    async def _sandbox(self) -> Sandbox | None:
        tools = ToolsConfig(sandbox="required", sandbox_network="on" if self.has_network else "off")
        return await self.sandboxes.sandbox(tools, str(self.folder))


@contextlib.asynccontextmanager
async def opened(inside: Inside) -> AsyncIterator[Inside]:
    try:
        yield inside
    finally:
        await inside.sandboxes.aclose()
        inside.kill_living()


@pytest.fixture
async def inside(tmp_path: Path) -> AsyncIterator[Inside]:
    async with opened(Inside(tmp_path)) as inside:
        yield inside


def works() -> bool:
    """Whether commands can be run inside; if not, a sentence must say why."""
    assert bool(PROBE.program) != bool(PROBE.problem)
    if PROBE.problem:
        assert "bubblewrap" in PROBE.problem
    return bool(PROBE.program)


# What bubblewrap is told

LAYOUT = Layout(
    writable=("/home/u/p",),
    hidden=("/home/u/.netrc", "/home/u/.ssh", "/home/u/p/.config"),
    kept=("/tmp/spill",),
    temporary="/tmp/spill/sandbox-tmp",
    replaced=("/tmp",),
)


def test_the_arguments_name_every_mount_outer_folders_first() -> None:
    argv = sandbox_arguments(LAYOUT, None, lambda path: "netrc" not in path)
    assert " ".join(argv) == (
        "--unshare-user --unshare-pid --unshare-ipc --cap-drop ALL "
        "--ro-bind / / --dev /dev --proc /proc "
        "--tmpfs /run --bind /tmp/spill/sandbox-tmp /tmp --ro-bind /tmp/spill /tmp/spill "
        "--tmpfs /home/u/.ssh --ro-bind /dev/null /home/u/.netrc --bind /home/u/p /home/u/p "
        "--tmpfs /home/u/p/.config "
        "--remount-ro /run --remount-ro /home/u/.ssh --remount-ro /home/u/p/.config"
    )
    without = msgspec.structs.replace(LAYOUT, has_network=False)
    assert sandbox_arguments(without, Namespaces(owner=7, processes=8, user=9))[:10] == [
        *("--userns", "7", "--pidns", "8", "--userns2", "9"),
        *("--unshare-ipc", "--cap-drop", "ALL", "--unshare-net"),
    ]
    assert Sandbox(program="/b", layout=LAYOUT).wrap(["x"], Path("/c"))[-4:] == ["--chdir", "/c", "--", "x"]


paths = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(st.sets(paths), st.sets(paths))
def test_what_lies_further_inside_is_mounted_later(hidden: set[str], writable: set[str]) -> None:
    layout = Layout(writable=tuple(writable), hidden=tuple(hidden - writable), kept=(), temporary="/t", replaced=())
    argv = sandbox_arguments(layout, None, lambda path: True)
    sealed = argv.index("--remount-ro")
    place = {path: argv.index(path, argv.index("/proc")) for path in (*layout.hidden, *writable)}
    for path in layout.hidden:
        assert place[path] < sealed
        assert ["--tmpfs", path] == argv[place[path] - 1 : place[path] + 1]
        assert argv.count("--remount-ro") == len(layout.hidden) + 1
    for outer in place:
        for inner in place:
            assert not is_below(inner, outer) or place[outer] < place[inner]


# What is planned


def test_a_project_that_holds_the_home_folder_is_not_writable(tmp_path: Path) -> None:
    home = tmp_path / "homes" / "u"
    (home / ".ssh").mkdir(parents=True)
    environ = {"HOME": str(home)}
    for root in (home, home.parent, Path("/")):
        layout = plan_layout(str(root), environ, tmp_path, tmp_path)
        assert layout.writable == ()
        assert str(home / ".ssh") in layout.hidden
    assert plan_layout(str(home / "p"), environ, tmp_path, tmp_path).writable == (str(home / "p"),)


def test_a_project_among_the_secrets_is_what_the_person_opened(tmp_path: Path) -> None:
    root = tmp_path / ".ssh"
    root.mkdir()
    layout = plan_layout(str(root), {"HOME": str(tmp_path)}, tmp_path, tmp_path)
    assert (layout.writable, str(root) in layout.hidden) == ((str(root),), False)


def test_links_lead_to_what_is_hidden_and_our_own_folders_are_hidden(tmp_path: Path) -> None:
    elsewhere = tmp_path / "disk" / "keys"
    own = [tmp_path / name / "smith" for name in ("config", "data", "state", "cache")]
    for folder in (elsewhere, *own, tmp_path / "run"):
        folder.mkdir(parents=True)
    (tmp_path / ".ssh").symlink_to(elsewhere)
    (tmp_path / ".aws").symlink_to(tmp_path / ".aws")
    environ = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    environ |= {f"XDG_{name.upper()}_HOME": str(tmp_path / name) for name in ("config", "data", "state", "cache")}
    hidden = set(hidden_places(environ))
    assert {str(path) for path in (elsewhere, *own, tmp_path / "run")} <= hidden


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "main"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


def planned(root: Path) -> tuple[str, ...]:
    return plan_layout(str(root), {"HOME": "/nowhere"}, root, root).writable


def test_the_git_folder_of_a_worktree_and_of_a_submodule_is_writable(tmp_path: Path, repository: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert planned(tmp_path / "tree") == (str(tmp_path / "tree"), str(repository / ".git"))
    git(repository, "submodule", "add", "-q", str(repository), "sub")
    assert planned(repository / "sub") == (str(repository / "sub"), str(repository / ".git/modules/sub"))
    assert planned(repository) == (str(repository),)


def test_a_checkout_that_says_by_itself_where_git_writes_is_not_believed(tmp_path: Path, repository: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    false = tmp_path / "false"
    false.mkdir()
    for target in (repository / ".git", repository / ".git/worktrees/tree"):
        (false / ".git").write_text(f"gitdir: {target}\n")
        assert planned(false) == (str(false),)
    (false / "own").mkdir()
    (false / "own/HEAD").write_text("ref: refs/heads/x\n")
    (false / "own/commondir").write_text(f"{tmp_path}\n")
    (false / "own/gitdir").write_text(f"{false}/.git\n")
    (false / ".git").write_text("gitdir: own\n")
    assert planned(false) == (str(false),)


# What happens inside


async def test_no_secret_can_be_read(inside: Inside) -> None:
    if not works():
        return
    for number, name in enumerate(name for names in IN_HOME.values() for name in names):
        path = inside.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if number % 3 == 0:
            path.write_text("SECRET")
        else:
            target = path if number % 3 == 1 else inside.home / f"target-{number}"
            target.mkdir(parents=True, exist_ok=True)
            (target / "key").write_text("SECRET")
            if target != path:
                path.symlink_to(target)
    (inside.home / "plain").write_text("PLAIN")
    outcome = await inside(
        "grep -rsha . ~; cat ~/.ssh/* ~/.netrc /etc/shadow; cat /proc/*/root$HOME/.ssh/* /proc/1/root$HOME/.aws",
        child_env=inside.environ,
    )
    assert "PLAIN" in outcome.content
    assert "SECRET" not in outcome.content
    assert not outcome.ok
    assert "[sandboxed: only " in outcome.content


async def test_the_project_can_be_written_and_nothing_else(inside: Inside) -> None:
    if not works():
        return
    (inside.home / ".ssh").mkdir()
    places = ["new", "../outside", "~/.bashrc", "/usr/x", "/etc/x", "/run/x", "~/.ssh/authorized_keys", "/dev/shm/x"]
    tried = [f"touch {place} 2>/dev/null && echo {place}" for place in places]
    outcome = await inside("; ".join(tried) + "; exit 0", child_env=inside.environ)
    assert outcome.content.splitlines() == ["new", "/dev/shm/x", "[exit code 0]"]
    assert (inside.folder / "new").exists()
    assert not Path("/dev/shm/x").exists()


async def test_it_sees_no_process_outside_and_has_no_rights(inside: Inside) -> None:
    if not works():
        return
    outcome = await inside(
        f"kill -0 {os.getpid()} 2>&1; grep -c {os.getppid()} /proc/{os.getpid()}/stat; ls /proc | grep -c '^[0-9]'; "
        "grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; mount --bind / /mnt 2>/dev/null || echo no"
    )
    assert "No such process" in outcome.content
    seen = outcome.content.splitlines()
    assert int(seen[2]) < 8
    assert [line.split()[-1] for line in seen[3:6]] == ["0000000000000000", "1", "no"]


async def test_the_network_is_as_set(tmp_path: Path) -> None:
    if not works():
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2); print('through')"
        async with opened(Inside(tmp_path / "on")) as inside:
            with_network = await inside(python(code))
        async with opened(Inside(tmp_path / "off", has_network=False)) as inside:
            without = await inside(python(code))
    assert with_network.content.startswith("through")
    assert not without.ok
    assert "and there is no network]" in without.content


async def test_it_commits_in_a_worktree(tmp_path: Path, repository: Path) -> None:
    if not works():
        return
    tree = tmp_path / "tree"
    git(repository, "worktree", "add", "-q", str(tree))
    commit = "git -c user.name=n -c user.email=e@x commit -q --allow-empty -m inside && git log --oneline"
    async with opened(Inside(tmp_path)) as inside:
        inside.folder = tree
        outcome = await inside(commit)
    assert "inside" in outcome.content, outcome.content
    assert outcome.ok


async def test_exit_code_output_and_long_commands_are_as_without(inside: Inside) -> None:
    if not works():
        return
    outcome = await inside("test -t 1 && echo a terminal; echo error >&2; echo out >/dev/stdout; exit 7")
    assert outcome.content == "a terminal\nerror\nout\n[exit code 7]"
    assert (outcome.metadata.exit_code, outcome.mutation_state) == (7, "attempted")
    assert b"a terminal" in b"".join(inside.live)
    assert (await inside("read x </dev/tty; echo $?; kill -TERM $$")).metadata.exit_code == 143
    long = await inside(f"# {'x' * 200_000}\necho long")
    assert long.content == "long\n[exit code 0]"
    assert (await inside("cd / && pwd", cwd=inside.folder)).content == "/\n[exit code 0]"


@pytest.mark.parametrize("how", ["cancel", "timeout"])
async def test_a_stopped_command_leaves_nothing(inside: Inside, how: str) -> None:
    if not works():
        return
    (inside.folder / "daemon.py").write_text(DAEMON)
    command = f"{sys.executable} daemon.py; trap '' TERM; echo ready; sleep 300 & sleep 300"
    token = new_root()
    running = asyncio.ensure_future(inside(command, 1.0 if how == "timeout" else None, token=token))
    if how == "cancel":
        await inside.until_output(b"ready")
        token.request()
    outcome = await running
    assert f"[{'cancelled' if how == 'cancel' else 'timed out after 1 s'}]" in outcome.content
    assert wait_until(lambda: inside.living() == [], 2), inside.living_names()


async def test_a_background_process_outlives_the_call_and_writes_on(inside: Inside) -> None:
    if not works():
        return
    outcome = await inside("(until [ -e go ]; do sleep 0.02; done; echo done >result) >/dev/null 2>&1 & echo started")
    assert outcome.content == "started\n[exit code 0]"
    (inside.folder / "go").touch()
    assert await asyncio.to_thread(wait_until, (inside.folder / "result").exists, 5)


@pytest.mark.parametrize("shares", [True, False])
async def test_a_later_command_can_stop_a_server_and_all_end_with_the_session(inside: Inside, shares: bool) -> None:
    if not works():
        return
    inside.sandboxes._can_share = shares
    await inside("sleep 300 >/dev/null 2>&1 & echo $! >pid; setsid sleep 301 >/dev/null 2>&1 &")
    assert len(inside.living_names()) > 0
    stopped = await inside("kill $(cat pid)")
    assert stopped.ok == shares
    if not shares:
        return
    assert await asyncio.to_thread(wait_until, lambda: "300" not in str(inside.living_commands()), 5)
    assert "301" in str(inside.living_commands())
    await inside.sandboxes.aclose()
    assert await asyncio.to_thread(wait_until, lambda: inside.living() == [], 5)


async def test_a_keeper_that_a_command_has_killed_is_replaced(inside: Inside) -> None:
    if not works():
        return
    killed = await inside("kill -9 $(pgrep -x cat); sleep 300", 5)
    assert not killed.ok
    assert (await inside("echo again")).content == "again\n[exit code 0]"


# Whether there is one


def fake(folder: Path, script: str) -> Mapping[str, str]:
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("bwrap: No permissions to create new namespace, likely because …", "refuses user namespaces"),
        ("bwrap: setting up uid map: Permission denied", "refuses user namespaces"),
        ("bwrap: Creating new namespace failed: Operation not permitted", "refuses user namespaces"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "hides parts of /proc"),
        ("bwrap: Unknown option --unshare-user", "too old"),
        ("bwrap: the moon is full\x1b[31m", "does not work: the moon is full"),
        ("", "does not work: exit code 1"),
    ],
)
def test_a_bubblewrap_that_fails_is_explained(tmp_path: Path, said: str, meaning: str) -> None:
    (tmp_path / "said").write_text(said)
    probe = probe_bubblewrap(fake(tmp_path, f"cat {tmp_path}/said >&2; exit 1"))
    assert probe.program == ""
    assert meaning in probe.problem
    assert "\x1b" not in probe.problem


def test_one_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smith_core.tools.sandbox.probe.PROBE_S", 0.3)
    probe = probe_bubblewrap(fake(tmp_path, f"sleep 300 & echo $! >{tmp_path}/pid; wait"))
    assert "did not end within 0.3 s" in probe.problem
    # Its output is closed, which was waited for, some microseconds before it is over.
    wait_until_over(int((tmp_path / "pid").read_text()))


def test_without_bubblewrap_the_package_is_named(tmp_path: Path) -> None:
    assert "install the package bubblewrap" in probe_bubblewrap({"PATH": str(tmp_path)}).problem


def test_one_that_runs_what_it_is_given_works(tmp_path: Path) -> None:
    environ = fake(tmp_path, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    assert probe_bubblewrap(environ) == Probe(program=str(tmp_path / "bwrap"))


async def test_it_is_tried_once_and_fixed_once(tmp_path: Path) -> None:
    tried: list[str] = []

    def probe(environ: Mapping[str, str]) -> Probe:
        tried.append("tried")
        return Probe(program="/bin/bwrap")

    sandboxes = Sandboxes(tmp_path, {"HOME": "/nowhere"}, probe)
    assert (sandboxes.state(AUTO), sandboxes.state(ToolsConfig())) == ("unknown", "off")
    assert await sandboxes.sandbox(ToolsConfig(), str(tmp_path / "a")) is None
    assert tried == []
    first = await sandboxes.sandbox(AUTO, str(tmp_path / "a"))
    second = await sandboxes.sandbox(ToolsConfig(sandbox="required", sandbox_network="off"), str(tmp_path))
    assert first is not None
    assert second is not None
    assert second.layout.writable == first.layout.writable == (str(tmp_path / "a"),)
    assert (first.layout.has_network, second.layout.has_network) == (True, False)
    assert (tried, await sandboxes.look(REQUIRED)) == (["tried"], "on")


async def test_without_a_sandbox_auto_runs_and_required_does_not(tmp_path: Path) -> None:
    sandboxes = Sandboxes(tmp_path, {}, lambda environ: Probe(problem="bubblewrap is not installed; install it"))
    assert await sandboxes.sandbox(AUTO, str(tmp_path)) is None
    assert await sandboxes.look(AUTO) == "missing"
    with pytest.raises(AgentFailure, match=r"tools\.sandbox is required, and bubblewrap is not installed"):
        await sandboxes.sandbox(REQUIRED, str(tmp_path))


# In a whole engine


def missing(spill_dir: Path) -> Sandboxes:
    return Sandboxes(spill_dir, probe=lambda environ: Probe(problem="it is broken"))


async def test_required_refuses_bash_of_the_turn_and_of_children_but_not_the_persons(tmp_path: Path) -> None:
    bash = calls(("bash", {"command": "touch made"}))
    client = ScriptedClient(cast(direct=[bash, calls(to("worker"), first_id=5), "done"], worker=[bash, report()]))
    runtime = open_engine(tmp_path, client, {"tools": {"sandbox": "required"}})
    runtime.session.sandboxes = missing(tmp_path / ".spill")
    await run_turn(runtime, "go")
    assert "bash was not run: tools.sandbox is required, and it is broken" in client.requests[-1].messages[3].content
    refused = [request.messages[-1].content for request in (client.requests[1], client.requests[3])]
    assert all("it is broken" in content for content in refused)
    assert not (tmp_path / "made").exists()
    await run_turn(runtime, "!touch made")
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("setting", ["off", "auto"])
async def test_auto_without_a_sandbox_runs_as_off_does(tmp_path: Path, setting: str) -> None:
    client = ScriptedClient(calls(("bash", {"command": "echo ran"})), "done")
    runtime = open_engine(tmp_path, client, {"tools": {"sandbox": setting}})
    runtime.session.sandboxes = missing(tmp_path / ".spill")
    await run_turn(runtime, "go")
    assert results_of(runtime.services.conversation.messages)[0].content == "ran\n[exit code 0]"


async def test_b27_keys_reach_no_sandboxed_command_and_tmp_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not works():
        return
    for name, value in (("LLM_API_KEY", "sk-SECRET123"), ("LINKUP_API_KEY", "lk-SECRET456"), ("MY_VAR", "1")):
        monkeypatch.setenv(name, value)
    commands = ["env; cat /proc/*/environ /proc/1/cmdline; echo kept >/tmp/sandbox-note", "cat $TMPDIR/sandbox-note"]
    client = ScriptedClient(*(calls(("bash", {"command": command})) for command in commands), "done")
    runtime = open_engine(tmp_path, client, {"tools": {"sandbox": "required"}})
    await run_turn(runtime, "go")
    first, second = (message.content for message in results_of(runtime.services.conversation.messages))
    assert "SECRET" not in first
    assert "MY_VAR=1" in first
    assert second == "kept\n[exit code 0]"
    assert not Path("/tmp/sandbox-note").exists()
    await runtime.stop_session("end")


@pytest.mark.parametrize(
    ("tools", "probe", "words"),
    [
        (ToolsConfig(), Probe(program="/b"), "(tools.sandbox is off)\nbubblewrap works here"),
        (ToolsConfig(), Probe(problem="it is broken"), "(tools.sandbox is off)\nit is broken"),
        (AUTO, Probe(problem="it is broken"), "although tools.sandbox is auto\nit is broken"),
        (REQUIRED, Probe(problem="it is broken"), "no command runs (tools.sandbox is required)\nit is broken"),
        (AUTO, Probe(program="/b"), "they can write /p and /git, and a /tmp of their own"),
        (
            ToolsConfig(sandbox="auto", sandbox_network="off"),
            Probe(program="/b"),
            "1 places of secrets, and have no",
        ),
    ],
)
async def test_it_is_said_what_works_and_why_not(tmp_path: Path, tools: ToolsConfig, probe: Probe, words: str) -> None:
    sandboxes = Sandboxes(tmp_path, {}, lambda environ: probe)
    await sandboxes.probe()
    layout = Layout(writable=("/p", "/git"), hidden=("/h",), kept=(), temporary="/t")
    assert words in sandbox_words(tools, sandboxes.state(tools), probe, layout)
