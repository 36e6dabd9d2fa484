"""Sizes and lengths of time as people read them."""

import pytest

from smith_core.embedded.words import duration_in_words, size_in_words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.00 kB"),
        (999_499, "999 kB"),
        (999_500, "1.00 MB"),
        (99_960_000, "100 MB"),
        (491_400_064, "491 MB"),
        (1_117_320_768, "1.12 GB"),
        (5 * 10**15, "5000 TB"),
    ],
)
def test_sizes(count: int, words: str) -> None:
    assert size_in_words(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (3599.9, "1 h 00 min"), (4325, "1 h 12 min")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration_in_words(seconds) == words
