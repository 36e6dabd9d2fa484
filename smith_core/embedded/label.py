"""What a model must be called where it answers, and what has to be said about it: nobody mistakes a small one."""

from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from smith_core.errors import AgentFailure

if TYPE_CHECKING:
    from smith_core.embedded.catalog import EmbeddedModel

SCRIPTED_MODEL = "scripted demo, no language model"
"""The model id of the tour, which is no model; it stands wherever a model is named."""

EMBEDDED_PREFIX = "embedded:"
FILE_PREFIX = "file:"
"""What the ids of models begin with that this machine runs itself, by name or from a weights file."""

CONNECT_LINES: tuple[str, ...] = (
    "export LLM_API_KEY=...",
    "smith-tui --set llm_config.api_url=https://HOST/v1 --model MODEL",
)
"""What a person types to work with a real endpoint."""


class ModelLabel(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is named: `short` for the status bar; `limits` in one line, "" for a model that speaks for itself."""

    short: str
    limits: str = ""

    @property
    def notice(self) -> str:
        """The limits and how to connect a real endpoint, as lines of text; "" without limits."""
        if not self.limits:
            return ""
        lines = (self.limits, "For real work connect an endpoint with /setup, or with:", *_indented(CONNECT_LINES))
        return "\n".join(lines)


def label_of(model: str) -> ModelLabel:
    """Return how the model of an id is named."""
    if model == SCRIPTED_MODEL:
        return ModelLabel(short=model, limits=f"{SCRIPTED_MODEL}: it knows the steps of its tour only")
    if model.startswith(FILE_PREFIX):
        name = PurePath(model.removeprefix(FILE_PREFIX)).name
        return ModelLabel(
            short=f"{name} (local)", limits=f"{name} runs on this machine: check what it changes, and what it claims"
        )
    if model.startswith(EMBEDDED_PREFIX):
        embedded = _embedded(model.removeprefix(EMBEDDED_PREFIX))
        if embedded is not None:
            return ModelLabel(short=f"{embedded.name} (local, simple tasks)", limits=embedded.limits)
    return ModelLabel(short=model)


def _embedded(name: str) -> "EmbeddedModel | None":
    from smith_core.embedded.catalog import find_model

    try:
        return find_model(name)
    except AgentFailure:
        return None


def _indented(lines: tuple[str, ...]) -> list[str]:
    return [f"  {line}" for line in lines]
