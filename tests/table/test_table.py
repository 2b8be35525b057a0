"""The table on every engine: counts, changes, alignment, frames in and out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia import Schema
from celosia.errors import DataError, NotApplicable, SchemaError
from celosia.streams import Stream
from celosia.table.derive import with_record_ids
from celosia.table.edit import map_values
from celosia.table.pairing import by_key, positions
from celosia.table.suppression import suppress_records

FRAME = pl.DataFrame(
    {
        "age": [30, 30, 31, None, 31],
        "zip": ["a", "a", "b", "b", "b"],
        "disease": ["x", "y", "x", "x", "x"],
        "who": ["p", "p", "q", "r", "s"],
        "w": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
)
SCHEMA = Schema.of(quasi=["age", "zip"], sensitive=["disease"])


def test_sizes_count_classes(engine):
    frequency, records = celosia.read(FRAME, SCHEMA, engine=engine).classes.sizes
    assert sorted(records.tolist()) == [1, 2, 2]
    assert sorted(frequency.tolist()) == [1, 2, 2]


@pytest.mark.on_spark
def test_sizes_count_persons(engine):
    table = celosia.read(FRAME, Schema.of(quasi=["age", "zip"], person="who"), engine=engine)
    # (30, a) is one person with two rows; (31, b) are two persons; (missing, b) one.
    assert sorted(table.classes.sizes[1].tolist()) == [1, 1, 2]
    assert table.class_counts().total == 4


@pytest.mark.on_spark
def test_frequencies_are_in_table_order(engine):
    table = celosia.read(FRAME, SCHEMA, engine=engine)
    assert table.frequencies().tolist() == [2, 2, 2, 1, 2]
    weighted = celosia.read(FRAME, Schema.of(quasi=["age", "zip"], weight="w"), engine=engine)
    assert weighted.frequencies(weight=True).tolist() == [3, 3, 8, 4, 8]


@pytest.mark.parametrize(("missing", "expected"), [("wildcard", [2, 2, 3, 3, 3]), ("conservative", [2, 2, 2, 3, 2])])
def test_missing_values_are_read_as_declared(engine, missing, expected):
    schema = Schema.of(quasi=["age", "zip"], missing={"age": missing})
    assert celosia.read(FRAME, schema, engine=engine).frequencies().tolist() == expected


def test_value_counts_have_the_distribution_of_the_input(engine):
    table = celosia.read(FRAME, SCHEMA, engine=engine)
    counts = table.class_counts(("disease",)).of("disease")
    assert counts.baseline.tolist() == [0.8, 0.2]
    assert sorted(counts.distinct.tolist()) == [1, 1, 2]
    protected = celosia.protect(table, "suppress-records(require=[k-anonymity(k=2)])")
    assert protected.class_counts(("disease",)).of("disease").baseline.tolist() == [0.8, 0.2]


@pytest.mark.on_spark
def test_a_suppressed_record_has_stars_and_belongs_to_no_class(engine):
    table = celosia.read(FRAME, SCHEMA, engine=engine)
    done = suppress_records(table, np.array([False, False, False, True, False]))
    assert done.polars().row(3) == ("*", "*", "x", "r", 4.0)
    assert done.suppressed() == 1
    assert done.frequencies().tolist() == [2, 2, 2, 0, 2]
    assert done.counts.suppressed_mask.tolist() == [False, False, False, True, False]
    again = celosia.read(done.polars(), SCHEMA, engine=engine)
    assert again.suppressed() == 1
    assert sorted(again.classes.sizes[1].tolist()) == [2, 2]
    assert len(suppress_records(table, np.array([True] * 5), drop=True)) == 0


def test_a_table_that_is_all_stars_is_one_class(engine):
    frame = pl.DataFrame({"age": ["*", "*"], "zip": ["*", "*"]})
    table = celosia.read(frame, Schema.of(quasi=["age", "zip"]), engine=engine)
    assert table.suppressed() == 0
    assert table.classes.sizes[1].tolist() == [2]


def test_a_record_of_missing_values_is_not_suppressed(engine):
    frame = pl.DataFrame({"a": ["x", None, "*"], "b": ["y", None, "*"]})
    table = celosia.read(frame, Schema.of(quasi=["a", "b"]), engine=engine)
    assert table.suppressed() == 1
    assert table.classes.sizes[1].tolist() == [1, 1]
    assert table.frequencies().tolist() == [1, 1, 0]


def test_changes_make_new_tables(engine):
    table = celosia.read(FRAME, SCHEMA, engine=engine)
    changed = map_values(table.replace({"age": np.arange(5.0)}), "zip", ["a", "b"], ["A", "B"]).drop(["who"])
    assert changed.polars()["age"].to_list() == [0, 1, 2, 3, 4]
    assert changed.polars()["zip"].to_list() == ["A", "A", "B", "B", "B"]
    assert "who" not in changed.names
    assert table.polars().equals(FRAME)
    with pytest.raises(DataError, match="2 values were given for 5 records"):
        table.replace({"age": [1, 2]})


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "duckdb"])
def test_the_same_kind_of_frame_comes_out(kind):
    import duckdb

    source = {
        "polars": lambda: FRAME,
        "lazy": FRAME.lazy,
        "pandas": FRAME.to_pandas,
        "pyarrow": FRAME.to_arrow,
        "duckdb": lambda: duckdb.connect().from_arrow(FRAME),
    }[kind]()
    table = celosia.read(source, SCHEMA)
    out = celosia.protect(table, "recode(column=zip, mapping={a=A})").frame
    kinds = {"polars": pl.DataFrame, "lazy": pl.LazyFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table}
    assert isinstance(out, kinds.get(kind, duckdb.DuckDBPyRelation))
    assert celosia.read(out).polars()["zip"].to_list() == ["A", "A", "b", "b", "b"]
    assert table.polars().equals(FRAME)


def test_files_are_paired_by_key_only(tmp_path):
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.reverse().with_row_index("n").write_csv(tmp_path / "b.csv")
    first, second = celosia.read(tmp_path / "a.csv"), celosia.read(tmp_path / "b.csv")
    with pytest.raises(NotApplicable, match="key"):
        positions(first, second)
    paired = by_key(first, second, "w")
    assert positions(first, paired).tolist() == [0, 1, 2, 3, 4]
    assert paired.column("n").to_list() == [4, 3, 2, 1, 0]
    with pytest.raises(DataError, match="repeated"):
        by_key(first, second, "who")


def test_infinite_numbers_and_text_are_refused():
    table = celosia.read(pl.DataFrame({"x": [1.0, float("inf")], "y": ["a", "b"]}))
    with pytest.raises(DataError, match="'x' holds 1 infinite"):
        table.numeric(["x"])
    with pytest.raises(DataError, match="'y' holds text"):
        table.numeric(["y"])


def test_schema_messages_name_the_column():
    with pytest.raises(SchemaError, match=r"no column 'agee'. Did you mean 'age'"):
        celosia.read(FRAME, Schema.of(quasi=["agee"]))
    with pytest.raises(SchemaError, match="no role"):
        celosia.read(FRAME, Schema.of(quasi=["age"], rest="error"))
    with pytest.raises(SchemaError, match="bounds of column 'age'"):
        Schema.of(quasi=["age"], bounds={"age": (5, 1)})
    with pytest.raises(SchemaError, match="kind of column 'age' must be one of"):
        Schema.of(quasi=["age"], kinds={"age": "number"})
    with pytest.raises(SchemaError, match="a list of column names"):
        Schema.of(quasi="age")
    with pytest.raises(SchemaError, match="no quasi-identifier"):
        _ = celosia.read(FRAME).classes.sizes
    with pytest.raises(SchemaError, match="cannot be mixed"):
        Schema.of(quasi=["a", "b"], missing={"a": "wildcard", "b": "conservative"}).reading()


def test_reserved_names_are_refused():
    with pytest.raises(DataError, match="reserved"):
        celosia.read(pl.DataFrame({"__record__": [1]}))


rows = st.lists(
    st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from(["a", "b", None]), st.sampled_from("xyz")),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(rows)
def test_engines_agree_with_counting_by_hand(data):
    frame = pl.DataFrame(data, schema={"q": pl.Int64, "r": pl.String, "s": pl.String}, orient="row")
    schema = Schema.of(quasi=["q", "r"], sensitive=["s"])
    expected = [sum(a[:2] == b[:2] for b in data) for a in data]
    for engine in ("polars", "duckdb"):
        table = celosia.read(frame, schema, engine=engine)
        assert table.frequencies().tolist() == expected
        counts = table.class_counts(("s",))
        assert sorted(counts.size.tolist()) == sorted(data_counts(data).values())
        assert int(counts.of("s").count.sum()) == len(data)


def data_counts(data):
    out = {}
    for row in data:
        out[row[:2]] = out.get(row[:2], 0) + 1
    return out


def test_streams_depend_on_seed_name_and_record_only():
    ids = np.array([3, 9, 100])
    one, two = Stream(5).child("a"), Stream(5).child("b")
    assert np.array_equal(one.uniform(ids), one.uniform(np.arange(200))[ids])
    assert not np.array_equal(one.uniform(ids), two.uniform(ids))
    assert not np.array_equal(one.uniform(ids), Stream(6).child("a").uniform(ids))
    sample = one.normal(np.arange(100_000))
    # The standard error of the standard deviation is 0.0022 here: 0.7 and 1.3 are far outside.
    assert abs(sample.std() - 1) < 0.01
    assert abs(sample.mean()) < 0.015


@pytest.mark.on_spark
def test_shuffling_agrees_between_engines(engine):
    frame = pl.DataFrame({"x": np.arange(500)})
    order = []
    for each in ("polars", engine):
        table = with_record_ids(celosia.read(frame, engine=each))
        shuffled = table.engine.shuffle(table.rows.frame, Stream(2))
        order.append(table.engine.collect(shuffled)["x"].to_list())
    assert order[0] == order[1]
    assert sorted(order[0]) == list(range(500))
    assert order[0] != list(range(500))
