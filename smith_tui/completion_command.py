"""`smith-tui completion`: a script for bash, zsh or fish that completes subcommands, options and settings."""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from smith_tui.exit_status import EXIT_ERROR, EXIT_OK

SHELLS = ("bash", "zsh", "fish")

_EPILOG = """\
where the script goes:
  bash   smith-tui completion bash > ~/.local/share/bash-completion/completions/smith-tui
  zsh    smith-tui completion zsh > "${fpath[1]}/_smith-tui"
  fish   smith-tui completion fish > ~/.config/fish/completions/smith-tui.fish

Make the folder first if it is not there; a shell that is started afterwards knows it.
"""

_BASH = """
# Settings: no blank behind PATH=, and the values behind it, for bash takes "=" for a word of its own.
_smith_tui() {
  local setting="" typed="${COMP_WORDS[COMP_CWORD]}"
  if [[ $typed == = ]]; then
    setting="${COMP_WORDS[COMP_CWORD-1]}" typed=""
  elif [[ ${COMP_WORDS[COMP_CWORD-1]} == = ]]; then
    setting="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  if [[ -n $setting ]]; then
    COMPREPLY=($(compgen -W "$(_smith_tui_values "$setting")" -- "$typed"))
  else
    _shtab_smith_tui "$@"
    [[ ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace
  fi
  return 0
}
complete -o bashdefault -o default -F _smith_tui smith-tui
"""
_BASH_SETTINGS = """\
_smith_tui_settings() {{ compgen -W "{paths}" -- "$1"; }}
_smith_tui_values() {{ case "$1" in {values} esac; }}"""
_BASH_VALUE = "{path}) echo {words};;"
_ZSH_SETTINGS = """\
_smith_tui_settings() {{
  if compset -P 1 '*='; then
    case "$IPREFIX" in {values} esac
  else
    compadd -S '' -- {paths}
  fi
}}"""
_ZSH_VALUE = "*{path}=) compadd -- {words};;"
_FISH_SETTINGS = """\
function _smith_tui_settings
  printf '%s\\n' {words}
end"""


def add_completion_parser(subparsers: Any) -> None:
    """Add the `completion` command to the subparsers of `smith-tui`; the shell is in `shell`."""
    parser = subparsers.add_parser(
        "completion",
        help="print a script for your shell that completes what you type",
        description="Print a script that lets a shell complete subcommands, options and settings of smith-tui.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell that completes")


def run_completion(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script and return the exit status: 1 when standard output does not take it."""
    from smith_tui.headless import OutputLostError, write_text

    try:
        write_text(completion_script(parser, shell))
    except OutputLostError as lost:
        if lost.reason:
            print(f"standard output takes nothing more ({lost.reason})", file=sys.stderr)
        return EXIT_ERROR
    return EXIT_OK


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script of one of `SHELLS` for the whole parser, to whose arguments hints are added."""
    import shtab

    settings = _setting_completion()
    for action in _actions(parser):
        if action.metavar == "FILE":
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar == "PATH=VALUE":
            action.complete = settings  # type: ignore[attr-defined]
    script: str = shtab.complete(parser, shell)
    return f"{script}\n{_BASH}" if shell == "bash" else script


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)


def _setting_completion() -> dict[str, Any]:
    """Return what the three shells do for `--set`, in the form of shtab."""
    from smith_core.config.settings import SETTINGS, overridable_paths

    values = {path: SETTINGS[path].rule.values for path in overridable_paths()}
    # Behind an open table the person writes a name of their own.
    paths = [path.partition("<")[0] if "<" in path else f"{path}=" for path in values]
    few = {path: " ".join(words) for path, words in values.items() if words}
    both = [*paths, *(f"{path}={word}" for path, words in values.items() for word in words)]
    joined = " ".join(paths)
    return {
        "bash": "_smith_tui_settings",
        "zsh": "_smith_tui_settings",
        "fish": "(_smith_tui_settings)",
        "preamble": {
            "bash": _BASH_SETTINGS.format(paths=joined, values=_branches(_BASH_VALUE, few)),
            "zsh": _ZSH_SETTINGS.format(paths=joined, values=_branches(_ZSH_VALUE, few)),
            "fish": _FISH_SETTINGS.format(words=" ".join(both)),
        },
    }


def _branches(form: str, words_by_path: dict[str, str]) -> str:
    return " ".join(form.format(path=path, words=words) for path, words in words_by_path.items())
