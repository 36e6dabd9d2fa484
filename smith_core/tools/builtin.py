"""The tools that come with the engine, listed by hand."""

from smith_core.tools.base import ToolSpec
from smith_core.tools.code.tools import code_tools
from smith_core.tools.dispatch import DISPATCH
from smith_core.tools.edit import EDIT
from smith_core.tools.git import GIT
from smith_core.tools.notes import NOTE, RECALL, RECORD
from smith_core.tools.read import READ
from smith_core.tools.report import REPORT
from smith_core.tools.shell import BASH
from smith_core.tools.web.fetch import WEB_FETCH
from smith_core.tools.web.search import WEB_SEARCH
from smith_core.tools.write import WRITE

BUILTIN_TOOLS: tuple[ToolSpec, ...] = (
    BASH,
    READ,
    *code_tools(),
    EDIT,
    WRITE,
    RECORD,
    RECALL,
    NOTE,
    GIT,
    WEB_SEARCH,
    WEB_FETCH,
    DISPATCH,
    REPORT,
)
