"""Whether the setup screen has to open by itself: once, and only when nothing says which model to use."""

from pathlib import Path

from smith_core.config.schema import Config
from smith_core.errors import AgentFailure
from smith_core.paths import ensure_private_dir, state_dir

_ANSWERED_FILE = "setup-answered"


def names_a_model(config: Config, model: str | None) -> bool:
    """Whether arguments or settings say which model to use, or where to ask for one."""
    return bool(model or config.default_model or config.models or config.llm_config.api_url)


def is_first_start(config: Config, model: str | None) -> bool:
    """Whether nothing says which model to use, and the person was never asked."""
    if names_a_model(config, model):
        return False
    from smith_core.embedded.weights import installed_model

    try:
        return not _answered_file().exists() and installed_model() is None
    except (AgentFailure, OSError):
        return False


def note_answered() -> None:
    """Remember that the person was asked, so that it does not happen again by itself."""
    try:
        ensure_private_dir(state_dir())
        _answered_file().touch(mode=0o600)
    except (AgentFailure, OSError):
        # Then the question comes again, which is better than no start.
        return


def _answered_file() -> Path:
    return state_dir() / _ANSWERED_FILE
