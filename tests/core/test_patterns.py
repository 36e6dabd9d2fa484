"""Patterns that are compiled when they are first used: they do what others do, and cost a start nothing."""

import ast
import re
import subprocess
import sys

import pytest

from smith_core.patterns import later

COMPILED = """
import importlib, re, sys
compiled = []
real = re._compiler.compile
re._compiler.compile = lambda pattern, flags=0: compiled.append(pattern) or real(pattern, flags)
importlib.import_module(sys.argv[1])
print(compiled)
"""


def test_a_pattern_does_all_that_a_compiled_one_does() -> None:
    text = later(r"(\w+)=(\d+)", re.IGNORECASE)
    assert text.findall("a=1, B=22") == [("a", "1"), ("B", "22")]
    assert text.fullmatch("c=3") is not None
    assert text.fullmatch("c=x") is None
    assert text.sub("-", "a=1 b") == "- b"
    assert (text.pattern, text.flags & re.IGNORECASE) == (r"(\w+)=(\d+)", re.IGNORECASE)
    assert later(rb"\d+").findall(b"1 and 22") == [b"1", b"22"]
    assert not hasattr(text, "no_such_thing")


def test_it_is_compiled_at_its_first_use_and_not_before() -> None:
    wrong = later("(")
    with pytest.raises(re.error):
        wrong.search("")


@pytest.mark.parametrize("module", ["smith_core.store.search.analysis", "smith_core.tools.git_options"])
def test_the_import_of_large_patterns_compiles_none_of_them(module: str) -> None:
    # What these import themselves is theirs: only what is as long as the rules here counts.
    done = subprocess.run([sys.executable, "-c", COMPILED, module], capture_output=True, text=True, check=True)
    assert [
        pattern for pattern in ast.literal_eval(done.stdout) if "oneline" in str(pattern) or "\u0e00" in str(pattern)
    ] == []


def test_the_import_of_the_engine_compiles_no_pattern_of_its_tools() -> None:
    module = "smith_core.composition"
    done = subprocess.run([sys.executable, "-c", COMPILED, module], capture_output=True, text=True, check=True)
    rules = ("def|class|func", "could(?: not|n't) resolve", "[0-9a-f]{40}")
    assert [pattern for pattern in ast.literal_eval(done.stdout) for rule in rules if rule in str(pattern)] == []
