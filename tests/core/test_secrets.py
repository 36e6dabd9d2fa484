"""Keys stay out of what child processes get and can read."""

import subprocess
import sys
from pathlib import Path

import pytest

from smith_core.config.schema import to_config
from smith_core.secrets import child_environment, key_variables, password_variables, secret_variables

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
