"""The eight simple tasks, each in ten variants, judged by running what came of them.

The examples that the facade shows to the model resemble four of them in kind, none in wording: read and answer, run a
script, fix a wrong operator, add a function with a test. Nothing in the examples resembles the other four: change a
string, look into a folder and answer, change a config value, rename a function.
"""

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec

PHRASES = (
    "Hello, World!",
    "Goodbye moon",
    "spam and eggs",
    "pelican 42",
    "blue horse",
    "rainy Tuesday",
    "green tea",
    "seven ducks",
    "quiet river",
    "paper boat",
)
_RUN_TIMEOUT_S = 30


class Outcome(msgspec.Struct, frozen=True):
    """What a task came to: the final answer, and the names of the tools that ran."""

    answer: str
    tools: tuple[str, ...]


class Task(msgspec.Struct, frozen=True):
    """One task: `prepare` fills a folder for a variant, `prompt` asks, `judge` looks at folder and outcome."""

    name: str
    prompt: Callable[[int], str]
    prepare: Callable[[Path, int], None]
    judge: Callable[[Path, int, Outcome], bool]


def run_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder."""
    command = [sys.executable, "-B", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_RUN_TIMEOUT_S)


def holds(folder: Path, code: str) -> bool:
    """Whether code with assertions runs to its end in a folder."""
    return run_python(folder, "-c", code).returncode == 0


def _phrase(variant: int) -> str:
    return PHRASES[variant % len(PHRASES)]


def _prepare_read(folder: Path, variant: int) -> None:
    (folder / "hello.py").write_text(f'# demo\nname = "{_phrase(variant)}"\nprint(name)\n')


def _judge_read(folder: Path, variant: int, outcome: Outcome) -> bool:
    printed = run_python(folder, "hello.py").stdout.strip()
    return bool(outcome.tools) and printed == _phrase(variant) and printed.lower() in outcome.answer.lower()


def _prepare_string(folder: Path, variant: int) -> None:
    (folder / "hello.py").write_text(f'print("{_phrase(variant)}")\n')


def _judge_string(folder: Path, variant: int, outcome: Outcome) -> bool:
    return run_python(folder, "hello.py").stdout == "fresh bread\n"


def _prepare_folder(folder: Path, variant: int) -> None:
    (folder / "app.py").write_text("import util\n\n\ndef main():\n    print(util.name())\n")
    (folder / "util.py").write_text(f'def name():\n    return "{_phrase(variant)}"\n')


def _judge_folder(folder: Path, variant: int, outcome: Outcome) -> bool:
    wanted = ("app.py", "util.py", _phrase(variant).lower())
    return bool(outcome.tools) and all(word in outcome.answer.lower() for word in wanted)


def _prepare_config(folder: Path, variant: int) -> None:
    (folder / "config.toml").write_text(
        f'[server]\nhost = "localhost"\nport = {8000 + variant * 7}\n\n[db]\nname = "{_phrase(variant)}"\n'
    )


def _judge_config(folder: Path, variant: int, outcome: Outcome) -> bool:
    try:
        found = tomllib.loads((folder / "config.toml").read_text())
    except tomllib.TOMLDecodeError:
        return False
    return found == {"server": {"host": "localhost", "port": 9100 + variant}, "db": {"name": _phrase(variant)}}


def _prepare_run(folder: Path, variant: int) -> None:
    words = _phrase(variant).split()
    (folder / "hello.py").write_text(f'words = {words!r}\nprint("-".join(words), len(words) * {variant + 3})\n')


def _judge_run(folder: Path, variant: int, outcome: Outcome) -> bool:
    printed = run_python(folder, "hello.py").stdout.strip()
    return "bash" in outcome.tools and bool(printed) and printed in outcome.answer


def _old_name(variant: int) -> str:
    return _phrase(variant).split()[0].strip(",").lower() + "_one"


def _prepare_rename(folder: Path, variant: int) -> None:
    name = _old_name(variant)
    (folder / "lib.py").write_text(f"def {name}():\n    return 1\n\n\ndef twice():\n    return {name}() * 2\n")


def _judge_rename(folder: Path, variant: int, outcome: Outcome) -> bool:
    name = _old_name(variant)
    return holds(folder, f"import lib; assert lib.total() == 1 and lib.twice() == 2 and not hasattr(lib, {name!r})")


_WRONG = (("add", "+", "-", "it subtracts"), ("minus", "-", "+", "it adds"), ("times", "*", "+", "it adds"))


def _prepare_fix(folder: Path, variant: int) -> None:
    name, _, wrong, _ = _WRONG[variant % len(_WRONG)]
    (folder / "calc.py").write_text(
        f"def {name}(a, b):\n    return a {wrong} b\n\n\ndef power(a, b):\n    return a**b\n"
    )


def _prompt_fix(variant: int) -> str:
    name, _, _, complaint = _WRONG[variant % len(_WRONG)]
    return f"The function {name} in calc.py is wrong: {complaint}. Fix it."


def _judge_fix(folder: Path, variant: int, outcome: Outcome) -> bool:
    name, right, _, _ = _WRONG[variant % len(_WRONG)]
    return holds(folder, f"import calc; assert calc.{name}(7, 3) == 7 {right} 3 and calc.power(2, 5) == 32")


_NEW = (
    ("double", "n", "two times n", "n * 2"),
    ("triple", "n", "three times n", "n * 3"),
    ("square", "n", "n times n", "n * n"),
    ("next_one", "n", "n plus one", "n + 1"),
    ("minus_ten", "n", "n minus ten", "n - 10"),
)


def _prepare_add(folder: Path, variant: int) -> None:
    (folder / "numbers_lib.py").write_text("def negate(n):\n    return -n\n\n\ndef is_zero(n):\n    return n == 0\n")


def _prompt_add(variant: int) -> str:
    name, argument, what, _ = _NEW[variant % len(_NEW)]
    return (
        f"Add a function {name}({argument}) to numbers_lib.py that returns {what}, "
        "and add a test for it in test_numbers_lib.py."
    )


def _judge_add(folder: Path, variant: int, outcome: Outcome) -> bool:
    """The function is right, what was there still is, the test passes, and it fails when the function is broken."""
    name, _, _, expression = _NEW[variant % len(_NEW)]
    check = (
        f"import numbers_lib as m; assert all(m.{name}(n) == {expression} for n in (-3, 0, 5)) and m.negate(4) == -4"
    )
    if not holds(folder, check):
        return False
    test = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_numbers_lib.py")
    if run_python(folder, *test).returncode != 0:
        return False
    with (folder / "numbers_lib.py").open("a") as module:
        module.write(f"\n\ndef {name}(n):\n    return 'broken'\n")
    return run_python(folder, *test).returncode == 1


TASKS: tuple[Task, ...] = (
    Task("read and answer", lambda variant: "What does hello.py print?", _prepare_read, _judge_read),
    Task(
        "change a string",
        lambda variant: f'In hello.py, change "{_phrase(variant)}" to "fresh bread".',
        _prepare_string,
        _judge_string,
    ),
    Task(
        "look into a folder and answer",
        lambda variant: "Which files are in this folder, and what does the function name() in util.py return?",
        _prepare_folder,
        _judge_folder,
    ),
    Task(
        "change a config value",
        lambda variant: f"Set the server's port in config.toml to {9100 + variant}.",
        _prepare_config,
        _judge_config,
    ),
    Task(
        "run a script",
        lambda variant: "Run hello.py with python3 and tell me its output.",
        _prepare_run,
        _judge_run,
    ),
    Task(
        "rename a function",
        lambda variant: f"Rename the function {_old_name(variant)} to total in lib.py.",
        _prepare_rename,
        _judge_rename,
    ),
    Task("fix a wrong operator", _prompt_fix, _prepare_fix, _judge_fix),
    Task("add a function with a test", _prompt_add, _prepare_add, _judge_add),
)
