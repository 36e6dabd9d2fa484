"""What rules a local model out on this machine, each in one sentence."""

from pathlib import Path

import pytest

from smith_core.embedded.runtime.machine import machine_problem, usable_cores, weights_problem


@pytest.mark.parametrize(
    ("machine", "flags", "code"),
    [
        ("x86_64", "flags\t\t: fpu sse2 avx avx2 fma", None),
        ("x86_64", "flags\t\t: fpu sse2 avx", "no_avx2"),
        ("AMD64", "flags\t\t: fpu avx512f", "no_avx2"),
        ("x86_64", "model name\t: odd", None),
        ("aarch64", "flags\t\t: none", None),
    ],
)
def test_an_x86_processor_needs_avx2(tmp_path: Path, machine: str, flags: str, code: str | None) -> None:
    cpu_info = tmp_path / "cpuinfo"
    cpu_info.write_text(f"processor\t: 0\n{flags}\n")
    problem = machine_problem(machine, cpu_info)
    assert (problem.code if problem else None) == code
    assert machine_problem(machine, tmp_path / "missing") is None


def test_a_file_is_looked_at_before_it_is_loaded(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.gguf", tmp_path / "bad.gguf"
    good.write_bytes(b"GGUF" + bytes(1000))
    bad.write_bytes(b"GG")
    assert weights_problem(good, 10**10) is None
    codes = [
        weights_problem(path, free) for path, free in ((bad, 10**10), (good, 10**6), (tmp_path / "no.gguf", 10**10))
    ]
    assert [problem.code for problem in codes if problem] == ["wrong_weights", "out_of_memory", "no_weights"]
    assert "small model" in str(codes[1])
    assert weights_problem(tmp_path, 10**10) is not None


def test_there_is_at_least_one_core() -> None:
    assert usable_cores() >= 1
