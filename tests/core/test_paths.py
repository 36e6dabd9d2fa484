"""The folders of the XDG rules, and folders that nobody else can look into."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from smith_core.errors import AgentFailure
from smith_core.paths import cache_dir, config_dir, data_dir, ensure_private_dir, home_dir, state_dir

FolderOf = Callable[[Mapping[str, str]], Path]

FOLDERS = [
    (config_dir, "XDG_CONFIG_HOME", ".config"),
    (data_dir, "XDG_DATA_HOME", ".local/share"),
    (cache_dir, "XDG_CACHE_HOME", ".cache"),
    (state_dir, "XDG_STATE_HOME", ".local/state"),
]


@pytest.mark.parametrize(("folder", "variable", "below_home"), FOLDERS, ids=[row[1] for row in FOLDERS])
@pytest.mark.parametrize("unset", [None, "", "   ", "relative/x", "~/x", "./x"])
def test_an_unset_blank_or_relative_variable_means_the_default(
    folder: FolderOf, variable: str, below_home: str, unset: str | None
) -> None:
    environ = {"HOME": "/h"} | ({} if unset is None else {variable: unset})
    assert folder(environ) == Path("/h", below_home, "smith")


@pytest.mark.parametrize(("folder", "variable", "below_home"), FOLDERS, ids=[row[1] for row in FOLDERS])
def test_an_absolute_variable_wins(folder: FolderOf, variable: str, below_home: str) -> None:
    assert folder({"HOME": "/h", variable: "/x"}) == Path("/x/smith")


@pytest.mark.parametrize("home", [{}, {"HOME": ""}, {"HOME": "rel"}])
def test_without_a_usable_home_the_user_database_says_where_it_is(home: dict[str, str]) -> None:
    assert home_dir(home).is_absolute()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "share").write_text("")
    with pytest.raises(AgentFailure) as raised:
        ensure_private_dir(tmp_path / "share" / "smith")
    assert raised.value.error.kind == "persistence"
    assert str(tmp_path / "share" / "smith") in raised.value.error.message
