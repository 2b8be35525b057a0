"""Groups in which no sensitive value is too frequent: what is told of them, and their numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import RequirementError
from celosia.streams import Stream
from celosia.views.boxes.separation import separate


def patients(age, disease, person=None):
    data = pl.DataFrame(
        {"age": age, "disease": pl.Series(disease, dtype=pl.String), "i": person or list(range(len(age)))}
    )
    roles = {"person": "i"} if person else {}
    return celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["disease"], **roles))


def grouped(table, how, l=2, seed=1):
    return separate("x", table, l, ["disease"], how, Stream(seed))


@pytest.mark.parametrize("how", ["near", "buckets"])
def test_what_is_told_by_hand(how):
    found = grouped(patients([80, 81, 20, 21], ["flu", "cold", "flu", "cold"]), how)
    assert sorted(np.bincount(found.label).tolist()) == [2, 2]
    # each value is half of its group: every record has (1 - 1/2)² + (1/2)² = 1/2
    assert found.evidence == {
        "groups": 2,
        "smallest": 2,
        "largest": 2,
        "reconstruction_error": {"disease": pytest.approx(0.5)},
    }
    if how == "near":  # numbered by their first record
        assert found.label.tolist() == [0, 0, 1, 1]


def test_the_numbers_of_buckets_tell_nothing_and_come_from_the_stream():
    table = patients([30] * 40, ["flu", "cold"] * 20)
    labels = {seed: grouped(table, "buckets", seed=seed).label for seed in (1, 2)}
    assert labels[1].tolist() == grouped(table, "buckets", seed=1).label.tolist()
    assert labels[1].tolist() != labels[2].tolist()
    assert sorted(set(labels[1].tolist())) == list(range(20))
    # of three a, two b and one c the first group that is made holds an a and a b; number 0 may be any group
    few = patients([30] * 6, list("aaabbc"))
    zero = set()
    for seed in range(20):
        label = grouped(few, "buckets", seed=seed).label
        zero.add("".join(value for value, own in zip("aaabbc", label.tolist(), strict=True) if own == 0))
    assert zero == {"ab", "ac"}


@pytest.mark.parametrize("how", ["near", "buckets"])
def test_extremes(how):
    nobody = grouped(patients([], []), how)
    assert len(nobody.label) == 0
    assert nobody.evidence["groups"] == 0
    with pytest.raises(RequirementError, match=r"one value has 1 of the 1 records\. l = 1 can be reached"):
        grouped(patients([30], ["flu"]), how)
    with pytest.raises(RequirementError, match="one value has 2 of the 3 records"):  # a missing value is a value
        grouped(patients([30, 31, 32], [None, None, "flu"]), how)
    assert grouped(patients([30, 31], ["flu", None]), how).label.tolist() == [0, 0]


@pytest.mark.parametrize("how", ["near", "buckets"])
@pytest.mark.parametrize("seed", range(6))
def test_every_group_is_mixed_and_has_nobody_twice(how, seed):
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(12), rng.integers(1, 3, 12)).tolist()
    disease = rng.permutation([f"d{i % 6}" for i in range(len(person))]).tolist()
    table = patients(rng.integers(20, 80, len(person)).tolist(), disease, person)
    label = grouped(table, how, seed=seed).label.tolist()
    assert sorted(set(label)) == list(range(max(label) + 1))
    if how == "near":
        first = [label.index(group) for group in range(max(label) + 1)]
        assert first == sorted(first), "numbered by their first record, whoever was grouped before"
    for group in set(label):
        inside = [i for i, own in enumerate(label) if own == group]
        assert len({person[i] for i in inside}) == len(inside)
        values = [disease[i] for i in inside]
        assert max(values.count(value) for value in values) * 2 <= len(values)
