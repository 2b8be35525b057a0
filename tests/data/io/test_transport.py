"""SAS transport files: what is written comes back, and what the format cannot hold is refused."""

from __future__ import annotations

from datetime import date, datetime, time

import polars as pl
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.data import io as cio
from celosia.data.io.facts import FileFacts
from celosia.data.io.transport import SMALLEST, TOO_LARGE
from celosia.errors import OutputError, ParameterError

FRAME = pl.DataFrame(
    {
        "id": [1, 2, None],
        "pay": [1.5, None, -0.1],
        "city": ["Vic", None, "Ávila y Ñuñoa"],
        "member": [True, None, False],
        "born": [date(2020, 2, 29), None, date(1582, 1, 1)],
        "seen": [datetime(2020, 1, 1, 12, 30, 15, 250_000), None, datetime(1955, 1, 1)],
        "at": [time(1, 2, 3), None, time(23, 59, 59)],
        "nothing": pl.Series([None] * 3, dtype=pl.Null),
    }
)


@pytest.mark.parametrize("version", [8, 5])
def test_every_type_comes_back(tmp_path, version):
    target = tmp_path / "x.xpt"
    facts = FileFacts("spss", title="Survey", descriptions={"pay": "Pay in euro", "gone": "no column"})
    cio.write(FRAME, target, facts, version=version)
    again = cio.scan(target)
    assert again.frame.collect().rows() == FRAME.with_columns(pl.col("member").cast(pl.Int64)).rows()
    assert again.facts.type == "sas"
    assert again.facts.title == "Survey"
    assert again.facts.descriptions == {"pay": "Pay in euro"}
    types = again.frame.collect_schema()
    assert [types[name] for name in ("id", "pay", "born", "at")] == [pl.Int64, pl.Float64, pl.Date, pl.Time]
    cio.write(again.frame, tmp_path / "y.xpt", again.facts, version=version)
    assert cio.scan(tmp_path / "y.xpt").frame.collect().equals(again.frame.collect())


SIZES = st.floats(SMALLEST, TOO_LARGE, exclude_max=True)
DOUBLES = SIZES | SIZES.map(lambda size: -size) | st.sampled_from([0.0, 0.1, None])


@settings(max_examples=50, deadline=None)
@given(st.lists(DOUBLES, min_size=1, max_size=30), st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=30))
def test_numbers_are_exact(tmp_path_factory, decimals, wholes):
    target = tmp_path_factory.mktemp("numbers") / "x.xpt"
    for values, kind in ((decimals, pl.Float64), (wholes, pl.Int64)):
        cio.write(pl.DataFrame({"n": pl.Series(values, dtype=kind)}), target, overwrite=True)
        assert pyreadstat.read_xport(target, output_format="polars")[0]["n"].to_list() == values


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (pl.Series("n", [1e75, -1e-79, 1.0]), "cannot hold 2 of its numbers"),
        (pl.Series("n", [float("inf")]), "cannot hold 1 of its numbers"),
        (pl.Series("n", [2**53 + 1]), "cannot hold 1 of its numbers"),
        (pl.Series("n", ["é" * 20_000]), "a text has 40000 bytes"),
        (pl.Series("marital status", [1]), "does not allow the column name 'marital status'"),
        (pl.Series("1st", [1]), "does not allow the column name"),
        (pl.Series("año", [1]), "does not allow the column name"),
        (pl.Series("x" * 33, [1]), "at most 32 in version 8"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, column, told):
    with pytest.raises(OutputError, match=told):
        cio.write(pl.DataFrame([column]), tmp_path / "x.xpt")
    assert not list(tmp_path.iterdir())


def test_names_by_version_and_letters(tmp_path):
    frame = pl.DataFrame({"nine_char": [1]})
    cio.write(frame, tmp_path / "x.xpt")
    with pytest.raises(OutputError, match="at most 8 in version 5"):
        cio.write(frame, tmp_path / "y.xpt", version=5)
    with pytest.raises(OutputError, match="a text has 201 bytes; version 5 of a SAS transport file holds 200"):
        cio.write(pl.DataFrame({"s": ["a" * 201]}), tmp_path / "y.xpt", version=5)
    with pytest.raises(OutputError, match="'Age' would be there twice"):
        cio.write(pl.DataFrame({"Age": [1], "age": [2]}), tmp_path / "y.xpt")
    with pytest.raises(ParameterError, match="must be 8 or 5, got 6"):
        cio.write(frame, tmp_path / "y.xpt", version=6)


@pytest.mark.parametrize(("name", "instead"), [("x.sas7bdat", ".xpt"), ("x.por", ".sav")])
def test_only_read(tmp_path, name, instead):
    with pytest.raises(OutputError, match=f"only read: name the output {instead}"):
        cio.write(pl.DataFrame({"a": [1]}), tmp_path / name)


def test_labelled_columns_are_codes_and_recoded_ones_text(tmp_path):
    pyreadstat.write_sav(
        pl.DataFrame({"marital": [1, 2, 3], "city": [1, 2, 1]}),
        tmp_path / "survey.sav",
        variable_value_labels={"marital": {1: "single", 2: "married", 3: "widowed"}, "city": {1: "Vic", 2: "Olot"}},
    )
    table = celosia.read(tmp_path / "survey.sav")
    recode = celosia.methods.Recode(column="marital", mapping={"2": "{2, 3}", "3": "{2, 3}"})
    cio.write(celosia.protect(table, recode).polars(), tmp_path / "safe.xpt", table.origin.facts)
    assert cio.scan(tmp_path / "safe.xpt").frame.collect().rows() == [("1", 1), ("{2, 3}", 2), ("{2, 3}", 1)]


def test_a_policy_writes_one(tmp_path):
    FRAME.drop("nothing").write_csv(tmp_path / "people.csv")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[input]\npath = "people.csv"\n[schema]\nquasi = ["id", "born"]\n[[step]]\nuse = "recode"\ncolumn = "id"\n'
        'breaks = [0, 5]\n[output]\npath = "safe.xpt"\nreport = false\nversion = 5\n'
    )
    from celosia.cli.main import run as command
    from celosia.release.verify.verify import verify

    assert command(["run", str(policy)]) == 0
    safe = cio.scan(tmp_path / "safe.xpt").frame.collect()
    assert sorted(safe["id"].drop_nulls()) == ["[0-5)", "[0-5)"]
    assert sorted(safe["born"].drop_nulls()) == sorted(FRAME["born"].drop_nulls())
    assert command(["verify", str(tmp_path / "safe.certificate.json")]) == 3  # no requirement is stated
    assert verify(tmp_path / "safe.certificate.json").holds
