"""What a child agent reports: the one schema of the `report` tool and of the result that its parent gets."""

from typing import Literal

import msgspec

from smith_core.errors import AgentError
from smith_core.messages import Usage

ReportStatus = Literal["ok", "partial", "blocked"]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `report`. Workers fill changes and verification, explorers findings and evidence."""

    status: ReportStatus
    summary: str
    changes: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()


class DispatchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the parent gets of a child: its report, or an honest account of why there is none.

    recall_key: where the scratchpad has it, "" when it could not be kept.
    """

    job_id: str
    role: str
    status: ReportStatus
    summary: str
    changes: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    cancelled: bool = False
    error: AgentError | None = None
    usage: Usage = Usage()
    recall_key: str = ""
