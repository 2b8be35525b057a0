"""``celosia protect`` and ``celosia apply`` write what a release may hold, in no telling order, and say what stays."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from celosia.cli.main import run as command

N = 60


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    pl.DataFrame(
        {
            "pid": [f"P{7000 + i // 2}" for i in range(N)],
            "name": [f"Canary{i}" for i in range(N)],
            "age": [20 + i for i in range(N)],
            "pay": [1000 + 3 * i for i in range(N)],
            "note": [f"Note{i}" for i in range(N)],
        }
    ).write_csv(path)
    return path


def protect(data: Path, method: str, *more: str) -> pl.DataFrame:
    out = data.with_name("safe.csv")
    assert command(["protect", method, str(data), "--out", str(out), "--overwrite", *more]) == 0
    return pl.read_csv(out)


ROLES = ("--person", "pid", "--identifiers", "name", "--quasi", "age", "--sensitive", "pay")


def test_ids_and_undeclared_columns_stay_behind_and_the_order_is_not_that_of_the_file(data, capsys, engine):
    safe = protect(data, "round", "--columns", "pay", "--base", "100", *ROLES, "--engine", engine)
    assert safe.columns == ["age", "pay"]
    assert safe["age"].to_list() != list(range(20, 20 + N))
    assert sorted(safe["age"]) == list(range(20, 20 + N))
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Left out")]
    assert "pid (person), name (identifier), note (undeclared)" in line
    assert "--keep-columns" in line


@pytest.mark.parametrize(
    "arguments",
    [
        ("sample", "--share", "0.5", "--by", "pid"),
        ("sample", "--share", "0.5", "--within", "name"),
        ("rank-swap", "--columns", "pay", "--window", "1", "--within", "pid"),
        ("suppress-records", "--require", "k-anonymity(k=1)"),
    ],
)
def test_a_column_that_the_method_only_looks_at_stays_behind(data, arguments):
    assert protect(data, *arguments, *ROLES).columns == ["age", "pay"]


def test_columns_and_order_are_kept_when_asked(data, capsys):
    more = ("--keep-columns", "pid,note", "--keep-order", "--json")
    safe = protect(data, "round", "--columns", "pay", "--base", "100", *ROLES, *more)
    assert safe.columns == ["pid", "age", "pay", "note"]
    assert safe["age"].to_list() == list(range(20, 20 + N))
    told = json.loads(capsys.readouterr().out)
    assert told["left_out"] == ["name"]
    assert told["kept"][0] == {"column": "pid", "what": "person", "values_of_original": "all"}
    protect(data, "round", "--columns", "pay", "--base", "100", *ROLES, "--keep-columns", "pid")
    assert "Kept on purpose: pid (person); values of the original: all." in capsys.readouterr().out


def test_a_column_that_the_command_names_for_overwriting_needs_no_role(data):
    assert protect(data, "noise", "--columns", "pay", "--p", "0.1").columns == ["pay"]
    assert protect(data, "pseudonymise", "--columns", "pid,name").columns == ["pid", "name"]
    assert protect(data, "recode", "--column", "age", "--breaks", "[40]", "--keep-columns", "note").columns == [
        "age",
        "note",
    ]


def test_predictors_that_the_command_names_are_written_unless_they_are_identifiers(data, capsys):
    columns = ("--dependent", "pay", "--independent", "age")
    assert protect(data, "ipso", *columns).columns == ["age", "pay"]
    named = pl.read_csv(data).with_columns(national_id=pl.int_range(N) + 10_000_000)
    named.write_csv(data)
    assert protect(data, "fcrm", *columns[:2], "--independent", "age,national_id", "--c", "2").columns == ["age", "pay"]
    assert "national_id (identifier)" in capsys.readouterr().out


def test_pseudonyms_leave_and_what_is_left_of_an_identifier_is_refused(data, capsys):
    safe = protect(data, "pseudonymise", "--columns", "pid,name", *ROLES)
    assert safe.columns == ["pid", "name", "age", "pay"]
    assert not set(safe["pid"]) & {f"P{7000 + i}" for i in range(N)}
    capsys.readouterr()
    out = data.with_name("refused.csv")
    arguments = ["suppress-cells", str(data), "--columns", "name", "--where", "age > 40", "--out", str(out), *ROLES]
    assert command(["protect", *arguments]) == 2
    shown = capsys.readouterr().err
    assert "identifier column 'name': 21 of 21 cells still hold a value of the original" in shown
    assert "--keep-columns" in shown
    assert "Canary" not in shown
    assert not out.exists()


def test_nothing_to_release_is_refused_with_the_way_out(data, capsys):
    out = data.with_name("none.csv")
    assert command(["protect", "sample", str(data), "--share", "0.5", "--out", str(out)]) == 2
    assert "no column is left to release" in capsys.readouterr().err
    assert not out.exists()


def test_further_files_hold_no_identifier(data):
    out = data.with_name("safe.csv")
    ipso = ["ipso", str(data), "--dependent", "pay", "--independent", "age", "--copies", "2", "--out", str(out)]
    assert command(["protect", *ipso, *ROLES]) == 0
    assert pl.read_csv(data.with_name("safe.copy 2.csv")).columns == ["age", "pay"]
    subset = ["subset", str(data), "--where", "age > 30", "--out", str(data.with_name("some.csv"))]
    assert command(["protect", *subset, *ROLES]) == 0
    assert sorted(p.name for p in data.parent.glob("*.csv")) == ["data.csv", "safe.copy 2.csv", "safe.csv", "some.csv"]


def test_a_policy_as_the_source_keeps_what_it_says(data):
    policy = data.with_name("p.toml")
    policy.write_text(
        '[input]\npath = "data.csv"\n[schema]\nidentifiers = ["name"]\nperson = "pid"\nquasi = ["age"]\n'
        '[output]\ncolumns = ["note"]\norder = "kept"\n'
    )
    out = data.with_name("safe.csv")
    assert command(["protect", "recode", str(policy), "--column", "age", "--breaks", "[40]", "--out", str(out)]) == 0
    safe = pl.read_csv(out)
    assert safe.columns == ["age", "note"]
    assert safe["note"].to_list() == [f"Note{i}" for i in range(N)]


def test_apply_leaves_out_an_identifier_whose_step_was_not_run(data):
    policy = data.with_name("p.toml")
    policy.write_text(
        '[input]\npath = "data.csv"\n[schema]\nidentifiers = ["name"]\nperson = "pid"\nquasi = ["age"]\n'
        '[[step]]\nuse = "mask"\ncolumns = ["name"]\n[[step]]\nuse = "recode"\ncolumn = "age"\nbreaks = [40]\n'
        '[output]\npath = "safe.csv"\nreport = false\n'
    )
    assert command(["run", str(policy), "--without", "mask"]) == 0
    record, out = data.with_name("safe.private.json"), data.with_name("new.csv")
    assert command(["apply", str(record), str(data), "--out", str(out)]) == 0
    assert pl.read_csv(out).columns == ["age"]
    assert "Canary" not in out.read_text()
    assert command(["run", str(policy), "--overwrite"]) == 0
    assert command(["apply", str(record), str(data), "--out", str(out), "--overwrite"]) == 0
    assert set(pl.read_csv(out)["name"]) == {"*******", "********"}
