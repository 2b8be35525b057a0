"""Persons are counted alike whether the search sees their rows or only the combinations that an engine counted."""

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.data.engines import row_codes
from celosia.data.engines.polars import Polars
from celosia.errors import CelosiaError, DataError
from celosia.histogram import Histogram, PersonPairs, encode
from celosia.parts import build
from celosia.search.lattice.owners import PERSON, Owners
from celosia.table.derive import with_record_ids

SEARCHES = (
    (["k-anonymity(k=3)"], None),
    (["k-anonymity(k=2)", "l-diversity(l=2)"], "discernibility"),
    (["t-closeness(t=0.4)"], "average-class-size"),
)


def visits(seed: int, *, settled: bool) -> pl.DataFrame:
    """Persons with several rows each; with ``settled`` most of them have one combination, one has no id."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 160))
    who = rng.integers(0, n // 2, n)
    age, area = (who * 7 % 40 + 20, who * 3 % 9) if settled else (rng.integers(20, 60, n), rng.integers(0, 9, n))
    age = np.where(rng.random(n) < 0.1, 30, age)
    return pl.DataFrame(
        {
            "who": [f"p{w}" if w else None for w in who],
            "age": age,
            "zip": [f"10{a}" if a < 8 else None for a in area],
            "ill": [f"d{d}" for d in rng.integers(0, 4, n)],
            "weight": rng.random(n),
        }
    )


def schema(**more) -> celosia.Schema:
    levels = {"age": "intervals(width=5)", "zip": "prefixes"}
    return celosia.Schema.of(quasi=["age", "zip"], sensitive=["ill"], person="who", hierarchies=levels, **more)


def outcome(table, method):
    try:
        done = celosia.protect(table, method, seed=1)
    except CelosiaError as error:
        return str(error)
    facts = done.history[-1]
    told = ("levels", "suppressed", "score", "checked", "optimal", "classes")
    values = [model.value(done) for model in method.require]
    altered = celosia.loss.AlteredRecords().value(with_record_ids(table), done)
    return [facts[name] for name in told], values, altered, done.polars().rows()


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize(("require", "objective"), SEARCHES)
@pytest.mark.sampled(2)
def test_a_search_on_combinations_is_the_search_on_rows(require, objective, settled, tmp_path):
    more = {} if objective is None else {"objective": objective}
    method = build("method", {"use": "generalise", "require": require, "suppress": 0.1, **more})
    for seed in range(3):
        frame = visits(seed, settled=settled)
        path = tmp_path / f"{seed}.parquet"
        frame.write_parquet(path)
        described = schema(weight="weight") if seed % 2 else schema()
        by_rows = outcome(celosia.read(frame, described), method)
        for engine in ("polars", "duckdb"):
            assert outcome(celosia.read(path, described, engine=engine), method) == by_rows


@pytest.mark.on_spark
def test_only_persons_with_several_combinations_are_listed(engine, tmp_path):
    # p1 has two ages, p2 one age in two rows, p3 one row: classes at age are {p1, p2}, {p1, p3}; starred {p1, p2, p3}
    frame = pl.DataFrame({"who": ["p1", "p1", "p2", "p2", "p3"], "age": [30, 31, 30, 30, 31], "ill": list("abbbc")})
    frame.write_parquet(tmp_path / "visits.parquet")
    described = celosia.Schema.of(quasi=["age"], sensitive=["ill"], person="who")
    joint = celosia.read(tmp_path / "visits.parquet", described, engine=engine).counts.histogram(["age", "ill"])
    assert joint.cells[joint.pairs.entry].rows() == [(30, "a"), (31, "b")]
    assert joint.pairs.persons == 1
    assert joint.persons.tolist() == [1, 1, 1, 1]
    ages = celosia.read(tmp_path / "visits.parquet", described, engine=engine).counts.histogram(["age"])
    assert ages.persons.tolist() == [2, 2]
    assert ages.total == 3


def test_owners_by_hand():
    # two combinations with two persons each; one person is in both, with value 0 and value 1
    age, ill = encode(pl.Series([30, 31])), encode(pl.Series(["x", "y", "y", "z"]))
    quasi = Histogram({"age": age}, np.array([2, 2]), np.array([1, 1]), pairs=pairs_of(0, 1))
    both = {"age": age.take(np.array([0, 0, 1, 1])), "ill": ill}
    joint = Histogram(both, np.ones(4, dtype=np.int64), np.array([0, 1, 0, 1]), pairs=pairs_of(0, 2))
    owners = Owners(quasi, {"ill": (joint, ill.codes)})
    assert owners.total == 3
    persons = owners.entries({PERSON: 1, "ill": 3})[PERSON]
    # one person alone in each row (code 0, counted), and the one of both rows under a code of its own
    assert sorted(zip(persons.row, persons.code, persons.count, strict=True)) == [
        (0, 0, 1),
        (0, 1, 1),
        (1, 0, 1),
        (1, 1, 1),
    ]
    found = owners.entries({"ill": 3})["ill"]
    assert found.meaning.tolist() == [0, 1, 2, 0, 1]
    assert sorted(zip(found.row, found.meaning[found.code], strict=True)) == [(0, 0), (0, 1), (1, 1), (1, 2)]


def pairs_of(*entries):
    """Pairs of one person."""
    return PersonPairs.of(np.array(entries), np.zeros(len(entries)), np.ones(len(entries)))


def test_values_of_a_person_in_one_combination_are_counted():
    """A person with two values and one age needs no identity: the values are in one class at every node."""
    both = {"age": encode(pl.Series([30, 30])), "ill": encode(pl.Series(["x", "y"]))}
    joint = Histogram(both, np.array([1, 1]), np.array([0, 0]), pairs=pairs_of(0, 1))
    found = Owners(joint.project(["age"]), {"ill": (joint, both["ill"].codes)}).entries({"ill": 2})["ill"]
    assert found.code.tolist() == [0, 1]
    assert found.count.tolist() == [1, 1]


def test_too_many_persons_with_several_combinations_are_refused(tmp_path, monkeypatch):
    visits(1, settled=False).write_parquet(tmp_path / "visits.parquet")
    monkeypatch.setattr(Polars, "_column_limit", 3)
    table = celosia.read(tmp_path / "visits.parquet", schema())
    with pytest.raises(DataError, match="more than 3 persons have several combinations of the quasi-identifiers"):
        celosia.protect(table, "generalise(require=k-anonymity(k=2))", seed=1)


def test_combinations_that_do_not_fit_in_a_key_are_counted_alike(tmp_path, monkeypatch):
    frame = visits(2, settled=False)
    frame.write_parquet(tmp_path / "visits.parquet")
    first = celosia.read(tmp_path / "visits.parquet", schema()).counts.histogram(["age", "zip", "ill"])
    monkeypatch.setattr(row_codes, "KEYS", 1)
    again = celosia.read(tmp_path / "visits.parquet", schema()).counts.histogram(["age", "zip", "ill"])
    assert again.cells.equals(first.cells)
    assert again.persons.tolist() == first.persons.tolist()
    assert again.pairs.persons == first.pairs.persons


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("weighed", [True, False])
def test_risks_of_persons_follow_from_combinations(settled, weighed, tmp_path):
    frame = visits(4, settled=settled)
    frame.write_parquet(tmp_path / "visits.parquet")
    described = schema(weight="weight") if weighed else schema()
    for risk in ("uniqueness", "marketer", "prosecutor"):
        expected = build("risk", risk).evidence(celosia.read(frame, described))
        for engine in ("polars", "duckdb"):
            stated = build("risk", risk).evidence(celosia.read(tmp_path / "visits.parquet", described, engine=engine))
            flat = {name: value for name, value in expected.items() if not isinstance(value, dict)}
            assert {name: stated[name] for name in flat} == pytest.approx(flat)
            assert {**stated, **flat} == expected
