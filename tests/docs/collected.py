"""The commands that the README and the documentation name, each once, as they stand there."""

import re

from docs.generate.pages import GUIDE, ROOT
from smith_core.commands.table import COMMANDS
from tests.tui.test_guide import snippets

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(GUIDE.glob("*.md"))]
SNIPPETS = sorted({re.split(r"\s+# ", part)[0] for page in PAGES for part in snippets(page.read_text("utf-8"))})

_COMMAND = re.compile(rf"/({'|'.join(command.name for command in COMMANDS)})( .*)?")
_USAGE = re.compile(r"/\w+ .*(?:\[[a-z]| \| )")
MERE_NAMES = {
    "/config set": "what to set stands in the examples",
    "/follow": "somebody else must have the conversation",
    "/search": "without words it opens a screen, and says so where there is none",
}
IN_APP = [line for line in SNIPPETS if _COMMAND.fullmatch(line) and not _USAGE.match(line) and line not in MERE_NAMES]
"""Commands of the app, without those that stand for a whole form."""

COMMAND_LINES = [line for line in SNIPPETS if re.search(r"(?:^|\W)smith-tui(?: |$)", line)]
WITH_A_MODEL = [line for line in COMMAND_LINES if re.search(r'smith-tui run ["-]', line)]
WITHOUT_A_MODEL = [
    line
    for line in COMMAND_LINES
    if re.match(r"smith-tui (?:store|host|model list|--version|--help|completion (?:bash|fish))\b", line)
]
MAKE_LINES = [line for line in SNIPPETS if re.match(r"make(?: |$)", line)]
