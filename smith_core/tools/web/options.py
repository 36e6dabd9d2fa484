"""Where the web tools find their settings."""

from smith_core.config.schema import Config
from smith_core.tools.base import ToolContext


def config_of(ctx: ToolContext) -> Config:
    """Return the configuration in effect, the defaults where there are no services."""
    config: Config = ctx.services.config.effective if ctx.services is not None else Config()
    return config
