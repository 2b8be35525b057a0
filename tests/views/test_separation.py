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
    with pytest.raises(RequirementError, match="one value has 1 of the 1 records that have a value"):
        grouped(patients([30, 31], ["flu", None]), how)  # a missing value is no further value
    with pytest.raises(RequirementError, match=r"3 of the 5 records have no value\. l = 1 can be reached"):
        grouped(patients([30] * 5, ["flu", "cold", None, None, None]), how)


@pytest.mark.parametrize("how", ["near", "buckets"])
@pytest.mark.parametrize("l", [2, 3])
def test_a_missing_value_protects_nobody(how, l):
    with pytest.raises(RequirementError, match="one value has 30 of the 30 records that have a value"):
        grouped(patients(list(range(60)), ["HIV", None] * 30), how, l)
    rng = np.random.default_rng(l)
    ages, ill = rng.integers(20, 80, 60).tolist(), rng.permutation([*("abcdef" * 8), *([None] * 12)]).tolist()
    label = grouped(patients(ages, ill), how, l).label
    for group in np.unique(label):
        held = [value for value, own in zip(ill, label, strict=True) if own == group]
        known = [value for value in held if value is not None]
        assert max(known.count(value) for value in known) * l <= len(known)
        assert held.count(None) * l <= len(held)


def test_too_many_missing_values_for_buckets_are_refused_with_the_way_out():
    table = patients(list(range(9)), [*"abcdef", None, None, None])
    with pytest.raises(RequirementError, match="groups = 'near'"):
        grouped(table, "buckets", 3)
    assert set(grouped(table, "near", 3).label.tolist()) == {0}


@pytest.mark.parametrize("method", ["anatomise", "permute"])
@pytest.mark.parametrize("other", ["HIV", "hiv ", "ｈｉｖ", "unknown", "n/a", "NS/NC", "?", ""])
def test_spellings_and_codes_for_missing_protect_nobody(method, other):
    table = patients(list(range(20)), ["hiv", other] * 10)
    with pytest.warns(UserWarning, match="differ from another one"), pytest.raises(RequirementError, match="one value"):
        celosia.protect(table, f"{method}(l=2)", seed=1)


@pytest.mark.filterwarnings("ignore:column 'disease'")
@pytest.mark.parametrize("how", ["near", "buckets"])
def test_groups_count_spellings_as_one_value(how):
    rng = np.random.default_rng(4)
    ill = rng.permutation(
        ["flu", "Flu", "FLU ", "HIV", "hiv", "cold", "asthma", "none", "unknown", "n/a"] * 12
    ).tolist()
    label = grouped(patients(rng.integers(20, 80, 120).tolist(), ill), how).label
    for group in np.unique(label):
        held = [value.strip().lower() for value, own in zip(ill, label, strict=True) if own == group]
        known = [value for value in held if value not in ("unknown", "n/a")]
        assert max(known.count(value) for value in known) * 2 <= len(known)
        assert (len(held) - len(known)) * 2 <= len(held)


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
