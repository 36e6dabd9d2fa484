"""A task that needs read, edit, bash and an answer: the repository, and a scripted model that does it."""

import re
import subprocess
from pathlib import Path
from typing import Any

from tests.support.model_steps import AnyStep, Call, Calls, Finish, Reasoning, Text, Usage

TASK = "prices.py prints 45.0 where 15.0 is right. Find the mistake, correct it, and run the file."
WRONG = '''def total(prices, discount):
    """Return the sum of the prices, less the discount in percent."""
    return sum(prices) * (1 + discount / 100)


if __name__ == "__main__":
    print(total([10, 20], 50))
'''
RIGHT_LINE = "    return sum(prices) * (1 - discount / 100)"
ANSWER = """`total` now **subtracts** the discount:

```python
def total(prices, discount):
    return sum(prices) * (1 - discount / 100)
```

| call | before | after |
| --- | --- | --- |
| `total([10, 20], 50)` | 45.0 | 15.0 |

- changed `prices.py`, line 3
- ran it: it prints `15.0`
"""


def make_repository(folder: Path) -> Path:
    """Make a git repository that holds the file with the mistake."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prices.py").write_text(WRONG)
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "start"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def do_task(rate: float = 0.0, command: str = "python3 prices.py") -> Any:
    """Return a script for the model server; `rate` is in deltas a second, 0 for as fast as possible."""

    def script(request: dict[str, Any]) -> list[AnyStep]:
        messages = request["messages"]
        last_user = max(index for index, message in enumerate(messages) if message["role"] == "user")
        results = [message["content"] for message in messages[last_user:] if message["role"] == "tool"]
        steps = _round(results, rate, command)
        finish = "tool_calls" if any(isinstance(step, Calls) for step in steps) else "stop"
        usage = Usage(prompt_tokens=1200 + 300 * len(results), completion_tokens=60, cached_tokens=900)
        return [*steps, Finish(reason=finish), usage]

    return script


def _round(results: list[str], rate: float, command: str) -> list[AnyStep]:
    match len(results):
        case 0:
            return [
                Reasoning(
                    text="The discount is applied somewhere in prices.py. Let me read it first.", size=5, rate=rate
                ),
                Text(text="I'll look at the file first.\n", size=5, rate=rate),
                _calls("read", path="prices.py"),
            ]
        case 1:
            found = re.search(r"\b[0-9a-f]{64}\b", results[0])
            assert found, results[0]
            return [
                Text(text="The sign is wrong: a discount has to be **subtracted**.\n", size=5, rate=rate),
                _calls(
                    "edit",
                    path="prices.py",
                    operation="replace",
                    start_line=3,
                    end_line=3,
                    text=RIGHT_LINE,
                    hash=found[0],
                ),
            ]
        case 2:
            return [_calls("bash", command=command)]
        case _:
            return [Text(text=ANSWER, size=5, rate=rate)]


def _calls(name: str, **arguments: Any) -> Calls:
    return Calls(calls=(Call(name=name, arguments=arguments, split=9),))
