"""Places for tests that start the real program."""

import gc
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.place import ModelHome, Place
from tests.support.rainy import Children
from tests.support.server_thread import ServerThread
from tests.support.web_site import Site, web_site

# No deadline: how long an example takes says more about the machine than about the code.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
if examples := os.environ.get("SMITH_EXAMPLES"):
    # For `make soak`: as many examples where a test says no number itself.
    settings.register_profile("soak", max_examples=int(examples), deadline=None)
    settings.load_profile("soak")


def pytest_collection() -> None:
    """Look for no garbage while the tests are imported, which makes hundreds of thousands of objects that stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let later collections pass over what was imported."""
    gc.freeze()
    gc.enable()


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


@pytest.fixture(scope="module")
def rainy(tmp_path_factory: pytest.TempPathFactory, model_home: ModelHome) -> Place:
    """One place for all of these tests."""
    return Place(tmp_path_factory.mktemp("rain"), model_home)


@pytest.fixture(scope="module")
def rain_model() -> Iterator[tuple[Children, str]]:
    children = Children()
    with ServerThread(children) as server:
        yield children, server.url


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with web_site() as running:
        yield running


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a secret beside it, as fault kind B30 has it."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.txt").write_text("TOPSECRET")
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git" / "config").write_text('[remote "origin"]\n\turl = git@host:a/b.git\n')
    return root
