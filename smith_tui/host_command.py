"""`smith-tui host`: status and stop of the model hosts that wait for the next start."""

import argparse
from typing import Any

from smith_tui.exit_status import EXIT_ERROR, EXIT_OK

_EPILOG = """\
A model host makes the calls to models for all programs of yours and waits some minutes for the next one, which then
sends its first request at once. It takes about 260 MB of memory. How long it waits is the setting
llm_config.host_linger_s; 0 lets every program have a host of its own that ends with it.

exit status: 0 done, 1 a host does not answer or does not end, 2 wrong usage
"""


def add_host_parser(subparsers: Any, has_arguments: bool = True) -> None:
    """Add the `host` command to the subparsers of `smith-tui`; the chosen action is in `host_action`.

    has_arguments: whether it is needed for more than its name.
    """
    parser = subparsers.add_parser(
        "host",
        help="show or end the process that waits with the models' library",
        description="The model hosts of yours that run on this machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if not has_arguments:
        return
    actions = parser.add_subparsers(dest="host_action", metavar="{status,stop}", required=True)
    actions.add_parser("status", help="id, age, memory and users of each")
    actions.add_parser("stop", help="end all of them now; answers that are on their way are asked for again")


def run_host(arguments: argparse.Namespace) -> int:
    """Carry out `smith-tui host …` and return its exit status."""
    # The parser is built at every start.
    from smith_core.llm.host_control import running_hosts, stop_hosts

    if arguments.host_action == "stop":
        reports = stop_hosts()
        for report in reports:
            print(f"{'ended' if report.has_ended else 'does not end'}: {describe(report)}")
        went_well = all(report.has_ended for report in reports)
    else:
        reports = running_hosts()
        for report in reports:
            print(describe(report))
        went_well = all(report.status for report in reports)
    if not reports:
        print("No model host is waiting.")
    return EXIT_OK if went_well else EXIT_ERROR


def describe(report: Any) -> str:
    """Return one line about a host, as `smith_core.llm.host_control` reports it."""
    status = report.status
    if status is None:
        return f"a host does not answer; smith-tui host stop tries to end it ({report.name})"
    megabytes = status.rss_bytes // 1_000_000
    if status.apps:
        use = f"used by {status.apps} program{'s' * (status.apps > 1)}, {status.streams} requests"
    else:
        use = f"unused, ends {_duration(status.linger_s)} after its last use"
    state = "" if status.is_ready else ", still getting ready"
    return f"process {status.pid}, started {_duration(status.age_s)} ago{state}, {megabytes} MB, {use}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
