"""The small model is for machines with little free memory, or for people who want it."""

from pathlib import Path

import pytest

from smith_core.embedded.catalog import DEFAULT_MODEL, SMALL_MODEL
from smith_core.embedded.choice import available_memory_bytes, default_model_name
from smith_core.errors import AgentFailure


@pytest.mark.parametrize(
    ("available", "name"),
    [
        (0, SMALL_MODEL.name),
        (2_999_999_999, SMALL_MODEL.name),
        (3_000_000_000, DEFAULT_MODEL.name),
        (64_000_000_000, DEFAULT_MODEL.name),
    ],
)
def test_free_memory_decides(available: int, name: str) -> None:
    assert default_model_name(available_bytes=available) == name


def test_what_was_chosen_wins_over_memory() -> None:
    assert default_model_name("default", available_bytes=0) == DEFAULT_MODEL.name
    assert default_model_name("small", available_bytes=10**12) == SMALL_MODEL.name
    with pytest.raises(AgentFailure):
        default_model_name("huge")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MemTotal:  9 kB\nMemAvailable:    1024 kB\n", 1_048_576),
        ("MemTotal:  9 kB\n", None),
        ("MemAvailable:\n", None),
        ("MemAvailable: many kB\n", None),
        ("", None),
    ],
)
def test_free_memory_is_read_or_unknown(tmp_path: Path, text: str, expected: int | None) -> None:
    path = tmp_path / "meminfo"
    path.write_text(text)
    assert available_memory_bytes(path) == expected


def test_a_system_that_tells_nothing_gets_the_default(tmp_path: Path) -> None:
    assert available_memory_bytes(tmp_path / "missing") is None
