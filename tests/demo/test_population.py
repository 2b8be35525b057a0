"""The generated population: consistent persons, valid identifiers, the stated shapes, and a policy that fits it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from stdnum.es import dni

import celosia
from celosia.demo.prepare import population, prepare
from celosia.demo.words import DIAGNOSES, OCCUPATIONS, PLACES
from celosia.table.columns import hierarchy_levels

PERSONAL = [
    "name",
    "national_id",
    "birth_date",
    "sex",
    "municipality",
    "occupation",
    "income",
    "household",
    "sampling_weight",
]


@pytest.fixture(scope="module")
def visits():
    return population(4000, 3)


def test_the_same_seed_gives_the_same_people(visits):
    assert visits.equals(population(4000, 3))
    assert not visits.equals(population(4000, 4))


def test_the_visits_of_a_person_tell_the_same_about_her(visits):
    people = visits.group_by("person").agg(pl.col(PERSONAL).n_unique())
    assert people.height == 4000
    assert all((people[name] == 1).all() for name in PERSONAL)
    assert people.height < visits.height < 2.2 * people.height


def test_identity_numbers_are_valid_and_nobody_shares_one(visits):
    people = visits.unique("person")
    assert people["national_id"].n_unique() == people.height
    assert all(map(dni.is_valid, people["national_id"].to_list()))


def test_a_household_lives_in_one_place_and_has_at_most_six(visits):
    people = visits.unique("person")
    homes = people.group_by("household").agg(pl.len().alias("size"), pl.col("municipality").n_unique().alias("places"))
    assert homes["places"].max() == 1
    assert homes["size"].max() <= 6
    assert 0.2 < (homes["size"] == 1).mean() < 0.35, "stated: 27 of 100"


def test_ages_occupations_and_incomes_go_together(visits):
    people = visits.unique("person").with_columns(
        age=(pl.lit("2025-12-31").str.to_date() - pl.col("birth_date")).dt.total_days() / 365.25
    )
    young = people.filter(pl.col("age") < 17.9)
    assert (young["occupation"] == "pupil or student").all()
    assert (people.filter(pl.col("age") < 15.9)["income"] == 0).all()
    old = people.filter(pl.col("age") > 65.1)
    assert 0.88 < (old["occupation"] == "retired").mean() < 0.98, "stated: 93 of 100"
    towns = people["municipality"].value_counts(sort=True)["count"].to_numpy()
    assert towns[0] > 5 * np.median(towns), "few towns hold many people"


def test_every_word_has_its_hierarchy_and_the_policy_reads_them(tmp_path, visits):
    for column, words in (("municipality", PLACES), ("occupation", OCCUPATIONS), ("diagnosis", DIAGNOSES)):
        assert set(visits[column].unique()) <= {row[0] for row in words}
        assert len({row[0] for row in words}) == len(words)
    policy = celosia.Policy.load(prepare(tmp_path, persons=300, seed=1))
    table = celosia.read(tmp_path / "original.csv", policy.schema)
    assert table.schema.person == "person"
    for name in table.schema.quasi:
        hierarchy = table.schema.hierarchy(name)
        assert hierarchy is None or hierarchy_levels(table, name).height >= 1
    assert policy.require
    assert policy.steps
