"""Keys stay out of what child processes get and can read."""

import subprocess
import sys

import pytest

from smith_core.config.schema import to_config
from smith_core.secrets import child_environment, key_variables

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
