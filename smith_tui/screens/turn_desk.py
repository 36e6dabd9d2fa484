"""The turns of the main screen: one runs, what is sent meanwhile waits or is said to it, and nothing of it is lost."""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from smith_tui.prompt_queue import PromptQueue
from smith_tui.transcript.blocks import FILES_LINK

if TYPE_CHECKING:
    from smith_core.events import AnyEvent
    from smith_core.messages import Message
    from smith_core.runtime import Runtime
    from smith_core.turn_files import TurnFiles
    from smith_tui.transcript.view import Transcript
    from smith_tui.widgets.prompt import Prompt

GIVEN_BACK = "The input line is in use, so the prompt that was taken back is in its history (Up)."


class TurnHost(Protocol):
    """What turns need of the screen that they run on."""

    prompt: "Prompt"
    transcript: "Transcript"

    @property
    def is_attached(self) -> bool:
        """Whether the screen is there; it is not while the app ends."""
        ...

    @property
    def runtime(self) -> "Runtime":
        """The engine."""
        ...

    def start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Run something in the background, its mistakes reported."""
        ...

    def show(self, event: "AnyEvent", found: str = "") -> None:
        """Show an event."""
        ...


class TurnDesk:
    """Sends prompts and commands to the engine, one turn at a time."""

    def __init__(self, host: TurnHost, queue: PromptQueue) -> None:
        self._host = host
        self._queue = queue
        self._turn: asyncio.Task[None] | None = None
        self._commands: set[asyncio.Task[None]] = set()
        self._prompts_heard = 0
        self._is_moving = False
        self._is_unwanted = False
        self._conversation_id = ""
        queue.kept = self._keep_waiting
        self.said: list[Message] = []
        """What the running turn has said so far."""

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return self._turn is not None

    def submit(self, text: str) -> None:
        """Run a prompt or a command; a prompt waits while a turn runs, and while a command may yet begin one."""
        if text.startswith("/") and not self._is_prompt_by_name(text):
            if self._is_cancel(text) and self.cancel():
                return
            command = self._host.start(self._run(text))
            self._commands.add(command)
            command.add_done_callback(self._command_over)
            return
        self._host.transcript.follow()
        if self._turn is not None or self._commands:
            self._queue.add(text)
        else:
            self._turn = self._host.start(self._run(text))
            self._turn.add_done_callback(self._turn_over)

    def steer(self, text: str) -> None:
        """Say something to the running turn; where none takes it, it is sent like any other prompt."""
        if self._turn is None or text.startswith(("/", "!")) or not self._host.runtime.session.steer(text):
            self.submit(text)
        else:
            self._queue.add_said(text)

    def cancel(self) -> bool:
        """Cancel the running turn and give what waits back to the prompt; say whether one was running."""
        if self._turn is None:
            return False
        session = self._host.runtime.session
        self._queue.not_heard(session.take_steering())
        # One that is about to begin is cancelled as soon as it has.
        self._is_unwanted = not self._host.runtime.cancel()
        waiting = self._queue.take_all()
        if waiting:
            self._give_back(*waiting)
        return True

    def note(self, event: "AnyEvent") -> None:
        """Keep the queue in line with what happens."""
        from smith_core import events
        from smith_core.messages import typed_text

        match event:
            case events.TurnStarted():
                self._turn_begun()
            case events.MessageAdded(message=message):
                self.said.append(message)
                if message.role == "user":
                    self._prompts_heard += 1
                    if self._prompts_heard > 1:
                        self._queue.heard(typed_text(message))
            case events.TurnEnded(result=result):
                self.said = []
                self._queue.is_held = result.stop_reason not in ("completed", "cancelled")
            case events.PromptReturned(text=text):
                self._take_back(text)
            case events.ConversationLoaded(is_read_only=True):
                # Following goes on until the conversation is left, and begins no turn.
                self._command_over(asyncio.current_task())
            case events.SessionChanged(conversation_id=conversation_id):
                # What waits is kept with its own conversation, and comes back with it.
                if self._conversation_id not in ("", conversation_id) and self._turn is None:
                    self._queue.open((), leave=True)
                self._conversation_id = conversation_id
            case events.PromptsWaiting(texts=texts):
                self._queue.open(texts, leave=False)
            case _:
                pass

    # What the cards of changed files ask for

    def open_link(self, link: str) -> bool:
        """Move the files of the turn whose card was clicked; say whether it was such a card."""
        if not link.startswith(FILES_LINK):
            return False
        self.move_files(link.removeprefix(FILES_LINK))
        return True

    def move_files(self, turn_id: str = "") -> None:
        """Take back what a turn did to files, or put it again; by default the last turn in view."""
        turn = self._host.transcript.files_of(turn_id)
        if turn is not None and not self._is_moving:
            self._is_moving = True
            self._host.start(self._move(turn))

    async def _move(self, turn: "TurnFiles") -> None:
        try:
            async for event in self._host.runtime.move_files(turn.turn_id, "redo" if turn.is_undone else "undo"):
                self._host.show(event)
        finally:
            self._is_moving = False

    # What the panel of the queue asks for

    def edit(self, index: int) -> None:
        """Take a waiting prompt back into the input line, before what is there."""
        text = self._withdraw(index)
        if text is not None:
            self._give_back(text)

    def send_now(self, index: int) -> None:
        """Say a waiting prompt to the running turn, or send it when none runs."""
        text = self._withdraw(index)
        if text is not None:
            self.steer(text)

    def remove(self, index: int) -> None:
        """Take a waiting prompt out of the queue, and leave it in the history of the input line alone."""
        self._withdraw(index)

    def _withdraw(self, index: int) -> str | None:
        item = self._queue.items[index] if 0 <= index < len(self._queue) else None
        if item is None:
            return None
        if item.is_said:
            session = self._host.runtime.session
            said = list(session.take_steering())
            is_unheard = item.text in said
            if is_unheard:
                said.remove(item.text)
            for text in said:
                session.steer(text)
            if not is_unheard:
                return None  # the turn has it already
        self._queue.remove(index)
        return item.text

    # Inside

    def _keep_waiting(self) -> None:
        if self._host.is_attached:
            self._host.runtime.keep_waiting(tuple(item.text for item in self._queue.items))

    def _is_prompt_by_name(self, line: str) -> bool:
        """Whether a line is a command of the person's own while a turn runs: such a one waits like its text would."""
        from smith_core.command_table import split_command

        if self._turn is None:
            return False
        table = self._host.runtime.services.command
        name, _ = split_command(line)
        return table.get(name) is not None and name not in table.own_names

    @staticmethod
    def _is_cancel(line: str) -> bool:
        """Whether a line is the command that does what the key does: the engine knows nothing of what waits here."""
        from smith_core.command_table import split_command

        return split_command(line)[0] == "cancel"

    async def _run(self, line: str) -> None:
        from smith_core.events import PickerRequested, ViewRequested

        is_first = line.startswith("/")
        async for event in self._host.runtime.process_raw_input(line):
            # Who comes back from a screen without having chosen finds the transcript where it was.
            if is_first and not isinstance(event, PickerRequested | ViewRequested):
                self._host.transcript.follow()
            is_first = False
            self._host.show(event)

    def _turn_begun(self) -> None:
        self._prompts_heard = 0
        self.said = []
        self._queue.is_held = False
        self._queue.changed()
        if self._is_unwanted:
            self._is_unwanted = False
            self._host.runtime.cancel()
        if self._turn is None and (task := asyncio.current_task()) is not None:
            # A command has begun it.
            self._turn = task
            task.add_done_callback(self._turn_over)

    def _turn_over(self, turn: "asyncio.Task[None]") -> None:
        self._turn, self._is_unwanted = None, False
        if not self._host.is_attached:
            return
        self._queue.not_heard(self._host.runtime.session.take_steering())
        self._send_next()

    def _command_over(self, command: "asyncio.Task[Any] | None") -> None:
        if command in self._commands:
            self._commands.remove(command)
            self._send_next()

    def _send_next(self) -> None:
        if self._turn is not None or self._commands or self._queue.is_held or not self._host.is_attached:
            return
        text = self._queue.pop()
        if text is not None:
            self.submit(text)

    def _give_back(self, *texts: str) -> None:
        prompt = self._host.prompt
        prompt.load("\n\n".join([*texts, *([prompt.text] if prompt.text else [])]))

    def _take_back(self, text: str) -> None:
        prompt = self._host.prompt
        if prompt.text.strip():
            prompt.add_history(text)
            self._host.transcript.add_notice("info", GIVEN_BACK)
        else:
            prompt.load(text)
