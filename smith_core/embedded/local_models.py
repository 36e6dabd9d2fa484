"""Models that this machine runs itself: the embedded ones by name, and any weights file of the person's.

Their ids say where they are: `embedded:qwen2.5-coder-1.5b` or `file:/path/to/model.gguf`.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from smith_core.embedded.label import EMBEDDED_PREFIX, FILE_PREFIX
from smith_core.embedded.weights import InstalledModel, installed_model
from smith_core.errors import failure
from smith_core.llm.protocol import Endpoint


class ModelServer(Protocol):
    """Whatever serves one weights file at a time as an OpenAI-compatible endpoint."""

    async def start(self, weights: Path, model: str) -> Endpoint:
        """Serve a file under the name `model`, unless it is served already; AgentFailure when that is impossible."""
        ...

    async def aclose(self) -> None:
        """End it."""
        ...


def is_local(model: str) -> bool:
    """Whether a model id names a model that this machine runs itself."""
    return model.startswith((EMBEDDED_PREFIX, FILE_PREFIX))


class LocalModels:
    """Opens local models on first use and ends them with the session.

    make_server: makes the server, once. find_installed: name or None → weights that may be loaded, or None.
    """

    def __init__(
        self,
        make_server: Callable[[], ModelServer] | None = None,
        find_installed: Callable[[str | None], InstalledModel | None] = installed_model,
    ) -> None:
        self._make_server = make_server or _make_server
        self._find_installed = find_installed
        self._server: ModelServer | None = None
        self._is_closed = False
        self._opening: Counter[str] = Counter()
        self.on_opening: Callable[[str], None] = lambda model: None
        """Is told which model is being started, "" once none is."""

    def installed(self) -> str | None:
        """Return the id of the embedded model that is there and suits the free memory best, or None."""
        found = self._find_installed(None)
        return f"{EMBEDDED_PREFIX}{found.model.name}" if found else None

    async def open(self, model: str) -> Endpoint:
        """Return where a local model answers, started if it was not; AgentFailure says why it cannot be."""
        weights = self._weights_of(model)
        if self._is_closed:
            raise failure("internal", "model_closed", "the session has ended; no model is started", origin="model")
        if self._server is None:
            self._server = self._make_server()
        self._opening[model] += 1
        self._tell()
        try:
            return await self._server.start(weights, model)
        finally:
            self._opening[model] -= 1
            self._tell()

    def _tell(self) -> None:
        self.on_opening(next((model for model, count in self._opening.items() if count), ""))

    async def aclose(self) -> None:
        """End the model's process; none is started any more."""
        self._is_closed = True
        if self._server is not None:
            await self._server.aclose()
            self._server = None

    def _weights_of(self, model: str) -> Path:
        if model.startswith(FILE_PREFIX):
            return _path_of(model)
        name = model.removeprefix(EMBEDDED_PREFIX)
        found = self._find_installed(name)
        if found is None:
            raise failure(
                "policy",
                "not_installed",
                f"the embedded model {name} is not installed; install it with: smith-tui model install {name}",
                origin="model",
            )
        return found.path


def _path_of(model: str) -> Path:
    text = model.removeprefix(FILE_PREFIX).strip()
    if not text:
        raise failure(
            "policy", "no_path", "file: needs the path of a GGUF file, as in --model file:~/model.gguf", origin="model"
        )
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise failure(
            "policy", "no_path", f"{text} leads to no home folder; write the whole path of the file", origin="model"
        ) from error


def _make_server() -> ModelServer:
    from smith_core.embedded.runtime.supervisor import LocalModelServer

    return LocalModelServer()
