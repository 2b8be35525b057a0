"""The lecture on many people: the ratings of the Netflix case, and counts estimated from releases."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia_reproduce.lecture import estimates, governor, netflix


@pytest.fixture(scope="module")
def ratings():
    return netflix.ratings(people=400, films=500)


def test_the_release_has_no_names_and_lacks_one_person(ratings):
    release = netflix.released(ratings)
    who = ratings.column("who")
    assert release.column("who").dtype.is_integer()
    assert release.column("who").n_unique() == who.n_unique() - 1
    there = (who != netflix.ABSENT).to_numpy()
    assert release.column("film").to_list() == ratings.column("film").filter(there).to_list()
    # the new numbers are one for each person, in no order
    pairs = pl.DataFrame({"old": who.filter(there), "new": release.column("who")}).unique(maintain_order=True)
    assert len(pairs) == release.column("who").n_unique()
    assert pairs["new"].to_list() != sorted(pairs["new"])


def test_who_is_recognised(ratings):
    release = netflix.released(ratings)
    *_, absent, last = found = netflix.recognised(ratings, release)
    assert (found[0], found[1], last) == ("Alice", "Bob", "Tim")
    assert absent in ("–", "somebody else")
    # with her in the release she is found too, and a release of others only gives nobody away
    everybody = ratings.replace({"who": ratings.column("who").cast(pl.Categorical).to_physical().cast(pl.Int64)})
    assert netflix.recognised(ratings, everybody) == netflix.NAMED
    others = ratings.take(ratings.ids()[(~ratings.column("who").is_in(netflix.NAMED)).to_numpy()])
    assert not set(netflix.recognised(ratings, others)) & set(netflix.NAMED)


def test_more_known_ratings_recognise_more(ratings):
    release = netflix.released(ratings)
    few, many = (netflix.attack(known, day=None).value(ratings, release) for known in (2, 6))
    assert few < many


def test_questions_have_their_true_counts():
    rng = np.random.default_rng(3)
    rows = {name: rng.choice(list("abcd"), 300) for name in estimates.QUASI[1:]}
    work = rng.choice(list("stuvwxyz"), 300)
    frame = pl.DataFrame({"age": rng.integers(20, 60, 300), **rows, estimates.SENSITIVE: work})
    table = celosia.read(frame, celosia.Schema.of(quasi=estimates.QUASI, sensitive=[estimates.SENSITIVE]))
    asked = estimates.questions(table, 40)
    assert {len(where) for (where, _), _ in asked} == {1, 2, 3, 4, 5}
    for (where, value), truth in asked:
        (wanted,) = value.values()
        plain = sum(
            row[estimates.SENSITIVE] == wanted and all(row[name] in some for name, some in where.items())
            for row in frame.iter_rows(named=True)
        )
        assert plain == truth > 0
        ages = where.get("age", [])
        assert ages == list(frame["age"].unique().sort().filter(frame["age"].unique().sort().is_in(ages)))
    # nothing is estimated on the table itself: no error
    assert estimates.errors({"itself": table}, asked)["itself"].max() == 0
    made = estimates.errors(estimates.releases(table), asked)
    assert all(values.mean() > 0 for values in made.values())


@pytest.fixture(scope="module")
def voters():
    return governor.register((400, 900))


def test_the_medical_file_has_no_names_and_its_people_are_in_the_register(voters):
    patients = governor.officials(voters, 60)
    release = governor.released(patients)
    assert "name" not in release.names
    assert {"birth date", "postal code", "sex", "illness"} <= set(release.names)
    named = patients.polars().drop("illness")
    assert len(named.join(voters.polars(), on=named.columns)) == 60
    assert governor.GOVERNOR in named["name"].to_list()


def test_the_join_by_hand(voters):
    """Every voter with every patient, one by one."""
    patients = governor.officials(voters, 60)
    people, ill = voters.polars().rows(named=True), patients.polars().rows(named=True)
    for columns in (("birth date",), governor.SHARED):
        evidence = governor.joined(voters, patients, columns)
        right = false = 0
        for person in people:
            same = [row for row in ill if all(row[name] == person[name] for name in columns)]
            if len(same) == 1:
                right += same[0]["name"] == person["name"]
                false += same[0]["name"] != person["name"]
        assert (evidence["right"], evidence["false"]) == (right, false)
        assert right > 50


def test_more_columns_leave_more_people_alone(voters):
    alone = governor.profile(voters)
    assert len(alone) == 7
    assert alone["postal code, sex"] == 0
    assert alone["birth date"] <= alone["birth date, sex"] <= alone["birth date, postal code, sex"]
    counts = governor.candidates(voters, *governor.SHARED)
    assert alone["birth date, postal code, sex"] == pytest.approx((counts == 1).mean())
    fewer, more = (governor.profile(governor.register((size,)))["birth date, sex"] for size in (500, 5000))
    assert fewer > more, "whether 87 % are alone is decided by how many share a postal code"
