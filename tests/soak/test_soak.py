"""What a soak counts with: growth that no outlier moves, marks that may not be lost, and a picture that can be read."""

from xml.etree import ElementTree

import msgspec
import pytest

from tests.soak.ledger import Ledger
from tests.soak.measuring import Sample
from tests.soak.picture import of_samples
from tests.soak.place import marks_in
from tests.soak.result import growth_mb_an_hour, slower, thirds


def sample(minute: float, rss_mb: float, key_ms: float = 5.0, *, busy: bool = False) -> Sample:
    keys = (key_ms / 1000,) * 6
    return Sample(
        at=minute * 60,
        rss=round(rss_mb * 1e6),
        files=9,
        threads=8,
        busy=busy,
        keys=keys,
        toolkit=(0.01,),
        bare=(0.001,),
    )


def test_growth_is_that_after_the_warm_up_and_one_peak_does_not_count() -> None:
    samples = [sample(minute, min(50 + 5 * minute, 100) + minute / 6) for minute in range(61)]
    samples[40] = sample(40, 900)
    assert growth_mb_an_hour(samples) == pytest.approx(10, abs=0.5)


@pytest.mark.parametrize(("last", "ratio"), [(5.0, 1.0), (10.0, 2.0)])
def test_keys_that_become_slower_are_seen_and_those_of_a_turn_do_not_count(last: float, ratio: float) -> None:
    samples = [sample(minute, 90, last if minute > 43 else 5.0) for minute in range(61)]
    samples += [sample(50, 90, 500.0, busy=True)]
    assert slower(thirds(samples)) == pytest.approx(ratio)


def test_marks_are_lost_unless_somebody_took_them_away() -> None:
    ledger = Ledger()
    ledger.acknowledge({"p1", "p2", "p3", ""})
    ledger.expect_removal(1)
    assert ledger.check({"p1", "p2"}) == set()
    assert ledger.check({"p1"}) == {"p2"}
    assert (ledger.known, ledger.lost) == ({"p1"}, ["p2"])


def test_what_was_removed_is_forgiven_by_the_first_check_behind_it_however_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    ledger = Ledger()
    ledger.acknowledge({"p1", "p2"})
    ledger.check({"p1", "p2"})
    ledger.expect_removal(2)
    now[0] = 500.0
    assert ledger.check({"p1"}) == set()
    assert ledger.check(set()) == {"p1"}


def test_marks_are_found_in_what_is_stored_wherever_they_stand() -> None:
    stored = msgspec.json.encode({"content": "p00001 one of several\np00002 one\ta00003", "role": "user"})
    assert marks_in(stored) == {"p00001", "p00002", "a00003"}


def test_the_picture_is_well_formed_whatever_is_in_it() -> None:
    for samples in ([], [sample(0, 60), sample(1, 70, 900.0, busy=True), sample(2, 71)]):
        picture = ElementTree.fromstring(of_samples("<1 & 2>", samples))
        assert "<1 & 2>" in {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
