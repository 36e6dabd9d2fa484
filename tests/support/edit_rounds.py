"""One of several processes that edit the same file: `python edit_rounds.py FILE NAME ROUNDS` prints the refusals."""

import asyncio
import sys
from pathlib import Path

from tests.support.file_tools import edit


async def edit_rounds(target: Path, name: str, rounds: int) -> tuple[set[str], int]:
    """Insert one line per round at the top, reading again after each refusal; return the lines and the refusals."""
    done: set[str] = set()
    refused = 0
    for number in range(rounds):
        while True:
            outcome = await edit(target.parent, target.name, "insert", 0, text=f"{name}-{number}")
            if outcome.ok:
                done.add(f"{name}-{number}")
                break
            assert outcome.mutation_state == "none"
            assert "changed" in outcome.content, outcome.content
            refused += 1
    return done, refused


if __name__ == "__main__":
    lines, refusals = asyncio.run(edit_rounds(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
    print(len(lines), refusals)
