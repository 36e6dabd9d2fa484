"""What the setup screen asks of the engine: find endpoints, list models, try one out, install one, keep the choice."""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from smith_core.cancel import CancelToken
from smith_core.config.schema import Config, check, to_config
from smith_core.config.user_file import UserFile
from smith_core.config.user_file_change import change_user_file
from smith_core.embedded.catalog import EmbeddedModel
from smith_core.embedded.install import default_sources, install
from smith_core.embedded.progress import ReportProgress
from smith_core.endpoints import LocalEndpoint, detect_local_endpoints
from smith_core.llm.protocol import ModelRequest
from smith_core.messages import Message
from smith_core.model import ModelChoice, ModelService
from smith_core.roles import ROLES
from smith_core.turn import timeouts

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NEAR_HOST = re.compile(r"(localhost|127\.|10\.|192\.168\.|\[|[^.:/]+([:/]|$))", re.IGNORECASE)
"""This machine, a private network, or a name without a dot."""
_KEY_STARTS = ("sk-", "sk_", "gsk_", "xai-", "AIza", "hf_", "pplx-", "csk-", "tgp_", "ghp_", "Bearer ")
_PATIENCE = {"connect_timeout": 5, "send_timeout": 10, "recv_timeout": 60, "timeout": 120}
"""Limits of the calls that a person waits for, in seconds."""

Install = Callable[[EmbeddedModel, ReportProgress, CancelToken], Any]


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """What is chosen: key_variable "" for an endpoint without a key, api_url None where the model id says it all."""

    model: str = ""
    api_url: str | None = None
    key_variable: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """The partial configuration to keep; null takes an older value away."""
        llm_config = {"api_url": self.api_url, "api_key_env": self.key_variable or None}
        return {"default_model": self.model, "llm_config": llm_config}

    @property
    def config(self) -> Config:
        """A configuration with nothing else in it, for calls that a person waits for."""
        kept = {name: value for name, value in self.settings["llm_config"].items() if value is not None}
        return to_config({"llm_config": {**kept, **_PATIENCE}})


async def _install(model: EmbeddedModel, progress: ReportProgress, token: CancelToken) -> Path:
    return await install(model, default_sources(), progress, token)


class Setup:
    """The engine's side of the screen; failures are AgentFailure with a sentence for the person."""

    def __init__(
        self,
        model: ModelService,
        file: UserFile,
        *,
        environ: Mapping[str, str] = os.environ,
        detect: Callable[[], tuple[LocalEndpoint, ...]] = detect_local_endpoints,
        install: Install = _install,
    ) -> None:
        self._model = model
        self._detect = detect
        self._install = install
        self.environ = environ
        self.file = file

    async def local_endpoints(self) -> tuple[LocalEndpoint, ...]:
        """Return what listens on the usual ports of this machine."""
        return await asyncio.to_thread(self._detect)

    def has_key(self, connection: Connection) -> bool:
        """Whether the key that a connection needs is there."""
        return not connection.key_variable or bool(self.environ.get(connection.key_variable, "").strip())

    async def list_models(self, connection: Connection) -> tuple[str, ...]:
        """Return the ids that the endpoint lists."""
        return tuple(info.id for info in await self._model.list_models(connection.config))

    async def try_out(self, connection: Connection) -> None:
        """Make one tiny request and return when the model begins to answer; a local model is started for it."""
        config = connection.config
        await self._model.select(ModelChoice(model=connection.model), ROLES["direct"], config)
        request = ModelRequest(
            model=connection.model,
            messages=(Message(role="user", content="Answer with the word ready."),),
            endpoint=self._model.endpoint(config, connection.model),
            timeouts=timeouts(config),
        )
        answer = self._model.client.stream(request)
        try:
            async for _ in answer:
                return
        finally:
            await answer.aclose()  # type: ignore[attr-defined]

    async def install(self, model: EmbeddedModel, progress: ReportProgress, token: CancelToken) -> None:
        """Fetch the weights of an embedded model, unless they are there."""
        await self._install(model, progress, token)

    async def save(self, connection: Connection) -> None:
        """Keep the choice in the settings file."""
        await asyncio.to_thread(change_user_file, self.file, connection.settings)


def completed_address(text: str) -> str:
    """Return an address as it was meant: without a scheme http for what is near, https for the internet."""
    if not text or "://" in text:
        return text
    return f"http://{text}" if _NEAR_HOST.match(text) else f"https://{text}"


def address_problem(text: str) -> str:
    """Return what is wrong with an endpoint's address, "" when nothing is."""
    if not text:
        return "Type the address of the endpoint, such as http://127.0.0.1:8080/v1."
    problems = check({"llm_config": {"api_url": text}}).problems
    return "That is no http:// or https:// address, such as http://127.0.0.1:8080/v1." if problems else ""


def looks_like_key(text: str, environ: Mapping[str, str]) -> bool:
    """Whether what should be the name of a variable may be a key itself."""
    if text in environ:
        return False
    if text.startswith(_KEY_STARTS):
        return True
    digits = sum(character.isdigit() for character in text)
    has_both_cases = any(map(str.islower, text)) and any(map(str.isupper, text))
    return len(text) >= 16 and (not _VARIABLE.fullmatch(text) or has_both_cases or digits >= 4)


def variable_problem(text: str, environ: Mapping[str, str]) -> str:
    """Return what is wrong with the name of a key's variable, "" when nothing is; a key is never repeated."""
    if looks_like_key(text, environ):
        return (
            "That looks like a key itself, so it was thrown away. Put it into an environment variable, and type the "
            "variable's name here."
        )
    if not _VARIABLE.fullmatch(text):
        return "Type the name of an environment variable: letters, digits and _, such as LLM_API_KEY."
    return ""


def variable_state(variable: str, environ: Mapping[str, str]) -> str:
    """Return whether a variable holds a key, and what to do if it does not."""
    if environ.get(variable, "").strip():
        return f"{variable} is set."
    return f"{variable} is not set here: leave, run  export {variable}=...  and start again, or go on without a test."
