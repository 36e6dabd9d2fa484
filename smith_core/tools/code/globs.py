"""Globs of a model: kept from overruling ignore rules, and from becoming options."""

import re

from smith_core.tools.code.place import visible

MAX_GLOB_CHARS = 500
MAX_GROUPS = 3
"""Alternatives and ** in one glob; each multiplies the ways to match."""


class GlobError(ValueError):
    """The glob cannot be understood; the message is a sentence without its full stop."""


class PathGlob:
    """One glob as an include or, with ! in front, an exclude; a glob without a slash is matched to file names.

    ripgrep's own --glob would let an include overrule .gitignore, but a type of files would not; a type knows file
    names alone, so that the folders of a glob are matched here.
    """

    def __init__(self, glob: str) -> None:
        """Raise GlobError if there is no such glob."""
        self._excludes = glob.startswith("!")
        pattern = glob[1:] if self._excludes else glob
        while pattern.startswith("./"):
            pattern = pattern[2:]
        if not pattern.strip("/") or "\0" in pattern or len(pattern) > MAX_GLOB_CHARS:
            raise GlobError(f"the glob {visible(glob[:80])!r} is empty or too long; give one such as src/**/*.py")
        if pattern.endswith("/"):
            pattern += "**"
        self._pattern = pattern
        self._regex = _compiled(pattern)

    @property
    def options(self) -> list[str]:
        """Options that let ripgrep leave out most of what does not match."""
        # A slash inside {…} or […] would be cut in two.
        name = self._pattern.rpartition("/")[2] if not re.search(r"[\[{][^\]}]*/", self._pattern) else "*"
        if self._excludes:
            return [] if "/" in self._pattern else [f"--type-add=asked:{_harmless(name)}", "--type-not=asked"]
        return [] if name in ("*", "**") else [f"--type-add=asked:{_harmless(name)}", "--type=asked"]

    def lets_through(self, path: str, prefix: str = "") -> bool:
        """Whether a path passes; a glob with folders may be written from the searched folder or from above it."""
        if "/" not in self._pattern:
            matches = bool(self._regex.fullmatch(path.rpartition("/")[2]))
        else:
            matches = any(self._regex.fullmatch(full) for full in (path, prefix + path))
        return matches != self._excludes


def _harmless(name: str) -> str:
    # `include:` at the begin of a definition would name other types.
    return f"[{name[0]}]{name[1:]}" if name.startswith("include:") else name


_STAR, _FOLDERS, _REST = "[^/]*", "(?:.*/)?", ".*"


def _compiled(glob: str) -> re.Pattern[str]:
    words = _translated(glob)
    groups = sum(word == "(?:" for word in words)
    if groups > MAX_GROUPS or sum(word in (_FOLDERS, _REST) for word in words) > MAX_GROUPS:
        raise GlobError(f"the glob {visible(glob[:80])!r} has too many ** or {{…}}; give a simpler one")
    try:
        return re.compile("".join(_committed(words)).removeprefix("/"), re.DOTALL)
    except re.error as error:
        raise GlobError(f"the glob {visible(glob)!r} cannot be read ({error}); give one such as src/**/*.py") from None


def _translated(glob: str) -> list[str]:
    """Return the glob as pieces of a regular expression."""
    words: list[str] = []
    depth, place = 0, 0
    while place < len(glob):
        character, at_begin = glob[place], place == 0 or glob[place - 1] == "/"
        place += 1
        if at_begin and glob.startswith("**/", place - 1):
            words.append(_FOLDERS)
            place += 2
        elif at_begin and glob[place - 1 :] == "**":
            words.append(_REST)
            place += 1
        elif character == "*":
            if words[-1:] != [_STAR]:
                words.append(_STAR)
        elif character == "?":
            words.append("[^/]")
        elif character == "[" and (end := glob.find("]", place + 1)) > 0:
            inside = glob[place:end]
            negated = inside[0] in "!^"
            words.append(f"[{'^' * negated}{re.escape(inside[negated:]).replace(chr(92) + '-', '-')}]")
            place = end + 1
        elif character == "{":
            depth += 1
            words.append("(?:")
        elif character == "}" and depth:
            depth -= 1
            words.append(")")
        elif character == "," and depth:
            words.append("|")
        elif character == "\\" and place < len(glob):
            words.append(re.escape(glob[place]))
            place += 1
        else:
            words.append(re.escape(character))
    return [*words, *([")"] * depth)]


def _committed(words: list[str]) -> list[str]:
    """Let a star before another one take the first place that fits; trying the others as well could take for ever."""
    done: list[str] = []
    place = 0
    while place < len(words):
        end = place + 1
        while end < len(words) and words[end] not in (_STAR, _FOLDERS, _REST, "(?:", ")", "|"):
            end += 1
        if words[place] == _STAR and end < len(words) and words[end] == _STAR:
            done.append(f"(?>[^/]*?{''.join(words[place + 1 : end])})")
        else:
            done += words[place:end]
        place = end
    return done
