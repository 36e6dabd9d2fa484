"""What `smith-tui model` does: results on standard output, progress and errors on standard error."""

import asyncio
import functools
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TextIO

from smith_core.cancel import CancelToken, new_root
from smith_core.embedded.catalog import MODELS, EmbeddedModel, find_model
from smith_core.embedded.choice import default_model_name
from smith_core.embedded.install import default_sources, install, named_file, remove, verify
from smith_core.embedded.sources import Source
from smith_core.embedded.weights import WeightsState, size_of, state_of
from smith_core.embedded.words import size_in_words
from smith_core.errors import AgentFailure
from smith_tui.exit_status import EXIT_CANCELLED, EXIT_ERROR, EXIT_OK
from smith_tui.install_progress import ProgressPrinter
from smith_tui.sanitize import literal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _reported(action: Callable[..., int]) -> Callable[..., int]:
    """Turn a failure of `action` into one line on standard error and its exit status."""

    @functools.wraps(action)
    def run(*arguments: object) -> int:
        try:
            return action(*arguments)
        except AgentFailure as caught:
            _say(caught.error.message)
            return EXIT_ERROR
        except KeyboardInterrupt:
            return EXIT_CANCELLED

    return run


@_reported
def install_model(name: str | None, weights_file: Path | None) -> int:
    """Install a model (see `model_to_install`) from its file or the network, and return the exit status."""
    sources = default_sources() if weights_file is None else named_file(weights_file.absolute())
    return asyncio.run(install_in_terminal(model_to_install(name, weights_file), sources))


def model_to_install(name: str | None, weights_file: Path | None) -> EmbeddedModel:
    """Return the named model, else the one that has the size of `weights_file`, else the one for this machine."""
    if name is None and weights_file is not None:
        for model in MODELS:
            if model.size == size_of(weights_file):
                return model
    return find_model(default_model_name(name))


@_reported
def verify_models(name: str | None) -> int:
    """Check one model, or all that are there, and return the exit status."""
    if name is not None:
        return asyncio.run(_verify_all((find_model(name),)))
    present = [model for model in MODELS if state_of(model).kind in ("installed", "unchecked")]
    return asyncio.run(_verify_all(present or (find_model(default_model_name()),)))


@_reported
def remove_model(name: str) -> int:
    """Delete what there is of a model and return the exit status."""
    model = find_model(name)
    freed = remove(model)
    print(f"{model.name}: removed, {size_in_words(freed)} freed" if freed else f"{model.name}: was not installed")
    return EXIT_OK


@_reported
def list_models() -> int:
    """Print the state of all models and return the exit status."""
    for model in MODELS:
        state = state_of(model)
        print(f"{model.name} ({model.alias}): {_state_in_words(state)}")
        print(f"    {model.label}, {size_in_words(model.size)}; {model.limits}")
        print(f"    {literal(str(state.path))}", flush=True)
    return EXIT_OK


async def install_in_terminal(
    model: EmbeddedModel, sources: Sequence[Source], *, folder: Path | None = None, stream: TextIO | None = None
) -> int:
    """Install a model with a progress bar on `stream` (standard error) and return the exit status."""
    printer = ProgressPrinter(stream or sys.stderr, model)

    async def work(token: CancelToken) -> None:
        path = await install(model, sources, printer.show, token, folder=folder)
        printer.end_line()
        print(literal(str(path)), flush=True)

    return await _run_until_signal(work, printer, "stopped; the next install goes on from here")


async def _verify_all(models: Sequence[EmbeddedModel]) -> int:
    worst = EXIT_OK
    for model in models:
        printer = ProgressPrinter(sys.stderr, model)

        async def work(token: CancelToken, model: EmbeddedModel = model, printer: ProgressPrinter = printer) -> None:
            path = await verify(model, printer.show, token)
            printer.end_line()
            print(f"{model.name}: SHA-256 {model.sha256} is right ({literal(str(path))})", flush=True)

        worst = max(worst, await _run_until_signal(work, printer, "stopped before the end; nothing was changed"))
        if worst > EXIT_ERROR:
            break  # a signal stops all of it
    return worst


async def _run_until_signal(
    work: Callable[[CancelToken], Awaitable[None]], printer: ProgressPrinter, when_stopped: str
) -> int:
    token = new_root()
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        token.request()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        await work(token)
    except AgentFailure as caught:
        printer.end_line()
        if caught.error.kind != "cancelled":
            _say(caught.error.message)
            return EXIT_ERROR
        _say(when_stopped)
        return 128 + received[0] if received else EXIT_CANCELLED
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
    return EXIT_OK


def _state_in_words(state: WeightsState) -> str:
    match state.kind:
        case "installed":
            return "installed"
        case "unchecked":
            return "a file is there that was not checked; install checks it"
        case "partial":
            percent = 100 * state.present_bytes / state.model.size
            return f"partial, {percent:.0f} % are there; install goes on from there"
        case "missing":
            return "not installed"


def _say(text: str) -> None:
    print(literal(text), file=sys.stderr, flush=True)
