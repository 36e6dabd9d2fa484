"""Places for tests that start the real program."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.place import ModelHome, Place


@pytest.fixture(scope="session")
def model_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelHome]:
    """One $HOME for all places of a run, so that they share a model host."""
    home = ModelHome(tmp_path_factory.mktemp("model-home"))
    yield home
    home.close()


@pytest.fixture
def place(tmp_path: Path, model_home: ModelHome) -> Iterator[Place]:
    """Give a test its own place, but for the model host."""
    made = Place(tmp_path, model_home)
    yield made
    made.close()


@pytest.fixture
def own_place(tmp_path: Path) -> Iterator[Place]:
    """Give a test a place with a model host of its own, which is ended with it."""
    made = Place(tmp_path)
    yield made
    made.close()
