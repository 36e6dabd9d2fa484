"""What a command works with."""

from smith_core.events import CommandOutput, Emit
from smith_core.session.session import Session


class CommandContext:
    """The session, and the way to report."""

    def __init__(self, session: Session, emit: Emit) -> None:
        self.session = session
        self.services = session.services
        self.emit = emit

    def say(self, command: str, text: str) -> None:
        """Show plain text as the command's output."""
        self.emit(CommandOutput(command=command, text=text))
