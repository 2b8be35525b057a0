"""Every verb takes frames of pandas, Polars, PyArrow, DuckDB and Spark, and gives the same kind back."""

from __future__ import annotations

import datetime as dt
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import celosia

pytestmark = pytest.mark.filterwarnings("ignore:columns are left out of the result")
SCHEMA = celosia.Schema.of(identifiers=["name"], quasi=["age", "zip"], sensitive=["disease"], insensitive=["seen"])
STEPS = ("drop", "suppress-records(require=[k-anonymity(k=2)])")


def people() -> pd.DataFrame:
    """Thirty rows in which the zip code 08009 stands once, with an index that is not the row number."""
    zips = ["08001", "08002", "08001", "08002", "08002", "08001"] * 5
    zips[7] = "08009"
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(30)],
            "age": [34, 51, 34, 60, 22, 41] * 5,
            "zip": pd.Categorical(zips),
            "disease": ["flu", "flu", "asthma", "flu", "asthma", "flu"] * 5,
            "seen": pd.date_range("2020-01-01", periods=30),
        }
    )
    frame.index = pd.Index(np.arange(100, 130))
    return frame


KINDS = {
    "pandas": (lambda df: df, pd.DataFrame),
    "polars": (pl.from_pandas, pl.DataFrame),
    "lazy": (lambda df: pl.from_pandas(df).lazy(), pl.LazyFrame),
    "pyarrow": (lambda df: pa.Table.from_pandas(df, preserve_index=False), pa.Table),
    "pyarrow with an index": (pa.Table.from_pandas, pa.Table),
    "batch": (lambda df: pa.Table.from_pandas(df).to_batches()[0], pa.Table),
    "reader": (lambda df: pa.Table.from_pandas(df).to_reader(), pa.Table),
    "duckdb": (duckdb.from_df, duckdb.DuckDBPyRelation),
}


def rows_of(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pd.DataFrame):
        return pl.from_pandas(frame).with_columns(pl.col("zip").cast(pl.String))
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else pl.DataFrame(frame)
    return frame.with_columns(pl.col("zip").cast(pl.String)).drop("__index_level_0__", strict=False)


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_in_goes_out_again_with_the_same_rows(kind: str) -> None:
    make, cls = KINDS[kind]
    safe = celosia.protect(make(people()), *STEPS, schema=SCHEMA, seed=1)
    assert isinstance(safe, cls)
    expected = celosia.protect(celosia.read(people(), SCHEMA), *STEPS, seed=1)
    assert isinstance(expected, celosia.Table)
    plain = expected.polars().with_columns(pl.col("zip").cast(pl.String))
    found = rows_of(safe)
    assert found.columns == plain.columns
    assert found["age"].to_list() == plain["age"].to_list()
    assert found["zip"].to_list() == plain["zip"].to_list()
    assert "*" in found["zip"].to_list()


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_takes_every_kind(kind: str, tmp_path: Any) -> None:
    make, _ = KINDS[kind]
    safe = celosia.protect(make(people()), *STEPS, schema=SCHEMA)
    assert celosia.assess(safe, ["k-anonymity(k=2)"], schema=SCHEMA).holds
    assert not celosia.assess(make(people()), ["k-anonymity(k=2)"], schema=SCHEMA).holds
    lost = celosia.compare(make(people()), make(people()), schema=SCHEMA)
    assert lost.losses[0].value == 0
    assert [s.name for s in celosia.suggest(make(people()))] == list(people().columns)
    written = celosia.write(safe, tmp_path / "safe.csv", original=make(people()), schema=SCHEMA)
    assert "name" not in written.table.names
    found = celosia.explore(make(people()), ["noise(columns=age, p=0.1)"], schema=SCHEMA, seeds=1, seed=1)
    assert len(found.points) == 1


@pytest.mark.xdist_group("spark")
def test_a_spark_frame_comes_back_as_one(spark: Any) -> None:
    given = people().assign(zip=people()["zip"].astype(str)).drop(columns="seen")
    schema = celosia.Schema.of(identifiers=["name"], quasi=["age", "zip"], sensitive=["disease"])
    frame = spark.createDataFrame(pa.Table.from_pandas(given, preserve_index=False))
    safe = celosia.protect(frame, *STEPS, schema=schema)
    assert type(safe).__module__.startswith("pyspark")
    assert sorted(safe.columns) == ["age", "disease", "zip"]
    assert celosia.assess(safe, ["k-anonymity(k=2)"], schema=schema).holds


def test_the_index_of_pandas_is_kept_also_where_rows_are_left_out() -> None:
    frame = people()
    assert celosia.protect(frame, "drop", schema=SCHEMA).index.equals(frame.index)
    fewer = celosia.protect(frame, "sample(share=0.5)", schema=SCHEMA, seed=1)
    assert 0 < len(fewer) < 30
    assert fewer["age"].equals(frame.loc[fewer.index, "age"])
    several = frame.set_index([frame.index, "age"], drop=False)
    with pytest.warns(UserWarning, match="no method protects it"):
        back = celosia.protect(several, "sample(share=0.5)", schema=SCHEMA, seed=1)
    assert list(back.index.names) == [None, "age"]


def test_new_rows_have_no_index_of_old_ones() -> None:
    schema = celosia.Schema.of(quasi=["age", "zip"])
    made = celosia.protect(people()[["age", "zip"]], "gaussian-copula", schema=schema, seed=1)
    assert made.index.equals(pd.RangeIndex(len(made)))


@pytest.mark.parametrize("index", [pd.Index(people()["name"]), pd.Index(people()["name"], name=None)])
def test_an_index_that_may_name_somebody_is_warned_of(index: pd.Index) -> None:
    frame = people().set_axis(index, axis=0)
    with pytest.warns(UserWarning, match="reset_index"):
        celosia.protect(frame, "drop", schema=SCHEMA)


def test_the_index_of_arrow_is_kept() -> None:
    fewer = celosia.protect(pa.Table.from_pandas(people()), "sample(share=0.5)", schema=SCHEMA, seed=1)
    again = fewer.to_pandas()
    assert again["age"].equals(people().loc[again["__index_level_0__"], "age"].reset_index(drop=True))


def test_types_of_pandas_are_kept() -> None:
    frame = people().assign(
        whole=pd.array([2**60 + 1, None, 3] * 10, dtype="Int64"),
        flag=pd.array([True, None, False] * 10, dtype="boolean"),
        short=np.arange(30, dtype="float32"),
        day=[dt.date(2020, 1, 1)] * 30,
        level=pd.Categorical(["low", "high", "mid"] * 10, categories=["low", "mid", "high"], ordered=True),
        number=pd.Categorical([1, 2, 3] * 10),
        arrow=pd.Series(["a"] * 30, dtype=pd.ArrowDtype(pa.string()), index=np.arange(100, 130)),
        zoned=pd.date_range("2020-01-01", periods=30, tz="Europe/Madrid"),
    )
    added = [name for name in frame if name not in people()]
    back = celosia.protect(frame, "sample(share=1.0)", schema=SCHEMA, seed=1, keep=added)
    assert back.dtypes.to_dict() == frame.drop(columns="name").dtypes.to_dict()
    pd.testing.assert_frame_equal(back, frame.drop(columns="name"))


def test_blanked_whole_numbers_stay_whole_numbers() -> None:
    blanked = celosia.protect(people(), "suppress-cells(columns=age, where='age > 50')", schema=SCHEMA, seed=1)
    assert blanked["age"].isna().sum() > 0
    assert str(blanked["age"].dtype) == "Int64"


def test_a_category_that_is_gone_is_named_nowhere() -> None:
    """The list of categories would tell that somebody lives in 08009."""
    safe = celosia.protect(people(), *STEPS, schema=SCHEMA)
    assert set(safe["zip"].cat.categories) == {"08001", "08002", "*"}
    arrow = celosia.protect(pa.Table.from_pandas(people()), *STEPS, schema=SCHEMA)
    column = arrow.column("zip")
    assert pa.types.is_dictionary(column.type)
    assert "08009" not in column.combine_chunks().dictionary.to_pylist()


def test_the_result_is_a_relation_of_the_same_connection() -> None:
    connection = duckdb.connect()
    connection.register("frame", people())
    connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    safe = celosia.protect(connection.table("people"), *STEPS, schema=SCHEMA)
    assert connection.sql("SELECT count(*) FROM safe").fetchone() == (30,)
    safe.create("safe_people")
    assert connection.sql("SELECT count(*) FROM safe_people WHERE zip = '08009'").fetchone() == (0,)


def test_two_pandas_frames_are_paired_by_their_index() -> None:
    frame = people()
    moved = frame.sample(frac=1, random_state=3)
    assert celosia.compare(frame, moved, schema=SCHEMA).losses[0].value == 0
    fewer = celosia.protect(frame, "sample(share=0.5)", schema=SCHEMA, seed=1)
    lost = celosia.compare(frame, fewer, schema=SCHEMA).losses[0]
    assert lost.value == pytest.approx(1 - len(fewer) / 30)


def test_fewer_rows_that_were_numbered_again_are_not_paired() -> None:
    frame = people().reset_index(drop=True)
    fewer = frame.iloc[5:].reset_index(drop=True)
    assert celosia.compare(frame, fewer, schema=SCHEMA).losses[0].value is None


def test_a_protected_frame_is_judged_under_the_schema_of_its_original() -> None:
    schema = celosia.Schema.of(
        identifiers=["name"], quasi=["age"], kinds={"age": "numeric"}, hierarchies={"age": "intervals(width=20)"}
    )
    frame = people()[["name", "age"]]
    safe = celosia.protect(frame, "drop", "generalise(require=[k-anonymity(k=10)])", schema=schema)
    assert "name" not in safe
    assert safe["age"].dtype != frame["age"].dtype
    assert celosia.assess(safe, ["k-anonymity(k=10)"], schema=schema).holds


def test_a_misspelt_quasi_identifier_is_refused() -> None:
    with pytest.raises(celosia.CelosiaError, match="no column 'agee'"):
        celosia.assess(people(), schema=celosia.Schema.of(quasi=["agee"]))
    with pytest.raises(celosia.CelosiaError, match="no column 'nam'"):
        celosia.protect(people(), "drop", schema=celosia.Schema.of(identifiers=["nam"]))


def test_without_a_schema_the_roles_are_guessed_and_nothing_is_promised() -> None:
    assessment = celosia.assess(people(), ["k-anonymity(k=1)"])
    assert assessment.guessed
    assert not assessment.holds


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"age": [1]}, "cannot read a dict"),
        (pd.Series([1]), "cannot read a Series"),
        (np.zeros((2, 2)), "cannot read a ndarray"),
        (None, "cannot read a NoneType"),
        (pd.DataFrame([[1, 2]]), "labels that are no text"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "the same name"),
        (pd.DataFrame({"x": [1, "secret", None]}), "column 'x' holds values of several types"),
    ],
)
def test_what_is_no_frame_is_refused_in_a_sentence(given: Any, said: str) -> None:
    with pytest.raises(celosia.CelosiaError, match=said) as refusal:
        celosia.read(given)
    assert "secret" not in str(refusal.value)


def test_a_frame_of_another_library_comes_in_through_arrow() -> None:
    class Foreign:
        columns = ("age",)

        def __arrow_c_stream__(self, requested: Any = None) -> Any:
            return pa.table({"age": [1, 2]}).__arrow_c_stream__(requested)

    assert len(celosia.read(Foreign())) == 2
