import asyncio
import os
from pathlib import Path

import pytest

from smith_core.cancel import new_root
from smith_core.tools.code.outline import PAGE_CHARS as OUTLINE_CHARS
from smith_core.tools.code.symbol_search import PAGE_CHARS, parse_query, symbols_tool
from smith_core.tools.code.symbol_store import SymbolStore
from smith_core.tools.code.tools import code_tools
from tests.support.code_tools import explore, fake_program, make_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_files(
        tmp_path / "project",
        {
            "src/users.py": (
                "class UserStore:\n    def find_user(self, name):\n        return name\n\n\ndef find_all():\n    pass\n"
            ),
            "src/users.go": "package u\n\nfunc FindUser(name string) string {\n\treturn name\n}\n",
            "tests/test_users.py": "def find_user():\n    pass\n",
            "web/user.ts": "export interface UserView { name: string }\n",
            "gen/skip.py": "def find_user():\n    pass\n",
            "README.md": "# Find user\n",
            ".gitignore": "gen/\n",
        },
    )


def _named(content: str) -> list[str]:
    """Return path:lines of each symbol in the order shown."""
    path, found = "", []
    for line in content.split("\n")[1:]:
        if line.startswith("  ") and line.split():
            found.append(f"{path}:{line.split()[0]}")
        elif line and not line.startswith("["):
            path = line
    return found


@pytest.mark.parametrize(
    ("query", "kind", "expected"),
    [
        ("find_user", None, ["src/users.py:2-3", "tests/test_users.py:1-2", "src/users.go:3-5"]),
        ("FindUser", None, ["src/users.go:3-5", "src/users.py:2-3", "tests/test_users.py:1-2"]),
        ("finduser", "method", ["src/users.py:2-3"]),
        ("UserStore.find_user", None, ["src/users.py:2-3"]),
        ("UserStore::find", None, ["src/users.py:2-3"]),
        ("us", "class", ["src/users.py:1-3"]),
        ("user", "interface", ["web/user.ts:1"]),
        ("find user", "heading", ["README.md:1"]),
        ("usrstr", None, ["src/users.py:1-3"]),
        ("", "class", ["src/users.py:1-3"]),
    ],
)
async def test_symbols_are_found_the_best_first(
    folder: Path, query: str, kind: str | None, expected: list[str]
) -> None:
    outcome = await explore("code_symbols", folder, query=query, kind=kind)
    assert outcome.ok
    found = _named(outcome.content)
    assert found[:1] == expected[:1] and sorted(found) == sorted(expected)


async def test_the_declaration_and_what_it_is_inside_of_are_shown(folder: Path) -> None:
    outcome = await explore("code_symbols", folder, query="find_user", kind="method")
    assert "src/users.py\n  2-3         method def find_user(self, name)  (in UserStore)" in outcome.content


@pytest.mark.parametrize(("query", "kind"), [("x", "banana"), ("x" * 400, None), ("a\0b", None)])
async def test_what_cannot_be_asked_for_is_refused_in_words(folder: Path, query: str, kind: str | None) -> None:
    outcome = await explore("code_symbols", folder, query=query, kind=kind)
    assert not outcome.ok and outcome.error is not None and outcome.error.kind == "schema"
    assert isinstance(parse_query(query, kind), str)


async def test_a_query_of_one_letter_repeated_is_answered_in_no_time(tmp_path: Path) -> None:
    folder = make_files(tmp_path / "p", {"a.py": f"def {'a' * 200}():\n    pass\n"})
    assert "no symbol fits" in (await explore("code_symbols", folder, query="a" * 30 + "b")).content


@pytest.mark.parametrize("query", ["zebra", "--help", "(", "*", "-e", "::", "a b c"])
async def test_any_other_query_gives_an_answer(folder: Path, query: str) -> None:
    assert (await explore("code_symbols", folder, query=query)).ok


async def test_a_changed_file_is_read_again_and_a_deleted_one_is_gone(folder: Path) -> None:
    tools = {tool.name: tool for tool in code_tools()}
    assert _named((await explore("code_symbols", folder, tools=tools, query="find_all")).content) == [
        "src/users.py:6-7"
    ]
    make_files(folder, {"src/users.py": "\n\ndef find_all():\n    pass\n"})
    assert _named((await explore("code_symbols", folder, tools=tools, query="find_all")).content) == [
        "src/users.py:3-4"
    ]
    (folder / "src/users.py").unlink()
    assert "no symbol fits" in (await explore("code_symbols", folder, tools=tools, query="find_all")).content


async def test_what_is_not_parsed_in_time_is_said(folder: Path) -> None:
    slow = {"code_symbols": symbols_tool(SymbolStore(), parsing_s=0.0)}
    outcome = await explore("code_symbols", folder, tools=slow, query="find_all")
    assert "1 of 1 file with such a name are not read yet" in outcome.content


async def test_many_symbols_keep_to_the_budget(tmp_path: Path) -> None:
    text = "".join(f"def needle_{n}(argument_one, argument_two, argument_three):\n    pass\n" for n in range(3_000))
    folder = make_files(tmp_path / "p", {"a.py": text})
    outcome = await explore("code_symbols", folder, query="needle")
    assert outcome.content.startswith("3,000 symbols fit 'needle'")
    assert len(outcome.content) <= PAGE_CHARS and "2,920 more: give a longer name" in outcome.content
    outline = await explore("code_outline", folder, path="a.py")
    assert len(outline.content) <= OUTLINE_CHARS and "× function; read shows them]" in outline.content


async def test_an_outline_nests_what_is_inside(folder: Path) -> None:
    outcome = await explore("code_outline", folder, path="src/users.py")
    assert outcome.content.split("\n") == [
        "src/users.py: Python, 7 lines, 3 symbols",
        "",
        "  1-3         class UserStore",
        "  2-3           method def find_user(self, name)",
        "  6-7         function def find_all()",
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("min.js", "x" * 600_000, "minified"),
        ("huge.py", "a = 1\n" * 300_000, "larger than"),
        ("b.py", b"def f(): pass\0", "binary"),
        ("data.json", "{}", "no symbols are known for this kind of file"),
        ("empty.py", "", "nothing in it"),
        ("noext", "def f(): pass", "no symbols are known"),
    ],
)
async def test_a_file_without_symbols_says_why(folder: Path, name: str, content: str | bytes, words: str) -> None:
    make_files(folder, {name: content})
    outcome = await explore("code_outline", folder, path=name)
    assert outcome.ok and words in outcome.content


async def test_a_broken_file_gives_what_parses_and_says_so(folder: Path) -> None:
    make_files(folder, {"broken.py": "def good():\n    pass\n\nclass (((\n"})
    outcome = await explore("code_outline", folder, path="broken.py")
    assert "function def good()" in outcome.content and "could not be parsed" in outcome.content


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nope.py", "did you mean"),
        ("src", "is a folder"),
        ("", "path is empty"),
        ("a\0b", "NUL"),
        ("pipe", "named pipe"),
    ],
)
async def test_what_is_no_file_cannot_be_outlined(folder: Path, path: str, words: str) -> None:
    os.mkfifo(folder / "pipe")
    make_files(folder, {"nope_.py": ""})
    outcome = await explore("code_outline", folder, path=path)
    assert not outcome.ok and words in outcome.content


async def test_a_name_with_strange_bytes_is_parsed_all_the_same(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/odd\xff\n.py")).write_bytes(b"def oddly_named(): pass\n")
    outcome = await explore("code_symbols", folder, query="oddly_named")
    assert "odd\ufffd\\n.py\n  1 " in outcome.content


async def test_modules_of_the_project_are_never_imported_by_the_parser(folder: Path) -> None:
    make_files(folder, {"msgspec.py": "open('PWNED', 'w')", "tree_sitter.py": "open('PWNED', 'w')"})
    tools = {tool.name: tool for tool in code_tools()}
    assert "find_all" in (await explore("code_outline", folder, tools=tools, path="src/users.py")).content
    assert not list(folder.rglob("PWNED"))


async def test_cancel_ends_the_search_for_symbols(folder: Path, tmp_path: Path) -> None:
    env = fake_program(tmp_path / "bin", "rg", f"touch {tmp_path}/begun; exec sleep 60")
    token = new_root()
    running = asyncio.ensure_future(explore("code_symbols", folder, token=token, env=env, query="x"))
    while not (tmp_path / "begun").exists():
        await asyncio.sleep(0.01)
    token.request()
    assert (await asyncio.wait_for(running, 5)).cancelled
