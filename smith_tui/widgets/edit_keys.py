"""What the usual editing keys do to an edit buffer, as two tables that every text field shares."""

from collections.abc import Callable, Mapping

from smith_tui.widgets.edit_buffer import EditBuffer

MOVES: Mapping[str, Callable[[EditBuffer], int]] = {
    "left": EditBuffer.left,
    "right": EditBuffer.right,
    "ctrl+left": EditBuffer.word_left,
    "alt+left": EditBuffer.word_left,
    "alt+b": EditBuffer.word_left,
    "ctrl+right": EditBuffer.word_right,
    "alt+right": EditBuffer.word_right,
    "alt+f": EditBuffer.word_right,
    "home": EditBuffer.line_start,
    "ctrl+a": EditBuffer.line_start,
    "end": EditBuffer.line_end,
    "ctrl+e": EditBuffer.line_end,
    "ctrl+home": lambda buffer: 0,
    "ctrl+end": lambda buffer: len(buffer.text),
}
"""Key → the position that the caret goes to; with Shift it selects on the way."""

DELETIONS: Mapping[str, Callable[[EditBuffer], int]] = {
    "backspace": EditBuffer.left,
    "shift+backspace": EditBuffer.left,
    "ctrl+h": EditBuffer.left,
    "delete": EditBuffer.right,
    "ctrl+d": EditBuffer.right,
    "ctrl+w": EditBuffer.word_left,
    "ctrl+backspace": EditBuffer.word_left,
    "alt+backspace": EditBuffer.word_left,
    "alt+d": EditBuffer.word_right,
    "ctrl+delete": EditBuffer.word_right,
    "ctrl+u": EditBuffer.line_start,
    "ctrl+k": EditBuffer.line_end,
}
"""Key → the position up to which is deleted, unless something is selected."""


def press(buffer: EditBuffer, key: str, character: str | None) -> bool:
    """Do what the key does to the text; False when it does nothing here."""
    plain = key.replace("shift+", "")
    if key in DELETIONS:
        buffer.delete_to(DELETIONS[key](buffer))
    elif plain in MOVES:
        start, end = buffer.selection
        if start != end and plain in ("left", "right") and key == plain:
            buffer.move_to(start if plain == "left" else end)
        else:
            buffer.move_to(MOVES[plain](buffer), select=key != plain)
    elif types(key, character):
        buffer.type(character or "")
    else:
        return False
    return True


def types(key: str, character: str | None) -> bool:
    """Say whether the key stands for a character of text."""
    if character is None or len(character) != 1 or set(key.split("+")[:-1]) - {"shift"}:
        return False
    # Joiners and wide spaces are text too, though str.isprintable says no.
    return character.isprintable() or (character >= "\xa0" and not "\ud800" <= character <= "\udfff")
