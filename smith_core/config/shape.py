"""The shape of the configuration: frozen structs with their built-in defaults."""

from collections.abc import Mapping
from typing import Any

import msgspec

from smith_core.frozen import EMPTY_MAPPING, freeze


class LlmConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Settings under `llm_config`; timeouts in seconds."""

    api_key_env: str = "LLM_API_KEY"
    api_url: str | None = None
    retry_max_retries: int = 2
    retry_backoff_ms: tuple[float, ...] = (2000.0, 8000.0)
    stream_retry_after_output: bool = False
    timeout: float = 600.0
    connect_timeout: float = 10.0
    send_timeout: float = 60.0
    recv_timeout: float = 120.0
    stream_stall_timeout: float = 60.0
    host_linger_s: float = 600.0


class ContextConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Settings under `context_management`."""

    enabled: bool = True
    tool_output_keep_rounds: int = 7
    tool_output_elide_over_chars: int = 1024
    trim_threshold_pct: float = 80.0


class DispatchConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Settings under `dispatch`."""

    max_parallel: int = 4


class ToolsConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Settings under `tools`."""

    bash_timeout_s: float = 120.0
    sandbox: str = "off"
    sandbox_network: str = "on"
    permission: str = "auto"
    web_fetch_allow_hosts: tuple[str, ...] = ()


class UndoConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Settings under `undo`."""

    keep_mb: int = 500
    keep_days: float = 30.0


class UiConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Settings under `ui`."""

    theme: str = "dark"
    rain: str = "auto"
    motion: str = "full"
    output: str = "diff"
    copy_on_select: bool = False
    notify: str = "off"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The effective configuration of a session."""

    default_model: str | None = None
    index_file: str = "INDEX.md"
    active_role: str = "direct"
    tool_step_budget: int | None = None
    models: Mapping[str, str] = EMPTY_MAPPING
    services: Mapping[str, Any] = EMPTY_MAPPING
    llm_config: LlmConfig = LlmConfig()
    empty_response_retry_max_retries: int = 2
    empty_response_retry_backoff_ms: tuple[float, ...] = (500.0, 1000.0)
    context_management: ContextConfig = ContextConfig()
    dispatch: DispatchConfig = DispatchConfig()
    tools: ToolsConfig = ToolsConfig()
    undo: UndoConfig = UndoConfig()
    ui: UiConfig = UiConfig()
    keys: Mapping[str, str] = EMPTY_MAPPING

    def __post_init__(self) -> None:
        """Freeze the mappings that a decoder or a caller handed over as plain dicts."""
        for name in ("models", "services", "keys"):
            value = getattr(self, name)
            if type(value) is dict:
                msgspec.structs.force_setattr(self, name, freeze(value))
