"""People of a population in the classes of a table: counted by asking of each person which classes they can be in."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import DataError, NotApplicable, ParameterError
from celosia.risk.uniqueness import unique_share
from celosia.views.population import class_people, population_frequencies
from celosia.views.record_risk import pattern_risks

TREE = [["13053", "130**", "1****", "*"], ["13068", "130**", "1****", "*"], ["14850", "148**", "1****", "*"]]
ABOVE = {row[0]: row for row in TREE}
SCHEMA = {"quasi": ["zip", "sex"], "hierarchies": {"zip": TREE}}


def release(records, **roles):
    frame = pl.DataFrame(records, schema={"zip": pl.String, "sex": pl.String, "who": pl.Int64}, orient="row")
    return celosia.read(frame, celosia.Schema.of(**SCHEMA, **roles))


def stands_for(cell, person):
    return cell[0] in ABOVE[person[0]] and cell[1] in ("*", person[1])


@pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize("seed", range(15))
def test_people_in_each_class_and_in_none(seed, persons):
    """Cells at several levels overlap: somebody can be in two classes, and is still one of those who are in some."""
    rng = np.random.default_rng(seed)
    people = [(str(rng.choice(list(ABOVE))), str(rng.choice(["m", "f"])), int(rng.integers(8))) for _ in range(14)]
    # the table: some of the people, their cells at a random level
    chosen = rng.choice(len(people), 5, replace=False)
    records = [
        (ABOVE[people[i][0]][rng.integers(3)], people[i][1] if rng.random() < 0.6 else "*", people[i][2])
        for i in chosen
    ]
    table = release(records, person="who" if persons else None)
    population = pl.DataFrame(people, schema={"zip": pl.String, "sex": pl.String, "who": pl.Int64}, orient="row")
    cells, counts = table.classes.histogram.cells, table.class_counts((), population)

    def counted(rows):
        return len({row[2] for row in rows}) if persons else len(rows)

    expected = [counted([p for p in people if stands_for(cell, p)]) for cell in cells.select("zip", "sex").rows()]
    somewhere = [p for p in people if any(stands_for(cell, p) for cell in cells.select("zip", "sex").rows())]
    assert counts.population.tolist() == expected
    assert counts.outside == counted(people) - counted(somewhere)
    assert counts.population_total == counted(people)
    on_records = [counted([p for p in people if stands_for(record, p)]) for record in records]
    assert population_frequencies(table, population, None).tolist() == on_records


@pytest.mark.parametrize("people", [["13053", "13053", "13068", "14850"], ["13053", "13053", "13068"]])
def test_a_lowest_presence_fails_where_somebody_can_be_in_no_class(people):
    """Two records, 130** and 13053. One person of three cannot be among them: that presence is 0."""
    frame = pl.DataFrame({"zip": ["130**", "13053"]})
    table = celosia.read(frame, celosia.Schema.of(quasi=["zip"], hierarchies={"zip": TREE}))
    population = pl.DataFrame({"zip": people})
    verdict = celosia.models.DeltaPresence(lowest=0.1, highest=1.0, population=population).verdict(table)
    assert verdict.holds == (len(people) == 3)
    assert verdict.value == pytest.approx(1 / 2)  # 13053 has two people and one record, 130** three and one


def test_a_population_without_the_people_of_the_table_is_refused():
    table = release([("13053", "m", 1), ("13053", "m", 2)])
    with pytest.raises(DataError, match="fewer records than the table in 1 of 1 classes"):
        class_people(table, pl.DataFrame({"zip": ["13053"], "sex": ["m"]}), None)


def test_sizes_and_weights_by_hand():
    frame = pl.DataFrame({"sex": ["m", "m", "f"], "w": [0.2, 0.3, 7.0], "who": [1, 1, 2]})
    table = celosia.read(frame, celosia.Schema.of(quasi=["sex"]))
    by_class = dict(zip(table.classes.histogram.cells["sex"], class_people(table, None, 30), strict=True))
    assert by_class == {"m": 20.0, "f": 10.0}  # 30 people for 3 records
    weighted = celosia.read(frame, celosia.Schema.of(quasi=["sex"], weight="w"))
    # nobody has fewer people than records: 0.2 + 0.3 < 2
    assert population_frequencies(weighted, None, None).tolist() == [2.0, 2.0, 7.0]
    persons = celosia.read(frame, celosia.Schema.of(quasi=["sex"], person="who"))
    assert population_frequencies(persons, None, 30).tolist() == [15.0, 15.0, 15.0]  # 30 people for 2 persons
    with pytest.raises(ParameterError, match="at least the 2 persons of the table, got 1"):
        class_people(persons, None, 1)
    with pytest.raises(NotApplicable, match="give the population"):
        class_people(table, None, None)


def test_the_risk_of_patterns_takes_the_population_that_is_given():
    table = release([("13053", "m", 1), ("13053", "m", 2), ("14850", "f", 3), ("*", "*", 4)])
    population = pl.DataFrame({"zip": ["13053"] * 4 + ["14850"], "sex": ["m"] * 4 + ["f"]})
    risk, sample, people = pattern_risks(table, population=population)
    spread = table.classes.on_records
    assert spread(sample, suppressed=0.0).tolist() == [2.0, 2.0, 1.0, 0.0]
    assert spread(people, suppressed=0.0).tolist() == [4.0, 4.0, 1.0, 0.0]
    # f = 2 of F = 4: p = 1/2, risk = p/f * 2F1(1, 1; 3; 1/2) = 1 - ln 2; alone in the population: 1
    assert spread(risk, suppressed=0.0) == pytest.approx([1 - np.log(2)] * 2 + [1.0, 0.0])
    assert pattern_risks(table)[2].tolist() == pattern_risks(table)[1].tolist(), "the table is the population"


@pytest.mark.parametrize(
    ("cells", "persons", "share"),
    [
        ([], None, 0.0),
        (["a"], None, 1.0),
        (["a", "a", "b", None], None, 1 / 2),
        (["a", "a", "b"], [1, 1, 1], 1.0),  # one person in each class
        (["a", "b", "*"], None, 1.0),  # a suppressed record does not count
        (["*", "*"], None, 0.0),  # all of them: one class
    ],
)
def test_unique_records(cells, persons, share):
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.String), "who": persons or range(len(cells))})
    schema = celosia.Schema.of(quasi=["x"], person="who" if persons else None)
    assert unique_share(celosia.read(frame, schema)) == share
