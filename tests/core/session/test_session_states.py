"""A state machine over the whole engine: prompts, tools, children, cancelling, editing, quitting, kills, in any order.

Small by default; `make soak` runs it for longer: SMITH_STATES is the number of walks, SMITH_STATES_STEPS their length.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import psutil
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from smith_core.commands.opening import ResumeWish
from smith_core.errors import AgentFailure
from smith_core.events import AnyEvent, ChildStarted, TurnEnded
from smith_core.messages import Message
from smith_core.runtime import Runtime
from smith_core.session.editing import TEXT
from tests.support.chosen_model import HELD, ROUNDS, ChosenModel, marks
from tests.support.engine import command, open_stored_engine, said
from tests.support.scripted_client import ScriptedClient

WALKS = int(os.environ.get("SMITH_STATES", "24"))
STEPS = int(os.environ.get("SMITH_STATES_STEPS", "24"))

CANCELLED_S = 20.0
"""What a cancelled turn may take to end where others have the processors."""

QUICK, SLOW = st.lists(st.sampled_from(sorted({*ROUNDS} - HELD)), max_size=3), st.sampled_from(sorted(HELD))


def is_watcher(process: psutil.Process) -> bool:
    """Whether it is the one that ends commands when this process is killed, which stays until then."""
    return "smith_core.process_watch" in process.cmdline()


class Walk(RuleBasedStateMachine):
    """kept: the messages that are acknowledged; whatever follows, they come back."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.root = Path(tempfile.mkdtemp(prefix="smith-walk-"))
        self.model = ChosenModel()
        self.folders = 0
        self.kept: tuple[Message, ...] = ()
        self.turn: asyncio.Task[list[AnyEvent]] | None = None

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(asyncio.wait_for(work, 60))

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.runtime.services.conversation.messages

    async def _open(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        client = ScriptedClient(self.model)
        self.runtime: Runtime = open_stored_engine(folder, client, ResumeWish("last"))
        self.folder = folder
        self.children: list[str] = []
        self.runtime.services.ui.on_event(self._note_child)
        _ = [event async for event in self.runtime.open()]

    def _note_child(self, event: AnyEvent) -> None:
        if isinstance(event, ChildStarted):
            self.children.append(event.job_id)

    @initialize()
    def start(self) -> None:
        self.do(self._open(self.root / "0"))

    # Turns

    @rule(rounds=QUICK)
    def send(self, rounds: list[str]) -> None:
        """A turn runs to its end."""
        self._send(rounds)

    @rule(before=QUICK, held=SLOW)
    def begin(self, before: list[str], held: str) -> None:
        """A turn runs to where the model, a child or a command holds it up."""
        self._send([*before, held])

    @rule(before=QUICK, held=SLOW, is_killed=st.booleans())
    def break_off(self, before: list[str], held: str, is_killed: bool) -> None:
        """A turn is held up, and in the middle of it comes the end."""
        self._send([*before, held])
        self.end(is_killed)

    def _send(self, rounds: list[str]) -> None:
        if self.turn is not None:
            heard = said(self.do(command(self.runtime, "too early")))
            # One that was let go may have come to its end meanwhile.
            assert "a turn is running" in heard or self.turn.done()
            self._note_end()
            return
        self.model.prompts += 1
        self.model.rounds, self.model.heard = rounds, set()
        self.model.gate, self.model.holds = asyncio.Event(), asyncio.Event()
        self.prompt = f"prompt {self.model.prompts}"

        async def begin() -> None:
            self.turn = asyncio.ensure_future(command(self.runtime, self.prompt))
            held = asyncio.ensure_future(self.model.holds.wait())
            await asyncio.wait({self.turn, held}, return_when=asyncio.FIRST_COMPLETED)
            held.cancel()
            await asyncio.wait({self.turn}, timeout=0.05)

        self.do(begin())
        self._note_end()

    @rule(way=st.sampled_from(["let go", "cancel", "cancel a child"]), steers=st.booleans())
    def go_on(self, way: str, steers: bool) -> None:
        """What holds the turn up ends; before that something may be said to it."""

        async def end() -> None:
            if self.turn is None:
                return
            if steers:
                self.model.prompts += 1
                self.runtime.session.steer(f"said {self.model.prompts}")
            if way == "cancel a child":
                for child in self.children[-1:]:
                    self.runtime.cancel_child(child)
            if way == "cancel":
                self.runtime.cancel()
            else:
                self.model.gate.set()
            await asyncio.wait({self.turn}, timeout=CANCELLED_S if way == "cancel" else 0.05)
            # One that has not ended would take the next prompt for one that comes too early, or not, as time has it.
            assert way != "cancel" or self.turn.done()

        self.do(end())
        self._note_end()

    def _note_end(self) -> None:
        if self.turn is not None and self.turn.done():
            events, self.turn = self.turn.result(), None
            assert any(isinstance(event, TurnEnded) for event in events), events
            self.kept = self.messages
            assert {self.prompt, *self.model.heard} <= self._marks()

    def _marks(self) -> set[str]:
        return {mark for message in self.messages for mark in marks(message.content)}

    # Editing

    @rule(index=st.integers(0, 30), way=st.sampled_from(["delete", "edit", "undo", "redo"]))
    def edit(self, index: int, way: str) -> None:
        """While a turn runs nothing is changed; else what was changed is acknowledged."""
        history = self.runtime.history

        async def change() -> None:
            numbers = [entry.sequence for entry in history.entries]
            if way in ("undo", "redo"):
                await (history.undo() if way == "undo" else history.redo())
            elif numbers:
                number = numbers[index % len(numbers)]
                await (history.delete({number}) if way == "delete" else history.edit(number, TEXT, "other words"))

        try:
            self.do(change())
        except AgentFailure as caught:
            assert caught.error.kind in ("policy", "schema")
        self._compare()

    def _compare(self) -> None:
        """While the turn runs nothing has changed but by its end; else what there is now is acknowledged."""
        if self.turn is not None and self.turn.done():
            self.turn = None
        if self.turn is None:
            self.kept = self.messages
        else:
            assert self.messages[: len(self.kept)] == self.kept

    @rule(
        line=st.sampled_from(
            ["/undo", "/undo 2", "/retry", "/new", "/fork", "/title x", "/usage", "/role orchestrator"]
        )
    )
    def run(self, line: str) -> None:
        """Commands; what they change is acknowledged, and while a turn runs they change nothing of what was said."""
        if self.turn is None:
            self.model.rounds = []
        self.do(command(self.runtime, line))
        self._compare()
        if self.turn is None:
            self.do(command(self.runtime, "/role direct"))

    # Ends

    @rule(is_killed=st.booleans())
    def begin_anew(self, is_killed: bool) -> None:
        """The app ends, wherever it is, and is started again."""
        self.end(is_killed)

    def end(self, is_killed: bool) -> None:
        """The next start goes on where this one was; one after a kill finds the files as they are at that moment."""
        before, folder = self.kept, self.folder
        heard = self.model.heard if self.turn is not None else set()
        if is_killed:
            self.folders += 1
            folder = self.root / str(self.folders)
            shutil.copytree(self.folder, folder)
            # What was said to a turn is on record with the end of the turn.
            heard = {mark for mark in heard if mark.startswith("prompt")}
        self.do(self.runtime.stop_session("quit"))
        self._drop_turn()
        self.do(self._open(folder))
        if before:
            assert self.messages[: len(before)] == before
        assert heard <= self._marks()
        self.kept = self.messages

    def _drop_turn(self) -> None:
        if self.turn is not None:
            self.turn.cancel()
            self.do(asyncio.wait({self.turn}))
            self.turn = None

    # What holds at any time

    @invariant()
    def requests_are_valid(self) -> None:
        assert self.model.refused == []

    @invariant()
    def what_is_shown_is_stored(self) -> None:
        if hasattr(self, "runtime") and self.turn is None and self.messages:
            stored = self.do(
                self.runtime.services.persistence.load_stored(self.runtime.services.conversation.conversation_id)
            )
            assert tuple(item.message for item in stored) == self.messages

    def teardown(self) -> None:
        if hasattr(self, "runtime"):
            self.do(self.runtime.stop_session("over"))
            self._drop_turn()
        self.runner.close()
        assert [child for child in psutil.Process().children(recursive=True) if not is_watcher(child)] == []
        shutil.rmtree(self.root)


TestWalks = Walk.TestCase
TestWalks.settings = settings(
    max_examples=WALKS,
    stateful_step_count=STEPS,
    deadline=None,
    database=None,
    derandomize="SMITH_STATES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
