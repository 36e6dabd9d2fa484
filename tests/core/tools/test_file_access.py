import unicodedata
from pathlib import Path

import pytest

from smith_core.tools.file_access import PathRefusedError, describe_missing, resolve_path, shown_path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a b.txt").write_text("")
    (tmp_path / "sub").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "sub"))
    return tmp_path


@pytest.mark.parametrize(
    "raw",
    [
        "a b.txt",
        "./a b.txt",
        "sub/../a b.txt",
        '"a b.txt"',
        "'a b.txt'",
        "`a b.txt`",
        " a b.txt\n",
        "~/../a b.txt",
        "file://{folder}/a%20b.txt",
        "FILE://localhost{folder}/a%20b.txt",
        "{folder}/a b.txt",
    ],
)
def test_ways_to_write_one_path(folder: Path, raw: str) -> None:
    assert resolve_path(raw.replace("{folder}", str(folder)), folder).samefile(folder / "a b.txt")


def test_name_that_exists_letter_for_letter_wins(folder: Path) -> None:
    for name in ('"a b.txt"', " a b.txt", "~nobody-of-that-name"):
        (folder / name).write_text("")
        assert resolve_path(name, folder) == folder / name


def test_new_file_gets_the_name_without_its_wrapping(folder: Path) -> None:
    assert resolve_path('"new.txt"', folder) == folder / "new.txt"
    assert resolve_path("file:///tmp/new%20one", folder) == Path("/tmp/new one")
    assert resolve_path("it's", folder) == folder / "it's"
    assert resolve_path("http://x/y", folder) == folder / "http:/x/y"


@pytest.mark.parametrize(("on_disk", "asked"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_other_composition_of_a_name_is_found(folder: Path, on_disk: str, asked: str) -> None:
    name = "\u00fcbung.txt"
    (folder / unicodedata.normalize(on_disk, name)).write_text("")
    assert resolve_path(unicodedata.normalize(asked, name), folder).exists()


@pytest.mark.parametrize("raw", ["", "  ", '""', "a\0b", "x\ud83d", "a b.txt/", "new/"])
def test_what_cannot_name_a_file_is_refused(folder: Path, raw: str) -> None:
    with pytest.raises(PathRefusedError):
        resolve_path(raw, folder)


def test_byte_that_is_no_utf8_in_a_name_can_be_reached(folder: Path) -> None:
    (folder / "caf\udce9").write_text("")
    assert resolve_path("caf\udce9", folder).exists()
    assert shown_path(folder / "caf\udce9", folder) == "caf\ufffd"


def test_missing_file_comes_with_near_names(folder: Path) -> None:
    (folder / "README.md").write_text("")
    assert describe_missing(folder / "readme.MD", folder).endswith("did you mean README.md?")
    assert "did you mean sub?" in describe_missing(folder / "sup" / "x.py", folder)
    assert "code_files" in describe_missing(folder / "sub" / "x.py", folder)


def test_path_is_shown_from_where_the_work_is(folder: Path) -> None:
    assert shown_path(folder / "sub" / "x", folder) == "sub/x"
    assert shown_path(folder / "x", folder / "sub") == str(folder / "x")
