"""The command line: arguments, and which part of the program they start."""

import argparse
import gc
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smith_tui.command_parser import CommandParser
from smith_tui.early_terminal import EarlyTerminal
from smith_tui.exit_status import EXIT_ERROR
from smith_tui.full_screen import run_full_screen

_EPILOG = """\
first steps:
  export LLM_API_KEY=...                                the key, if your endpoint needs one
  smith-tui --set llm_config.api_url=https://HOST/v1    any OpenAI-compatible endpoint
  smith-tui --model openrouter/qwen/qwen3-coder         or a provider that the model id names
  smith-tui run "make the tests pass" --json            one task, without the screen
  smith-tui setup                                       choose endpoint and model, step by step
  smith-tui tour                                        a scripted demo, without any model
  smith-tui doctor                                      what works on this machine

settings live in ~/.config/smith/config.json, for instance
  {"default_model": "qwen3-coder", "llm_config": {"api_url": "http://127.0.0.1:8080/v1"}}

exit status of run: 0 completed, 1 error, 2 wrong usage, 3 tool budget used up, 130 cancelled
"""


def run_command_line(argv: Sequence[str], early: EarlyTerminal | None = None) -> int:
    """Run what the arguments ask for and return the exit status; early: the terminal, if it was made ready already."""
    _end_quietly_on_interrupt()
    parser = build_parser(argv)
    arguments = parser.parse_args(argv)
    if arguments.command is not None and (arguments.new or arguments.resume is not None):
        parser.error(f"--new and --resume are for the app; smith-tui {arguments.command} takes neither")
    if not _has_working_folder():
        if early is not None:
            early.close()
        print(
            "the folder that you are in cannot be found any more; cd to another one, and start again", file=sys.stderr
        )
        return EXIT_ERROR
    if arguments.command == "completion":
        from smith_tui.completion_command import run_completion

        return run_completion(build_parser(), arguments.shell)
    if arguments.command == "run":
        # Imports make tens of thousands of objects that live for ever; `run_task` turns collections on again.
        gc.disable()
        from smith_tui.headless import run_task

        return run_task(arguments)
    if arguments.command == "doctor":
        from smith_tui.doctor import run_doctor

        return run_doctor(arguments)
    if arguments.command == "model":
        from smith_tui.model_command import run_model

        return run_model(arguments)
    if arguments.command == "store":
        from smith_tui.store_command import run_store

        return run_store(arguments)
    if arguments.command == "host":
        from smith_tui.host_command import run_host

        return run_host(arguments)
    if arguments.command == "rain":
        from smith_tui.rain_command import run_rain

        return run_rain(arguments)
    if arguments.command == "tour":
        from smith_tui.tour_command import run_tour

        return run_tour(arguments)
    return run_full_screen(arguments, early=early)


def _end_quietly_on_interrupt() -> None:
    # Ctrl+C before anything runs would end in a traceback; what runs later takes the signal for itself.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _has_working_folder() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from smith_tui.version import version_line

        print(version_line())
        parser.exit()


def build_parser(typed: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the whole program; completion scripts and the pages of the guide are made from it.

    typed: what it is going to parse; subcommands that do not stand there are known by name, without their arguments,
    which take longer to make than all that is left. None: everything is there.
    """
    from smith_tui.completion_command import add_completion_parser
    from smith_tui.host_command import add_host_parser
    from smith_tui.model_command import add_model_parser
    from smith_tui.store_command import add_store_parser

    def is_needed(command: str) -> bool:
        return typed is None or command in typed

    def parents(command: str) -> list[argparse.ArgumentParser]:
        return [_suppressed(common)] if is_needed(command) else []

    common = _settings_parser()
    parser = CommandParser(
        prog="smith-tui",
        description="Agent Smith: a coding agent for people who live in the terminal.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common],
    )
    _add_beginnings(parser)
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and its commit")
    commands = parser.add_subparsers(
        dest="command",
        parser_class=argparse.ArgumentParser,
        metavar="{run,setup,tour,model,store,host,doctor,rain,completion}",
    )
    _add_run_parser(commands, parents("run"))
    commands.add_parser(
        "setup",
        help="choose endpoint and model, step by step",
        description="Open the app with the screen that chooses endpoint and model and keeps them in the settings.",
        parents=parents("setup"),
    )
    tour = commands.add_parser(
        "tour",
        help="a scripted demo, without any model",
        description="A scripted demo, no language model: real tools on a sample project, step by step.",
        parents=parents("tour"),
    )
    tour.add_argument("--plain", action="store_true", help="print all steps instead of opening the screen")
    add_model_parser(commands, is_needed("model"))
    add_store_parser(commands, is_needed("store"))
    add_host_parser(commands, is_needed("host"))
    for name, summary, description in (
        ("doctor", "what works on this machine", "Check this machine."),
        ("rain", "the rain, full screen for ten seconds", "Show what falls while a dispatched child waits."),
    ):
        commands.add_parser(name, help=summary, description=description, parents=parents(name))
    add_completion_parser(commands)
    return parser


def _add_run_parser(subparsers: Any, parents: list[argparse.ArgumentParser]) -> None:
    run = subparsers.add_parser(
        "run",
        help="do one task without the full screen",
        description="Do one task in the current folder: answer on standard output, progress on standard error.",
        epilog="exit status: 0 completed, 1 error, 2 wrong usage, 3 tool budget used up, 130 cancelled",
        parents=parents,
    )
    run.add_argument("task", help='what to do; "-" reads it from standard input')
    run.add_argument("--json", action="store_true", help="events as JSON lines on standard output")


def _settings_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    group = parser.add_argument_group("settings for this start")
    group.add_argument(
        "--role", choices=("direct", "orchestrator"), help="who works for you: Smith, or Tank who delegates"
    )
    group.add_argument(
        "--model", metavar="ID", help="the model, for instance qwen3-coder or anthropic/claude-sonnet-5-5"
    )
    group.add_argument("--config", metavar="FILE", help="another configuration file")
    group.add_argument(
        "--set", metavar="PATH=VALUE", action="append", default=[], dest="overrides", help="one setting; repeatable"
    )
    return parser


def _add_beginnings(parser: argparse.ArgumentParser) -> None:
    beginning = parser.add_mutually_exclusive_group()
    beginning.add_argument("--new", action="store_true", help="begin a new conversation instead of the last one")
    beginning.add_argument(
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="go on with that conversation, named by its id or title; without ID, choose one",
    )


def _suppressed(common: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Copy the common options without defaults, or a subcommand would reset what stood before its name."""
    copy = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    for action in common._actions:
        if action.dest == "overrides":
            # A list of its own: argparse would put the subcommand's list in the place of the one before it.
            copy.add_argument("--set", metavar=action.metavar, action="append", dest="more_overrides", help=action.help)
        elif action.choices is not None:
            copy.add_argument(*action.option_strings, choices=action.choices, help=action.help)
        else:
            copy.add_argument(*action.option_strings, metavar=action.metavar, help=action.help)
    return copy
