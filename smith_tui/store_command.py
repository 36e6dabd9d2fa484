"""`smith-tui store`: check, rebuild-index, export and import."""

import argparse
import sys
from pathlib import Path
from typing import Any

from smith_core.errors import AgentFailure
from smith_core.paths import data_dir
from smith_tui.exit_status import EXIT_ERROR, EXIT_OK
from smith_tui.sanitize import literal

_EPILOG = """\
An export is one file of JSON lines with all conversations, notes and stored settings. Importing adds what is missing
and leaves alone what is here; doing it twice changes nothing. Settings say to which endpoint prompts are sent and what
commands may do, so they come in only with --with-settings. The search index is derived and is not part of an export.

exit status: 0 done and all is well, 1 error or damage, 2 wrong usage
"""


def add_store_parser(subparsers: Any, has_arguments: bool = True) -> None:
    """Add the `store` command to the subparsers of `smith-tui`; the chosen action is in `store_action`.

    has_arguments: whether it is needed for more than its name.
    """
    parser = subparsers.add_parser(
        "store",
        help="check, move or re-index what is kept on disk",
        description="The conversations, notes and settings that Smith keeps on disk.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if not has_arguments:
        return
    actions = parser.add_subparsers(dest="store_action", metavar="{check,rebuild-index,export,import}", required=True)
    actions.add_parser("check", help="verify all checksums and records; nothing is changed")
    actions.add_parser("rebuild-index", help="make the search index anew")
    exporting = actions.add_parser("export", help="write everything into one file")
    exporting.add_argument("store_file", metavar="FILE", type=Path)
    importing = actions.add_parser("import", help="add what an export holds")
    importing.add_argument("store_file", metavar="FILE", type=Path)
    importing.add_argument(
        "--with-settings", action="store_true", help="also take over its stored settings, where none are stored here"
    )


def run_store(arguments: argparse.Namespace) -> int:
    """Carry out `smith-tui store …`: results on standard output, errors on standard error; return the exit status."""
    # The engine's store takes a while to import, and the parser is built at every start.
    from smith_core import maintenance

    folder = data_dir()
    try:
        match arguments.store_action:
            case "check":
                return _show_report(folder, maintenance.check_store(folder))
            case "rebuild-index":
                count = maintenance.rebuild_index(folder)
                print(f"the search index was made anew: {count} documents")
            case "export":
                target = arguments.store_file.absolute()
                summary = maintenance.export_store(folder, target)
                print(literal(f"{summary.conversations} conversations, {summary.records} records: {target}"))
            case _:
                source, with_settings = arguments.store_file.absolute(), arguments.with_settings
                _show_import(maintenance.import_store(folder, source, with_settings=with_settings), with_settings)
    except AgentFailure as caught:
        print(literal(caught.error.message), file=sys.stderr)
        return EXIT_ERROR
    return EXIT_OK


def _show_report(folder: Path, report: Any) -> int:
    for journal in report.journals:
        if journal.problems:
            print(literal(f"✗ {journal.path}"))
            for problem in journal.problems:
                print(literal(f"    {problem}"))
    for copy in report.kept_copies:
        print(literal(f"· {copy} is the original of an earlier repair; delete it when nothing is missing"))
    records = sum(journal.records for journal in report.journals)
    size = f"{sum(journal.size_bytes for journal in report.journals):,}".replace(",", " ")
    print(literal(f"{folder}: {len(report.journals)} files, {records} records, {size} bytes"))
    if report.is_healthy:
        print("Everything is whole.")
        return EXIT_OK
    print("The next start repairs what is damaged and keeps the originals.")
    return EXIT_ERROR


def _show_import(summary: Any, with_settings: bool) -> None:
    print(f"{summary.conversations} conversations were new, {summary.records} records were added")
    for conversation in summary.copies:
        print(literal(f"· {conversation} is a copy: the conversation had gone on differently here"))
    if summary.settings_left:
        why = "settings are stored here already" if with_settings else "they come in only with --with-settings"
        print(literal(f"· settings left out, for {why}: {', '.join(summary.settings_left)}"))
