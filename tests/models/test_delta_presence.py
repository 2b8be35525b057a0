"""Presence by hand: one of one, two of four, one of four."""

from __future__ import annotations

import polars as pl
import pytest

import celosia
from celosia.models import DeltaPresence
from celosia.parts import population_table

PEOPLE = pl.DataFrame({"age": [30] + [40] * 4 + [50] * 4})
TABLE = celosia.read(pl.DataFrame({"age": [30, 40, 40, 50]}), celosia.Schema.of(quasi=["age"]))


@pytest.mark.parametrize(
    ("lowest", "highest", "holding"),
    [
        (0.0, 1.0, [True, True, True]),
        (0.0, 0.9, [False, True, True]),
        (0.0, 0.5, [False, True, True]),
        (0.3, 1.0, [True, True, False]),
        (0.5, 0.5, [False, True, False]),
        (0.25, 1.0, [True, True, True]),
    ],
)
def test_each_class_lies_between_the_bounds(lowest, highest, holding):
    model = DeltaPresence(lowest=lowest, highest=highest, population=PEOPLE)
    assert model.judge(TABLE.class_counts(people=population_table(model))).tolist() == holding
    assert model.value(TABLE) == 1
    assert model.holds(TABLE) == all(holding)


def test_each_class_with_its_presence():
    model = DeltaPresence(highest=0.5, population=PEOPLE)
    assert model.classes(TABLE)["delta"].to_list() == [1.0, 0.5, 0.25]
    assert model.failing_records(TABLE).tolist() == [True, False, False, False]


def test_somebody_who_is_in_no_class_breaks_a_lower_bound_only():
    more = pl.concat([PEOPLE, pl.DataFrame({"age": [60]})])
    assert DeltaPresence(lowest=0.0, highest=1.0, population=more).holds(TABLE)
    assert not DeltaPresence(lowest=0.1, highest=1.0, population=more).holds(TABLE)
