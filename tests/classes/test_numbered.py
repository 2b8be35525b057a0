"""Rows that are kept as numbers give the counts of the rows themselves, on every engine."""

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.classes.numbered import FIRST, NOBODY, Numbered
from celosia.data.engines.engine import KEY, RECORD, ROWS
from celosia.errors import DataError

NAMES = ("age", "zip", "ill", "weight")


def visits(rows: int = 200) -> pl.DataFrame:
    """Persons with several rows, some of whom have several combinations; some records name nobody."""
    rng = np.random.default_rng(1)
    who = rng.integers(0, rows // 2, rows)
    return pl.DataFrame(
        {
            "who": [f"p{w}" if w > 3 else None for w in who],
            "age": np.where(rng.random(rows) < 0.1, 30, who * 7 % 40 + 20),
            "zip": [f"10{w % 9}" if w % 9 < 8 else None for w in who],
            "ill": [f"d{d}" for d in rng.integers(0, 4, rows)],
            "weight": (who % 7 + 1) / 10,
        }
    )


@pytest.fixture
def both(engine, tmp_path):
    """A table whose rows were numbered, and the same without."""
    path = tmp_path / "visits.parquet"
    visits().write_parquet(path)
    schema = celosia.Schema.of(quasi=["age", "zip"], sensitive=["ill"], person="who", weight="weight")
    numbered, plain = (celosia.read(path, schema, engine=engine).identified() for _ in range(2))
    classes = numbered.classes
    domains = {name: plain.tally(name)[name].sort(nulls_last=True) for name in NAMES}
    classes.numbers.append(Numbered.of(numbered.engine, numbered.rows.frame, domains, "who"))
    return numbered, plain


def by_person(held) -> list[list[tuple]]:
    """What each person has, whatever they are called."""
    told: dict[int, list[tuple]] = {}
    cells = held.cells.select("age", pl.col("zip").fill_null("-"), "ill").rows()
    for code, row, count in zip(held.column("who").codes.tolist(), cells, held.rows.tolist(), strict=True):
        told.setdefault(code, []).append((*row, count))
    return sorted(sorted(rows) for rows in told.values())


@pytest.mark.on_spark(long=True)
def test_numbers_tell_what_the_rows_tell(both):
    numbered, plain = (table.classes for table in both)
    for names in (["age", "zip"], ["age", "zip", "ill"], ["ill"], ["weight"]):
        one, other = (each.patterns(names, everyone=True) for each in (numbered, plain))
        assert one.cells.equals(other.cells)
        assert one.rows.tolist() == other.rows.tolist()
        assert one.counted.tolist() == other.counted.tolist()
    quasi = ["age", "zip"]
    weights = [each.patterns(quasi, everyone=True).weight.tolist() for each in (numbered, plain)]
    assert weights[0] == weights[1]
    one, other = (by_person(each.several(quasi, ["ill"])) for each in (numbered, plain))
    assert one == other
    assert len(one) > 1
    assert numbered.total == plain.total == visits()["who"].n_unique()


@pytest.mark.on_spark
def test_a_person_is_known_by_their_first_record(both):
    numbered = both[0]
    told = numbered.engine.collect(numbered.classes.numbers[0].owners()).sort(RECORD)
    frame = visits().with_row_index("n")
    first = frame.select(pl.when(pl.col("who").is_null()).then(NOBODY).otherwise(pl.col("n").min().over("who")))
    assert told[FIRST].to_list() == first.to_series().to_list()


def test_more_persons_than_the_engine_tells_apart_are_refused(both, monkeypatch):
    numbered = both[0]
    monkeypatch.setattr(type(numbered.engine), "most", 2)
    with pytest.raises(DataError, match="more than 2 persons have several combinations"):
        numbered.classes.several(["age", "zip"], [])


def test_nobody_who_has_several_is_nobody(both):
    alone = visits().filter(pl.col("who").is_first_distinct())
    engine = both[0].engine
    frame = engine.identify(engine.accept(alone))
    domains = {name: alone[name].unique().sort(nulls_last=True) for name in NAMES}
    few = Numbered.of(engine, frame, domains, "who")
    assert len(few.several(["age", "zip"], ["ill"], "who", both[0].schema)) == 0
    counted = few.histogram(["age"], persons=True)
    assert counted[ROWS].sum() == len(alone)
    assert counted[KEY].is_unique().all()


def test_columns_that_one_number_cannot_tell_are_counted_by_their_values(both, monkeypatch):
    from celosia.classes import keys

    monkeypatch.setattr(keys, "ROOM", 10)
    numbered, plain = (table.classes for table in both)
    assert not numbered.numbers[0].tells(["age", "zip"])
    one, other = (each.patterns(["age", "zip"], everyone=True) for each in (numbered, plain))
    assert sorted(one.counted.tolist()) == sorted(other.counted.tolist())


@pytest.mark.on_spark
def test_parts_are_what_equal_cells_make(engine):
    made = celosia.data.engines.engine_named(engine)
    frame = made.accept(pl.DataFrame({"a": [1, 2, 1, None, None], "b": [1, 2, 3, 4, 5]}))
    types = {"a": pl.Int64(), "b": pl.Int64()}
    told = made.in_parts(frame, ["a"], types, lambda part: part.group_by("a").agg(pl.col("b").sum()), rows=5)
    assert made.collect(told).sort("a").rows() == [(None, 9), (1, 4), (2, 2)]
