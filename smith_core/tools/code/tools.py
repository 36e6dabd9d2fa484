"""The five code tools, made together because they share what is known of files."""

from smith_core.tools.base import ToolSpec
from smith_core.tools.code.files import CODE_FILES
from smith_core.tools.code.grep import CODE_GREP
from smith_core.tools.code.outline import outline_tool
from smith_core.tools.code.repo_map import map_tool
from smith_core.tools.code.symbol_search import symbols_tool
from smith_core.tools.code.symbol_store import SymbolStore


def code_tools() -> tuple[ToolSpec, ...]:
    """Return code_map, code_grep, code_files, code_symbols and code_outline with a memory of their own."""
    store = SymbolStore()
    return map_tool(store), CODE_GREP, CODE_FILES, symbols_tool(store), outline_tool(store)
