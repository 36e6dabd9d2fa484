"""One running app for the tests of a file, which use it in turn."""

from collections.abc import Iterator

import pytest

from tests.support.place import ModelHome, Place
from tests.support.seat import Seat


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory, model_home: ModelHome) -> Iterator[Seat]:
    """The app in a pseudo terminal over a strict model, in a place of its own."""
    with Seat(Place(tmp_path_factory.mktemp("seat"), model_home)) as running:
        yield running
