"""What the git tool lets through: its subcommands, their options, and the form of each option's value."""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from smith_core.patterns import later


class ValueForm(msgspec.Struct, frozen=True):
    """The values that an option takes: in words, as a pattern, and whether one is needed."""

    words: str
    pattern: re.Pattern[str]
    is_optional: bool = False


def _form(words: str, pattern: str) -> ValueForm:
    return ValueForm(words, later(pattern, re.DOTALL))


def _choice(*values: str) -> ValueForm:
    return _form(" or ".join(values), "|".join(map(re.escape, values)))


def _maybe(form: ValueForm) -> ValueForm:
    return msgspec.structs.replace(form, is_optional=True)


_FORMATS = ("oneline", "short", "medium", "full", "fuller", "reference", "raw", "email")
# %G? would run gpg, %(describe) another git, and a name that is none of git's may be anything in the configuration.
_PLACEHOLDER = (
    "%(?:[HhTtPpnsbBfNdDSeMm%]|[ac][nNeElLdDriIsth]|g[dDsnNeE]|x[0-9a-fA-F]{2}|[<>][(|0-9a-z,]*\\)?"
    "|C[a-z]+|C\\([a-z ]+\\)|\\((?:trailers|decorate)(?::[^()]*)?\\))"
)

TEXT = _form("text", ".+")
COUNT = _form("a number", r"\d{1,9}")
PERCENT = _form("a percentage such as 90%", r"\d{1,9}%?")
SIZES = _form("numbers such as 80,40", r"\d{1,9}(?:,\d{1,9}){0,2}")
FILTER = _form("letters of ACDMRTUXB", "[ACDMRTUXBacdmrtuxb]+")
FORMAT = _form(
    f"one of {', '.join(_FORMATS)}, or placeholders such as '%h %an %ad %s'",
    f"(?:{'|'.join(_FORMATS)})|(?:t?format:)?(?:[^%]|{_PLACEHOLDER})*{_PLACEHOLDER}(?:[^%]|{_PLACEHOLDER})*",
)
LINES = _form("lines such as 10,20", r"[1-9]\d{0,8}(?:,[+-]?\d{1,9})?|,\d{1,9}|:.+|/.+")
LINES_OF_FILE = _form("lines and file such as 10,20:src/main.c", r"(?:\d{1,9},[+-]?\d{1,9}|:[^:]+|/.+):.+")
REVISION = _form("a revision", "[^-].*")

Options = Mapping[str, ValueForm | None]
"""Options by name, each with the form of its value, None for one without."""


def _flags(names: str) -> dict[str, ValueForm | None]:
    return dict.fromkeys(names.split())


_PATCH: Options = {
    **_flags(
        "-p --patch -s --no-patch --numstat --shortstat --summary --compact-summary --name-only --name-status --raw "
        "--minimal --patience --histogram -w --ignore-all-space -b --ignore-space-change --ignore-space-at-eol "
        "--ignore-cr-at-eol --ignore-blank-lines --no-renames -R -W --function-context --full-index -a --text "
        "--pickaxe-all --pickaxe-regex --patch-with-stat --check --no-color --no-ext-diff --no-textconv --no-prefix"
    ),
    **dict.fromkeys(("-U", "--unified", "--inter-hunk-context"), COUNT),
    **dict.fromkeys(("-M", "--find-renames", "-C", "--find-copies"), _maybe(PERCENT)),
    **dict.fromkeys(("-S", "-G", "-I", "--ignore-matching-lines"), TEXT),
    "--stat": _maybe(SIZES),
    "--dirstat": _maybe(_form("words such as lines,10", r"[a-z0-9,.]+")),
    "--abbrev": _maybe(COUNT),
    "--word-diff": _maybe(_choice("plain", "porcelain", "none")),
    "--color": _choice("never"),
    "--diff-filter": FILTER,
    "--diff-algorithm": _choice("default", "myers", "minimal", "patience", "histogram"),
}
_COMMITS: Options = {
    **_flags("--oneline --abbrev-commit --no-abbrev-commit --no-decorate --first-parent -m -c --cc --parents"),
    **dict.fromkeys(("--format", "--pretty"), FORMAT),
    "--decorate": _maybe(_choice("short", "full", "auto", "no")),
    "--date": TEXT,
    "--diff-merges": _choice("off", "none", "first-parent", "1", "separate", "m", "combined", "c", "dense-combined"),
}
_LOG: Options = {
    **_flags(
        "-i --regexp-ignore-case -E --extended-regexp -F --fixed-strings --all-match --invert-grep --merges "
        "--no-merges --all --reverse --graph --follow --topo-order --date-order --author-date-order --left-right "
        "--left-only --right-only --cherry-pick --cherry-mark --cherry --boundary --full-history --simplify-merges "
        "--simplify-by-decoration --ancestry-path --no-walk --source --children --not -g --walk-reflogs"
    ),
    **dict.fromkeys(("-n", "--max-count", "--skip", "--min-parents", "--max-parents"), COUNT),
    **dict.fromkeys(("--since", "--after", "--until", "--before", "--author", "--committer", "--grep"), TEXT),
    **dict.fromkeys(("--branches", "--tags", "--remotes"), _maybe(TEXT)),
    **dict.fromkeys(("--exclude", "--glob"), TEXT),
    "-L": LINES_OF_FILE,
}
_STATUS: Options = {
    **_flags("-s --short -b --branch --long --show-stash --ahead-behind --no-ahead-behind --renames --no-renames"),
    "--porcelain": _maybe(_choice("v1", "v2", "1", "2")),
    **dict.fromkeys(("-u", "--untracked-files"), _maybe(_choice("no", "normal", "all"))),
    "--ignored": _maybe(_choice("traditional", "no", "matching")),
}
_BLAME: Options = {
    **_flags(
        "-s -e --show-email -w -t -l -f --show-name -n --show-number -p --porcelain --line-porcelain --root -b -c "
        "--first-parent --minimal"
    ),
    **dict.fromkeys(("-M", "-C"), _maybe(COUNT)),
    "-L": LINES,
    "--since": TEXT,
    "--date": TEXT,
    "--abbrev": COUNT,
    "--ignore-rev": REVISION,
}

Subcommand = Literal["status", "log", "diff", "show", "blame"]
OPTIONS: Mapping[str, Options] = {
    "status": _STATUS,
    "log": {**_PATCH, **_COMMITS, **_LOG},
    "diff": {**_PATCH, **_flags("--cached --staged --merge-base --base --ours --theirs -0 -1 -2 -3")},
    "show": {**_PATCH, **_COMMITS, **_flags("-q --quiet --no-walk")},
    "blame": _BLAME,
}
"""The subcommands and their options; everything else is refused."""


class GitCall(msgspec.Struct, frozen=True, kw_only=True):
    """Checked arguments: options with their values as single words, then names of revisions or files, then files."""

    subcommand: str
    options: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None


def check_arguments(subcommand: str, words: list[str]) -> GitCall | str:
    """Return the call that the words describe, or one sentence on what is not let through."""
    table = OPTIONS.get(subcommand)
    if table is None:
        return f"git {subcommand or '(nothing)'} is not open here: this tool only looks, with {', '.join(OPTIONS)}"
    options: list[str] = []
    names: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return GitCall(subcommand=subcommand, options=tuple(options), names=tuple(names), paths=tuple(waiting))
        if word == "--end-of-options":
            continue
        if not word.startswith("-") or word == "-":
            names.append(word)
            continue
        found = _read_option(subcommand, table, word, waiting)
        if isinstance(found, str):
            return found
        options += found
    return GitCall(subcommand=subcommand, options=tuple(options), names=tuple(names))


def _read_option(subcommand: str, table: Options, word: str, waiting: list[str]) -> list[str] | str:
    """Return the words of one option, its value taken from `waiting` if need be, or what is wrong with it."""
    if subcommand in ("log", "show") and re.fullmatch(r"-\d{1,9}", word):
        return [word]
    is_long = word.startswith("--")
    name, equals, value = word.partition("=") if is_long else (word[:2], word[2:3], word[2:])
    if name not in table:
        return f"git {subcommand} does not take {name} here; it takes: {', '.join(table)}"
    form = table[name]
    if form is None:
        if not equals:
            return [name]
        bundle = [f"-{letter}" for letter in word[1:]]
        if not is_long and all(flag in table and table[flag] is None for flag in bundle):
            return bundle
        return f"the option {name} of git {subcommand} takes no value; leave {value!r} out"
    if not equals and form.is_optional:
        return [name]
    if not equals:
        value = waiting.pop(0) if waiting else ""
    if "\0" in value or not form.pattern.fullmatch(value):
        return f"the option {name} of git {subcommand} takes {form.words}, and not {value!r}"
    return [f"{name}={value}" if is_long else f"{name}{value}"]
