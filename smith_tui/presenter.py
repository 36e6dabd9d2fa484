"""From events to the screen: one match statement, and the little state that it needs."""

import json
from typing import Protocol

from smith_core.errors import AgentError
from smith_core.events import (
    AnyEvent,
    CommandOutput,
    MessageAdded,
    Notice,
    OutputDiscarded,
    QuitRequested,
    ReasoningDelta,
    RequestStarted,
    RetryWaiting,
    SessionChanged,
    TextDelta,
    ToolCallProgress,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from smith_core.messages import ToolResult, TurnResult
