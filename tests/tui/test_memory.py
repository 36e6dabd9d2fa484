"""What a conversation that goes on and on costs the app: its texts once, and little around them."""

import gc
import tracemalloc
from pathlib import Path

from textual.pilot import Pilot

from smith_core.events import (
    AnyEvent,
    MessageAdded,
    TextDelta,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from smith_core.messages import Message, ToolResult, TurnResult
from smith_tui.app import SmithApp, app_around
from tests.support.edited_history import engine

WARM_UP, TURNS = 20, 60
OUTPUT = b"a line of it\n" * 100
BYTES_A_TURN = 15_000
"""Its texts are 3,000; the rest are its rows, which are kept for the last turns alone."""


def events_of_turn(number: int) -> list[AnyEvent]:
    """Return what a turn with one call reports."""
    call, turn, answer = f"call-{number}", f"turn-{number}", f"Answer {number} is **here** and `there`.\n"
    output = (b"%d " % number) + OUTPUT
    result = TurnResult(turn_id=turn, conversation_id="c", role="direct", stop_reason="completed", text=answer)
    return [
        TurnStarted(turn_id=turn, conversation_id="c", role="direct", text=f"Do number {number}"),
        ToolStarted(call_id=call, name="bash", arguments=f'{{"command": "show {number}"}}'),
        ToolOutput(call_id=call, chunk=output),
        ToolEnded(name="bash", result=ToolResult(call_id=call, ok=True, content=output.decode())),
        TextDelta(text=answer),
        MessageAdded(message=Message(role="assistant", content=answer)),
        TurnEnded(result=result),
    ]


async def show_turns(app: SmithApp, pilot: Pilot[None], numbers: range) -> None:
    for number in numbers:
        for event in events_of_turn(number):
            app.chat.show(event)
        app.chat.transcript.flush()
    await pilot.pause()


async def test_a_turn_costs_little_more_than_its_texts(tmp_path: Path) -> None:
    app = app_around(engine(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await show_turns(app, pilot, range(WARM_UP))
        gc.collect()
        tracemalloc.start()
        try:
            await show_turns(app, pilot, range(WARM_UP, WARM_UP + TURNS))
            gc.collect()
            assert tracemalloc.get_traced_memory()[0] < TURNS * BYTES_A_TURN
        finally:
            tracemalloc.stop()
