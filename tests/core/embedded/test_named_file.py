"""A file that the person names: copied if it can be the model, refused in one sentence if not."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.embedded.progress import BytesMoved, InstallEvent, Meter
from smith_core.embedded.sources import NamedFile
from smith_core.embedded.weights import ModelFiles, files_of
from smith_core.errors import AgentError, AgentFailure
from tests.support.weights_server import make_model, make_weights

DATA = make_weights(3_000_000)
MODEL = make_model(DATA)


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    (tmp_path / "models").mkdir()
    return files_of(MODEL, tmp_path / "models")


async def failure_of(path: Path, files: ModelFiles) -> AgentError:
    with pytest.raises(AgentFailure) as caught:
        await NamedFile(path).fetch(files, Meter("fetching", MODEL.size, lambda _: None), new_root())
    return caught.value.error


async def test_the_file_is_copied_and_stays(files: ModelFiles, tmp_path: Path) -> None:
    source = tmp_path / "model.gguf"
    source.write_bytes(DATA)
    files.partial.write_bytes(b"of another source")
    events: list[InstallEvent] = []
    await NamedFile(source).fetch(files, Meter("fetching", MODEL.size, events.append), new_root())
    assert files.partial.read_bytes() == source.read_bytes() == DATA
    assert any(isinstance(event, BytesMoved) and event.done == MODEL.size for event in events)


@pytest.mark.parametrize(("size", "word"), [(0, "cut short"), (2_999_999, "cut short"), (3_000_001, "another file")])
async def test_a_file_of_another_size_is_refused_before_it_is_copied(
    files: ModelFiles, tmp_path: Path, size: int, word: str
) -> None:
    source = tmp_path / "model.gguf"
    source.write_bytes(bytes(size))
    files.partial.write_bytes(DATA[:1000])
    error = await failure_of(source, files)
    assert error.code == "unreadable_file"
    assert str(source) in error.message
    assert word in error.message
    assert files.partial.read_bytes() == DATA[:1000]


async def test_what_is_no_readable_file_is_refused_without_waiting(files: ModelFiles, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (tmp_path / "missing", tmp_path, pipe, Path("/dev/zero"), loop, Path("with\0null"), pipe / "below"):
        error = await failure_of(path, files)
        assert error.code == "unreadable_file"
        assert not files.partial.exists()


async def test_cancelling_stops_the_copy(files: ModelFiles, tmp_path: Path) -> None:
    source = tmp_path / "model.gguf"
    source.write_bytes(DATA)
    token, loop, is_cancelled = new_root(), asyncio.get_running_loop(), threading.Event()

    def cancel() -> None:
        token.request()
        is_cancelled.set()

    def clock() -> float:
        # Called by the thread that copies, before its first bytes.
        loop.call_soon_threadsafe(cancel)
        assert is_cancelled.wait(30)
        return 0.0

    meter = Meter("fetching", MODEL.size, lambda _: None, clock)
    with pytest.raises(AgentFailure) as caught:
        await NamedFile(source).fetch(files, meter, token)
    assert caught.value.error.kind == "cancelled"
    assert files.partial_bytes() < MODEL.size
