"""Stored codes give the counts, the digest and the persons of the rows themselves, on every engine."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.data.engines import engine_named, row_codes
from celosia.data.engines.lazy_frames import RECORD
from celosia.data.engines.row_codes import KEY, NO_PERSON, PERSON, MemoryCodes, fits_in_key, pack_codes
from celosia.errors import DataError
from celosia.histogram import Domain, encode
from celosia.table.derive import with_record_ids
from celosia.table.frames import table_fingerprint

MANY_ROWS = 150_000  # more than two blocks
NAMES = ("age", "zip", "ill")
QUASI = ["age", "zip"]


def visits(rows: int = 200) -> pl.DataFrame:
    """Persons with several rows, some of whom have several combinations; some records have no person."""
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
def stored(engine, tmp_path):
    """Codes of the visits, with the persons and their weights."""
    visits().write_parquet(tmp_path / "visits.parquet")
    made = engine_named(engine)
    frame = made.identify(made._scan(tmp_path / "visits.parquet"))
    return made.encode(frame, NAMES, domains={}, orders={}, person="who", weight="weight")


def plain(names, **more):
    return MemoryCodes(visits()).count(names, **more)


@pytest.mark.on_spark(long=True)
@pytest.mark.parametrize("most", [50_000_000, 0], ids=["sorted in memory", "grouped by the engine"])
@pytest.mark.parametrize("names", [("age", "zip"), ("ill", "age"), ("ill",), ()], ids=str)
def test_stored_codes_are_counted_as_rows_in_memory_are(stored, names, most, monkeypatch):
    monkeypatch.setattr(row_codes, "SORTED", most)
    one, other = stored.count(names, person=True, weight=True), plain(names, person="who", weight="weight")
    assert one.cells.equals(other.cells)
    assert one.rows.tolist() == other.rows.tolist()
    assert one.persons.tolist() == other.persons.tolist()
    assert one.weights.tolist() == other.weights.tolist(), "the sums are exact: the same digits"
    assert one.single.tolist() == other.single.tolist()
    assert one.total == other.total == visits()["who"].n_unique()
    for part in (names[:1], ()):
        assert one.project(part).persons.tolist() == other.project(part).persons.tolist()


@pytest.mark.on_spark(long=True)
def test_persons_listed_by_some_columns_are_those_with_several_of_them(stored):
    one = replace(stored, person_keys=QUASI).count(NAMES, person=True, weight=True)
    other = plain(NAMES, person="who", weight="weight")
    assert one.persons.tolist() == other.persons.tolist()
    assert one.weights.tolist() == other.weights.tolist()
    assert one.pairs.persons == plain(QUASI, person="who").pairs.persons < other.pairs.persons
    several = one.project(["ill", "age"])
    assert several.persons.tolist() == plain(["ill", "age"], person="who").persons.tolist()


@pytest.mark.on_spark
def test_executors_know_a_person_by_the_first_record(stored):
    first = stored.first_records()
    if first is None:
        assert stored.engine.name != "spark"
        return
    found = stored.engine.collect(first).sort(RECORD)
    frame = visits().with_row_index("n")
    own = pl.when(pl.col("who").is_null()).then(NO_PERSON).otherwise(pl.col("n").min().over("who"))
    assert found[PERSON].to_list() == frame.select(own).to_series().to_list()


def test_more_persons_than_the_engine_lists_are_refused(stored, monkeypatch):
    monkeypatch.setattr(type(stored.engine), "_column_limit", 2)
    with pytest.raises(DataError, match="more than 2 persons have several combinations"):
        stored.count(QUASI, person=True)


def test_combinations_that_do_not_fit_in_a_key(stored, monkeypatch):
    monkeypatch.setattr(row_codes, "KEYS", 10)
    one, other = stored.count(QUASI, person=True, weight=True), plain(QUASI, person="who", weight="weight")
    assert one.cells.equals(other.cells)
    assert one.persons.tolist() == other.persons.tolist()
    assert one.weights.tolist() == other.weights.tolist()


def test_keys_hold_fewer_than_2_to_62_combinations():
    assert fits_in_key({"a": Domain(pl.Series(range(2**10))), "b": Domain(pl.Series([1]))})
    assert not fits_in_key({str(i): Domain(pl.Series(range(2**7))) for i in range(9)})


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "sex": pl.Series(["F", "M", None]).gather(rng.integers(0, 3, MANY_ROWS)),
            "pay": rng.normal(size=MANY_ROWS).round(3),
            "age": rng.choice([20, 21, 23, 40], MANY_ROWS),
            "area": [f"it's {code}" for code in rng.integers(0, 2000, MANY_ROWS)],
        }
    )


@pytest.fixture(scope="module")
def path(people, tmp_path_factory):
    place = tmp_path_factory.mktemp("codes") / "people.parquet"
    people.write_parquet(place)
    return place


@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_keys_are_those_of_the_rows_in_their_order(path, people, name):
    engine = engine_named(name)
    frame = engine._scan(path)
    codes = engine.encode(frame, ["area", "sex", "age"], domains={}, orders={})
    names = ["sex", "area"]
    expected = pack_codes({n: encode(people[n]).codes for n in names}, {n: codes.domains[n] for n in names})
    assert codes.keys(names).collect()[KEY].to_list() == expected.tolist()


@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_the_digest_by_codes_is_that_of_the_cells(path, people, name, monkeypatch):
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    schema = celosia.Schema.of(quasi=["area", "sex"], sensitive=["age"], insensitive=["pay"])
    table = with_record_ids(celosia.read(path, schema, engine=name))
    table.counts.prepare(["area", "sex"], ["age"], keep_rows=True)
    assert set(table.counts.stored.domains) == {"area", "sex", "age"}  # not the pay, which comes from the engine
    assert table_fingerprint(table) == table_fingerprint(celosia.read(people))


def test_another_cell_in_the_last_block_is_another_digest(people):
    other = people.with_columns(sex=pl.when(pl.int_range(pl.len()) == MANY_ROWS - 1).then(pl.lit("X")).otherwise("sex"))
    assert table_fingerprint(celosia.read(other)) != table_fingerprint(celosia.read(people))


def test_files_are_deleted_with_the_codes(path):
    engine = engine_named("polars")
    frame = engine._scan(path)
    codes = engine.encode(frame, ["sex"], domains={}, orders={})
    folder = codes.spilled_rows.folder
    assert (folder / "rows.parquet").stat().st_size > 0
    del codes
    assert not folder.exists()


@pytest.mark.parametrize(("few", "soon"), [(0, 0), (1 << 16, 0), (1 << 16, 300)], ids=["group-by", "compiled", "small"])
@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("b", "a", "c")])
def test_groups_in_memory_are_those_of_a_dictionary(monkeypatch, few, soon, names):
    monkeypatch.setattr(row_codes, "_FEW", few)
    monkeypatch.setattr(row_codes, "_SOON", soon)
    draw = np.random.default_rng(7)
    rows = {
        "a": draw.integers(0, 5, 300),
        "b": [("x", "y", None)[i] for i in draw.integers(0, 3, 300)],
        "c": draw.normal(size=300).round(1),
    }
    frame = pl.DataFrame(rows)
    chosen = np.flatnonzero(draw.random(300) < 0.8)
    codes = MemoryCodes(frame).choose(chosen)
    first, count = {}, {}
    for place, row in enumerate(frame[chosen].select(names).rows()):
        first.setdefault(row, place)
        count[row] = count.get(row, 0) + 1
    groups = codes.groups(names)
    assert np.all(np.diff(groups.key) > 0)
    found = zip(groups.first, groups.count, strict=True)
    assert {frame[chosen].select(names).row(f): (int(f), int(n)) for f, n in found} == {
        row: (first[row], count[row]) for row in first
    }
    own = codes.count(names)
    assert own.cells[codes.place(names)].equals(frame[chosen].select(names))


def test_no_rows_give_no_entries():
    codes = MemoryCodes(pl.DataFrame({"a": [1, 2]})).choose(np.zeros(0, np.int64))
    assert len(codes.count(["a"])) == len(codes.count(["a"], person="a")) == len(codes.count([])) == 0


def test_a_small_table_is_counted_before_compiled_code_is_loaded():
    """To load it takes as long as everything else that a small run does."""
    job = (
        "import sys, celosia, polars as pl; schema = celosia.Schema.of(quasi=['a'], person='p', weight='w');"
        "table = celosia.read(pl.DataFrame({'a': [1, 1, 2], 'p': [1, 2, 2], 'w': [1.0, 2.0, 2.0]}), schema);"
        "print(table.class_counts().size.tolist(), table.frequencies(weight=True).tolist(), 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=True)
    assert done.stdout == "[2, 1] [3.0, 3.0, 2.0] False\n"


@pytest.mark.on_spark
def test_parts_are_what_equal_cells_make(engine):
    made = engine_named(engine)
    frame = made.accept(pl.DataFrame({"a": [1, 2, 1, None, None], "b": [1, 2, 3, 4, 5]}))
    types = {"a": pl.Int64(), "b": pl.Int64()}
    parts = made.map_partitions(frame, ["a"], types, lambda part: part.group_by("a").agg(pl.col("b").sum()), rows=5)
    assert made.collect(parts).sort("a").rows() == [(None, 9), (1, 4), (2, 2)]
