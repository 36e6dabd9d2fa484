"""Security, secrets: keys reach nobody who needs none, and what is kept is its owner's alone (B27, B28)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smith_core.config.schema import to_config
from smith_core.paths import ensure_private_dir
from smith_core.secrets import child_environment, key_variables, password_variables, secret_variables
from tests.support.model_steps import Call, Calls, Finish, Status
from tests.support.place import Place, run
from tests.support.seat import Seat
from tests.support.server_thread import ServerThread

ENVIRON = {"LLM_API_KEY": "a", "LINKUP_API_KEY": "b", "OTHER_KEY": "c", "SEARCH": "d", "PATH": "/bin", "MY_VAR": "1"}


@pytest.mark.parametrize(
    ("settings", "hidden"),
    [
        ({}, {"LLM_API_KEY", "LINKUP_API_KEY"}),
        ({"llm_config": {"api_key_env": "OTHER_KEY"}}, {"OTHER_KEY", "LINKUP_API_KEY"}),
        ({"services": {"tool": {"web_search": {"api_key_env": "SEARCH"}}}}, {"LLM_API_KEY", "SEARCH"}),
    ],
)
def test_b27_only_the_named_variables_are_removed(settings: dict[str, object], hidden: set[str]) -> None:
    config = to_config(settings)
    assert set(key_variables(config)) == hidden
    assert set(ENVIRON) - set(child_environment(config, ENVIRON)) == hidden


def test_b27_the_initial_environment_block_is_overwritten_and_our_copy_stays() -> None:
    code = (
        "import os; from smith_core.secrets import hide_from_proc; hide_from_proc(['LLM_API_KEY', 'NOT_THERE']);"
        "print(os.environ['LLM_API_KEY'], b'SECRET' in open('/proc/self/environ', 'rb').read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"LLM_API_KEY": "sk-SECRET"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["sk-SECRET", "False"]


def test_b27_variables_that_sound_secret_are_known_before_a_setting_names_them() -> None:
    environ = {"OTHER_KEY": "", "GitHub_Token": "", "DB_PASSWORD": "", "CLIENT_SECRET_2": "", "PATH": "", "LANG": ""}
    assert set(secret_variables(environ)) == {"OTHER_KEY", "GitHub_Token", "DB_PASSWORD", "CLIENT_SECRET_2"}


def test_b27_addresses_with_a_password_are_secrets_too() -> None:
    environ = {"HTTPS_PROXY": "http://me:pw@proxy:1", "A": "http://proxy:1/a:b@c", "B": "me:pw@x", "C": "x://:p@h"}
    assert password_variables(environ) == ("HTTPS_PROXY", "C")


def test_b27_a_key_that_is_named_later_is_hidden_from_then_on(tmp_path: Path) -> None:
    code = """
import asyncio, sys
from pathlib import Path
from tests.support.engine import open_engine
from tests.support.scripted_client import ScriptedClient

async def main():
    runtime = open_engine(Path(sys.argv[1]), ScriptedClient("x"))
    async for _ in runtime.process_raw_input("/config set llm_config.api_key_env MINE"):
        pass
    print(b"SECRET" in open("/proc/self/environ", "rb").read())

asyncio.run(main())
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    environ = {"MINE": "sk-SECRET", "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_b27_no_child_sees_a_key(own_place: Place) -> None:
    own_place.environ |= {"LLM_API_KEY": "sk-test-SECRET123", "LINKUP_API_KEY": "lk-SECRET456", "MY_VAR": "1"}
    own_place.environ["OTHER_KEY"] = "ok-other789"
    # Of all our processes: this command, the program, and the host that it started.
    command = (
        "env; for pid in self $PPID $(pgrep -P $PPID); do echo process $pid; tr '\\0' '\\n' </proc/$pid/environ; done"
    )
    answers = [
        [Calls(calls=(Call(name="bash", arguments={"command": command}),)), Finish(reason="tool_calls")],
        "seen",
    ]
    with ServerThread(answers) as server:
        done = run(own_place, server.url, "--model", "m", "--json")
        assert server.requests[0].key == "sk-test-SECRET123"
    assert "MY_VAR=1" in done.stdout
    assert done.stdout.count("process ") >= 3
    assert "SECRET" not in done.stdout + done.stderr
    # Commands may have a key that is not ours; nobody needs it from our other processes.
    assert "OTHER_KEY=ok-other789" in done.stdout
    assert done.stdout.count("OTHER_KEY=-----------") >= 2
    kept = subprocess.run(["grep", "-ra", "SECRET", str(own_place.home), str(own_place.project)], capture_output=True)
    assert kept.stdout == b""


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.usefixtures("open_umask")
def test_b28_new_folders_and_their_parents_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "share" / "smith"
    assert ensure_private_dir(folder) == folder
    assert (_mode(folder), _mode(folder.parent)) == (0o700, 0o700)


@pytest.mark.usefixtures("open_umask")
def test_b28_an_opened_folder_is_closed_again_and_its_parent_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "share" / "smith"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    ensure_private_dir(folder)
    assert (_mode(folder), _mode(folder.parent)) == (0o700, 0o755)
    folder.chmod(0o500)
    ensure_private_dir(folder)
    assert _mode(folder) == 0o500


KEY = "sk-smith-seat-SECRET123"
LOOKS = [
    "env; set",
    "cat /proc/self/environ /proc/$PPID/environ; tr '\\0' '\\n' < /proc/$PPID/environ",
    "for each in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $each 2>/dev/null | grep -a smith-seat; done; true",
    "ps axeww | grep smith-seat | cut -c 1-2000; true",
    "git -c alias.x='!env' x; python3 -c 'import os; print(os.environ)'",
]


def test_b27_neither_commands_nor_errors_nor_files_ever_show_a_key(place: Place) -> None:
    place.environ |= {
        "LLM_API_KEY": KEY, "LINKUP_API_KEY": "lk-smith-seat-SECRET456", "MY_VAR": "1",
    }  # fmt: skip
    with Seat(place, "--model", "m") as seat:
        results = seat.run(*LOOKS, timeout=60)
        assert "MY_VAR=1" in results[0]
        seat.refused(
            "refuse", Status(status=401, body={"error": {"message": "bad"}}, echo_key=True), shows="LLM_API_KEY"
        )
        for number, body in enumerate(
            (f"{KEY} {KEY[:12]}", f"https://x/?key={KEY}&y", f'{{"k": "{KEY}"}}', f"\\n{KEY}\\n")
        ):
            refusal = Status(status=400, body={"error": {"message": f"{body} refusal {number}"}})
            seat.ask("in between")
            seat.refused("again", refusal, shows=f"refusal {number}")
        assert b"SECRET" not in bytes(seat.terminal.raw)
        assert not any("SECRET" in result for result in results)
        assert b"SECRET" not in b"".join(request.body for request in seat.server.requests)
        seat.terminal.type("/quit\r")
    kept = subprocess.run(["grep", "-ra", "SECRET", str(place.home), str(place.project)], capture_output=True)
    assert kept.stdout == b""
