"""The toolkit without what no start uses: it is left out, and there as usual for whoever wants it later."""

import subprocess
import sys


def printed(code: str) -> str:
    code = f"import sys\nfrom smith_tui.lean_toolkit import import_toolkit\nimport_toolkit()\n{code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_widgets_of_the_toolkit_that_no_start_shows_are_not_imported() -> None:
    left_out = "{'_select', '_tree', '_directory_tree', '_placeholder'}"
    code = f"import smith_tui.app\nprint([name for name in {left_out} if f'textual.widgets.{{name}}' in sys.modules])"
    assert printed(code) == "[]\n"


def test_the_list_of_types_is_whole_for_whoever_imports_it() -> None:
    code = (
        "from textual import types\nprint([name for name in types.__all__ if not hasattr(types, name)], types.__name__)"
    )
    assert printed(code) == "[] textual.types\n"


def test_markup_is_read_as_ever() -> None:
    code = """
from textual.content import Content
from textual.css import tokenizer
from textual.markup import MarkupError, expect_markup, expect_style
from textual.style import Style
print("_regex" in vars(expect_markup), tokenizer.Expect.__name__)
print(Content.from_markup("[bold red]a[/] [@click='f(1, [2])']b[/]").spans)
print(Style.parse("bold red on blue 50%"))
print(expect_style._expect_eof, expect_style._expect_semicolon, expect_style.description, hasattr(expect_style, "x"))
try:
    Content.from_markup("[/b]")
except MarkupError as error:
    print(type(error).__name__)
"""
    with_it = printed(code)
    usual = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert with_it.replace("False Expect", "True Expect", 1) == usual != with_it
