"""What is counted of the screen: drawing an answer and a long conversation, and the start with a few keys."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable

from rich.console import Console
from textual._compositor import LayoutUpdate
from textual.pilot import Pilot

from smith_core.messages import Message
from smith_tui.bootstrap import ENGINE_MODULES
from smith_tui.output.canvas import Canvas
from smith_tui.transcript.view import Transcript
from tests.bench.counted import Counts
from tests.bench.counting import calls_in, memory_in
from tests.bench.programs import READY, TOKEN_CHARS, prose, smith
from tests.support.children import PROSE
from tests.support.widget_app import WidgetApp

_TOKENS_PER_FRAME = 7
"""About 200 tokens a second at 30 frames a second."""


def answer_on_the_screen() -> Counts:
    """An answer of 400 tokens, drawn frame by frame at 120×40: calls, frames and bytes for the terminal."""
    return asyncio.run(_with_transcript(_answer))


async def _answer(transcript: Transcript, pilot: Pilot[None]) -> Counts:
    canvas = Canvas(Console(force_terminal=True, color_system="truecolor")._color_system, has_color_erase=True)
    canvas.resize(120, 40)
    text, calls, frames = prose(400), 0, []
    step = _TOKENS_PER_FRAME * TOKEN_CHARS
    for start in range(0, len(text), step):
        calls += calls_in(lambda start=start: _write(transcript, text[start : start + step]))
        await pilot.pause()
        update = pilot.app.screen._compositor.render_update(full=True)
        assert isinstance(update, LayoutUpdate)
        calls += calls_in(lambda update=update: canvas.apply(update))
        calls += calls_in(lambda: frames.append(canvas.encode((0, 0))))
    return {
        "screen: calls for 400 tokens": calls,
        "screen: frames for 400 tokens": len([frame for frame in frames if frame]),
        "screen: bytes for 400 tokens": sum(len(frame.encode()) for frame in frames),
    }


def _write(transcript: Transcript, text: str) -> None:
    transcript.append_text(text)
    transcript.flush()


def conversation_on_the_screen() -> Counts:
    """A stored conversation of 2,000 messages: calls and memory until its last page is drawn."""
    return asyncio.run(_with_transcript(_conversation))


async def _conversation(transcript: Transcript, pilot: Pilot[None]) -> Counts:
    messages = [
        Message(role="assistant" if n % 2 else "user", content=PROSE if n % 2 else f"q {n}") for n in range(2000)
    ]

    def load() -> list[Message]:
        transcript.load(messages)
        transcript.flush()
        return messages

    load()
    kept, _ = memory_in(load)
    return {"screen: calls for 2,000 messages": calls_in(load), "screen: kilobytes for 2,000 messages": kept}


async def _with_transcript(work: Callable[..., object]) -> Counts:
    transcript = Transcript()
    async with WidgetApp(transcript).run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        # Shows what is loaded with the first answer.
        transcript.start_assistant("direct")
        _write(transcript, f"{PROSE}\n\n")
        transcript.end_assistant()
        transcript.clear()
        await pilot.pause()
        return await work(transcript, pilot)  # type: ignore[misc,no-any-return]


def modules_of_the_start() -> Counts:
    """Modules imported before the first paint and for the engine, beyond those of an empty Textual app."""
    script = """if True:
        import importlib, json, sys
        import tests.bench.empty_app
        empty = set(sys.modules)
        import smith_tui.app, smith_tui.bootstrap, smith_tui.screens.chat
        first = set(sys.modules)
        for name in json.loads(sys.argv[1]):
            importlib.import_module(name)
        print(json.dumps([len(first - empty), len(set(sys.modules) - first)]))
    """
    command = [sys.executable, "-c", script, json.dumps(ENGINE_MODULES)]
    first, engine = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return {"start: modules before the first paint": first, "start: modules of the engine": engine}


def start_and_keys(keys: int = 30) -> Counts:
    """Bytes to the terminal: for the start, for keys typed one by one, and while nothing happens."""
    with smith(is_first=True) as probe:
        probe.wait_for(READY)
        probe.wait_for(b"idle")
        probe.quiet(1.0, 10.0)
        start = probe.mark()
        for number in range(keys):
            key, mark = b"%c" % (97 + number % 26), probe.mark()
            probe.send(key)
            probe.wait_for(key, mark)
            probe.quiet(0.05, 1.0)
        typed = probe.mark() - start
        still = probe.read_for(3.0)
    return {
        "terminal: bytes for the start": start,
        "terminal: bytes for 30 keys": typed,
        "terminal: bytes when idle": still,
    }


SHORT: tuple[Callable[[], Counts], ...] = (answer_on_the_screen, conversation_on_the_screen)
LONG: tuple[Callable[[], Counts], ...] = (modules_of_the_start, start_and_keys)
"""Those that start programs, and so are no part of the test suite."""
