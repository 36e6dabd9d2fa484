"""Which conversations this process has open: the one of the session for writing, others for a moment or for reading."""

from collections.abc import Iterator
from contextlib import contextmanager

from smith_core.store.conversation_file import ConversationFile
from smith_core.store.faults import held_elsewhere
from smith_core.store.interface import ConversationHeld
from smith_core.store.journal.lock import FileLock, LockHeldError
from smith_core.store.journal.options import JournalOptions
from smith_core.store.layout import StoreLayout

_PROBE_S = 0.05
"""Longer than another process takes to look whether a conversation is held, which locks it for a moment."""


class OpenConversations:
    """Opens, keeps and closes; raises OSError, and AgentFailure for a conversation that another process has."""

    def __init__(self, layout: StoreLayout, options: JournalOptions) -> None:
        self.held: ConversationFile | None = None
        self._layout = layout
        self._options = options
        self._followed: ConversationFile | None = None
        self._prompts: dict[str, dict[str, int]] = {}

    def prompts_of(self, conversation_id: str) -> dict[str, int]:
        """Return the numbers of prompts whose turns are not on disk, by turn."""
        return self._prompts.setdefault(conversation_id, {})

    def hold(self, conversation_id: str) -> ConversationHeld | None:
        """Make a conversation the one of the session; say who has it when it cannot be had."""
        if self._is_held(conversation_id):
            return None
        if not self._layout.conversation(conversation_id).exists():
            # It begins with its first prompt; until then there is nothing to hold.
            self._let_go()
            return None
        try:
            self._take(conversation_id)
        except LockHeldError as error:
            return ConversationHeld(conversation_id=conversation_id, pid=error.pid)
        return None

    def writing(self, conversation_id: str) -> ConversationFile:
        """Return a conversation for writing, which becomes the one of the session."""
        if self.held is not None and self._is_held(conversation_id):
            return self.held
        try:
            return self._take(conversation_id)
        except LockHeldError as error:
            raise held_elsewhere(ConversationHeld(conversation_id=conversation_id, pid=error.pid)) from error

    @contextmanager
    def borrowed(self, conversation_id: str) -> Iterator[ConversationFile]:
        """Have a conversation for writing for the time of a block."""
        if self.held is not None and self._is_held(conversation_id):
            yield self.held
            return
        try:
            file = self._open(conversation_id)
        except LockHeldError as error:
            raise held_elsewhere(ConversationHeld(conversation_id=conversation_id, pid=error.pid)) from error
        try:
            yield file
        finally:
            file.close()

    @contextmanager
    def reading(self, conversation_id: str) -> Iterator[ConversationFile | None]:
        """Have a conversation for reading for the time of a block, whoever else has it; None when there is none."""
        path = self._layout.conversation(conversation_id)
        if self._is_held(conversation_id):
            yield self.held
        elif not path.exists():
            yield None
        else:
            file = ConversationFile(conversation_id, path, self._options)
            try:
                yield file
            finally:
                file.close()

    def followed(self, conversation_id: str) -> ConversationFile | None:
        """Return a conversation as it is now for reading; it stays open for the next call."""
        if self._followed is not None and self._followed.conversation_id == conversation_id:
            self._followed.refresh()
            return self._followed
        self._stop_following()
        path = self._layout.conversation(conversation_id)
        if path.exists():
            self._followed = ConversationFile(conversation_id, path, self._options)
        return self._followed

    def close(self) -> None:
        """Close everything."""
        self._let_go()
        self._stop_following()

    def _is_held(self, conversation_id: str) -> bool:
        return self.held is not None and self.held.conversation_id == conversation_id

    def _take(self, conversation_id: str) -> ConversationFile:
        file = self._open(conversation_id)
        self._let_go()
        self.held = file
        return file

    def _let_go(self) -> None:
        if self.held is not None:
            self.held.close()
            self.held = None

    def _stop_following(self) -> None:
        if self._followed is not None:
            self._followed.close()
            self._followed = None

    def _open(self, conversation_id: str) -> ConversationFile:
        path = self._layout.conversation(conversation_id)
        self._layout.make_folder_of(path, self._options.disk)
        lock = FileLock(self._layout.lock_of(path))
        lock.acquire(_PROBE_S)
        try:
            return ConversationFile(conversation_id, path, self._options, lock, self.prompts_of(conversation_id))
        except BaseException:
            lock.release()
            raise
