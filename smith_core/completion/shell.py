"""What a line for a shell wants at its caret, and how a path is written in one; pure functions."""

import re

import msgspec

_SEPARATORS = frozenset("|&;()\n`")
_REDIRECTIONS = frozenset("<>")
_IN_DOUBLE_QUOTES = frozenset('"\\$`')
_OPTION_OR_VARIABLE = re.compile(r"-[\w-]*|[A-Za-z_]\w*")
_SPECIAL = re.compile(r"""[ \t!"#$&'()*;<>?\[\\\]^`{|}~]""")
_HOME = re.compile(r"~[\w.-]*")
_REST_OF_WORD = re.compile(r"(?:\\.|[^\s\\])*")


class ShellWord(msgspec.Struct, frozen=True):
    """The word that a caret is in: where it begins, what it says without its quotes, whether it names a program."""

    start: int
    text: str
    is_program: bool


class _Words:
    """Walks through a line up to its caret by the rules of POSIX, 2.2 and 2.3, and remembers the last word."""

    def __init__(self) -> None:
        self.is_program = True
        self._restart(0)

    def add(self, letters: str) -> None:
        """Go on with the word, which is there even without letters, as by a pair of quotes."""
        self.letters.append(letters)

    def end(self, next_start: int) -> None:
        """End the word, if there is one; what follows a program is its arguments."""
        if self.letters and not self.is_value:
            self.is_program = False
        self._restart(next_start)

    def begin(self, next_start: int, *, is_program: bool) -> None:
        """End the word, whatever it was; a program or a path follows."""
        self.is_program = is_program
        self._restart(next_start)

    def assign(self, next_start: int) -> None:
        """Take what stands behind `--option=` or `NAME=` for a word of its own; the latter may precede a program."""
        if _OPTION_OR_VARIABLE.fullmatch("".join(self.letters)):
            self._restart(next_start)
            self.is_value = True
        else:
            self.add("=")

    def _restart(self, start: int) -> None:
        self.start = start
        self.letters: list[str] = []
        self.is_value = False


def shell_word(line: str) -> ShellWord:
    """Return the word at the end of a line."""
    words, quote, index = _Words(), "", 0
    while index < len(line):
        letter, index = line[index], index + 1
        if letter == quote:
            quote = ""
        elif quote == "'":
            words.add(letter)
        elif letter == "\\":
            following = line[index : index + 1]
            words.add(letter + following if quote and following not in _IN_DOUBLE_QUOTES else following)
            index += 1
        elif quote:
            words.add(letter)
        elif letter in "'\"":
            quote = letter
            words.add("")
        else:
            _plain(words, letter, index)
    return ShellWord(words.start, "".join(words.letters), words.is_program and not words.is_value)


def _plain(words: _Words, letter: str, behind: int) -> None:
    if letter in _SEPARATORS:
        words.begin(behind, is_program=True)
    elif letter in _REDIRECTIONS:
        words.begin(behind, is_program=False)
    elif letter.isspace():
        words.end(behind)
    elif letter == "=":
        words.assign(behind)
    else:
        words.add(letter)


def rest_of_shell_word(text: str, caret: int) -> int:
    """Return where the word that the caret is in ends."""
    match = _REST_OF_WORD.match(text, caret)
    return match.end() if match else caret


def in_shell(path: str) -> str | None:
    """Return how a shell's line writes a path that may go on, None for a name that it cannot write.

    A `~` in front stays what it means.
    """
    if not path.isprintable():
        return None
    home, slash, rest = path.partition("/")
    if not _HOME.fullmatch(home):
        return _SPECIAL.sub(r"\\\g<0>", path)
    return home + slash + _SPECIAL.sub(r"\\\g<0>", rest)
