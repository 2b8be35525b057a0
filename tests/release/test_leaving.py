"""What leaves with a release: decided by what is declared and by the cells, never by a name that occurs in a step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import celosia
from celosia import Schema
from celosia.errors import OutputError, UnknownName
from celosia.parts import Formal, parts
from celosia.release.output.columns import order_records, select_output
from celosia.release.run import run
from celosia.streams import Stream
from celosia.table.derive import with_record_ids

N = 120
POLICY = """
[input]
path = "people.csv"
engine = "{engine}"

[schema]
identifiers = ["name"]
person = "pid"
household = "home"
quasi = ["age", "town"]
sensitive = ["pay"]
insensitive = ["born"]

{steps}

[measure]
losses = ["altered-records"]

[output]
path = "safe.csv"
{output}

[guard]
acknowledge = {{ pay = "what a test needs", born = "what a test needs" }}

[run]
seed = "{seed}"
"""
SEED = "5eed" * 8


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"Canary{i}" for i in range(N)],
            "pid": [f"P{7000 + i // 2}" for i in range(N)],
            "home": [f"H{90000 + i // 3}" for i in range(N)],
            "age": [20 + i % 4 * 10 for i in range(N)],
            "town": [("Ur", "Uruk")[i // 6 % 2] for i in range(N)],
            "pay": [1000.0 + 7 * (i * 31 % N) for i in range(N)],
            "born": pl.Series([i % 300 for i in range(N)]).cast(pl.Int32).cast(pl.Date),
            "note": ["Undeclared"] * N,
        }
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    people().write_csv(tmp_path / "people.csv")
    return tmp_path


def released(place: Path, *steps: str, output: str = "report = false", engine: str = "polars") -> Any:
    listed = "\n".join(f"[[step]]\n{step}\n" for step in steps)
    path = place / "policy.toml"
    path.write_text(POLICY.format(engine=engine, steps=listed, output=output, seed=SEED))
    return run(path)


def written(place: Path) -> str:
    """Everything that was written for others to read."""
    private = {"people.csv", "policy.toml", "safe.private.json", "safe.internal.html"}
    return "\n".join(path.read_text() for path in place.iterdir() if path.name not in private)


NAMED = {
    "by of shift-dates": 'use = "shift-dates"\ncolumns = ["born"]\nby = "name"',
    "by of sample": 'use = "sample"\nshare = 0.9\nby = "pid"',
    "within of sample": 'use = "sample"\nshare = 0.9\nwithin = "home"',
    "within of microaggregate": 'use = "microaggregate"\ncolumns = ["pay"]\nk = 2\nwithin = ["home"]',
    "within of a partial synthesis": 'use = "sequential-trees"\ncolumns = ["pay"]\nwithin = ["home"]\nleaf = 2',
    "within of a synthesis": 'use = "gaussian-copula"\nwithin = ["home"]',
    "within of pram": 'use = "pram"\ncolumns = ["town"]\nwithin = ["home"]',
    "person of the schema": 'use = "round"\ncolumns = ["pay"]\nbase = 100',
}


@pytest.mark.parametrize("step", NAMED.values(), ids=NAMED.keys())
def test_a_column_that_a_step_only_looks_at_stays_behind(place, engine, step):
    made = released(place, step, engine=engine)
    assert set(pl.read_csv(place / "safe.csv").columns) <= {"age", "town", "pay", "born"}
    assert "home" in made.record["left_out"]
    for planted in ("Canary", "P70", "H900", "Undeclared"):
        assert planted not in written(place), planted


def test_identifiers_that_were_overwritten_leave(place, engine):
    made = released(
        place,
        'use = "pseudonymise"\ncolumns = ["pid", "home"]',
        'use = "mask"\ncolumns = ["name"]\nkeep = 2',
        engine=engine,
    )
    data = pl.read_csv(place / "safe.csv")
    assert data.columns == ["name", "pid", "home", "age", "town", "pay", "born"]
    assert data["pid"].n_unique() == N // 2
    assert data["home"].n_unique() == N // 3
    assert list(made.record["left_out"]) == ["note"]
    assert "kept" not in made.certificate


LEFT = {
    "in part": ('use = "suppress-cells"\ncolumns = ["name"]\nwhere = "age = 30"', "90 of 90"),
    "not at all": ('use = "suppress-cells"\ncolumns = ["name"]\nwhere = "age > 200"', "120 of 120"),
    "by moving it": ('use = "random-perturbation"\nshuffle = ["name"]', "120 of 120"),
    "of other records": ('use = "top-code"\ncolumns = ["name"]\nvalue = 5', "120 of 120"),
}


@pytest.mark.parametrize("case", LEFT)
def test_an_identifier_that_still_holds_original_values_is_refused_with_the_count(place, engine, case):
    step, count = LEFT[case]
    if "top-code" in step:
        people().with_columns(name=pl.int_range(pl.len())).write_csv(place / "people.csv")
    with pytest.raises(OutputError, match=f"identifier column 'name': {count} cells still hold") as refused:
        released(place, step, engine=engine)
    assert "Canary" not in str(refused.value)
    assert "output.columns" in str(refused.value)
    assert sorted(path.name for path in place.iterdir()) == ["people.csv", "policy.toml"]


def test_the_population_of_a_subset_is_not_published(place, engine):
    made = released(place, 'use = "subset"\nwhere = "age > 30"', engine=engine)
    assert "population" not in made.paths
    assert "Canary" not in written(place)
    assert len(pl.read_csv(place / "safe.csv")) == N // 2
    assert len(made.table.private_history[0]["aside"]["population"]) == N


def test_further_copies_hold_no_identifier_and_are_shuffled(place, engine):
    step = 'use = "ipso"\ndependent = ["pay"]\nindependent = ["age"]\ncopies = 2'
    released(place, step, engine=engine)
    copy = pl.read_csv(place / "safe.copy 2.csv")
    assert copy.columns == ["age", "town", "pay", "born"]
    assert copy["town"].to_list() != people()["town"].to_list()
    assert sorted(copy["town"]) == sorted(people()["town"])
    assert "Canary" not in written(place)


def test_a_column_that_a_step_made_leaves(place, engine):
    released(place, 'use = "anatomise"\nl = 2', engine=engine)
    data, apart = pl.read_csv(place / "safe.csv"), pl.read_csv(place / "safe.sensitive.csv")
    assert data.columns == ["age", "town", "born", "group"]
    assert apart.columns == ["group", "pay", "count"]
    assert set(data["group"]) == set(apart["group"])


def test_what_is_kept_on_purpose_is_said_in_the_certificate(place, engine):
    made = released(
        place,
        'use = "pseudonymise"\ncolumns = ["home"]',
        output='columns = ["pid", "note", "home", "age"]\nreport = false',
        engine=engine,
    )
    assert set(pl.read_csv(place / "safe.csv")["pid"]) == set(people()["pid"])
    assert made.certificate["kept"] == [
        {"column": "pid", "what": "person", "values_of_original": "all"},
        {"column": "home", "what": "household", "values_of_original": "none"},
        {"column": "note", "what": "undeclared", "values_of_original": "all"},
    ]
    assert list(made.record["left_out"]) == ["name"]


def test_a_column_that_is_kept_must_exist(place):
    with pytest.raises(UnknownName, match=r"no column named 'nota'. Did you mean 'note'\? \(output.columns\)"):
        released(place, output='columns = ["nota"]')


def test_a_release_without_any_column_is_refused():
    table = celosia.read(people().select("name", "note"), Schema.of(identifiers=["name"]))
    with pytest.raises(OutputError, match="no column is left to release"):
        select_output(table, table, ())


def test_an_order_that_is_kept_is_kept_on_every_engine(place, engine):
    step = 'use = "pram"\ncolumns = ["town"]\ndiagonal = 0.5'
    made = released(place, step, output='order = "kept"\nreport = false', engine=engine)
    assert pl.read_csv(place / "safe.csv")["pay"].to_list() == people()["pay"].to_list()
    table = celosia.read(people(), Schema.of(quasi=["age"], sensitive=["pay"]), engine=engine)
    leaving = select_output(table, with_record_ids(table), (), keep=["pay"])
    kept = order_records(leaving, "kept", Stream(1))
    assert kept.ids().tolist() == list(range(N))
    assert made.certificate["order"] == "kept"


SECRETS = {
    "pseudonymise": ('columns = ["pid"]\nkey = "a key that nobody may know"', "nobody may know"),
    "shift-dates": ('columns = ["born"]\nkey = "a key that nobody may know"', "nobody may know"),
    "suppress-cells": ('columns = ["pay"]\nwhere = "pay > 1777.5"', "1777.5"),
    "subset": ('where = "pay > 1000.25"', "1000.25"),
    "record-swap": ('geography = ["town"]\nrisk = ["age"]\nrate = 0.34567', "0.34567"),
}


@pytest.mark.parametrize("method", SECRETS)
def test_neither_the_seed_nor_a_secret_parameter_is_published(place, method):
    step, secret = SECRETS[method]
    made = released(place, f'use = "{method}"\n{step}', output="")
    public = written(place)
    assert method in public
    assert secret not in public
    assert secret in json.dumps(made.record), "the private record holds it, so the test can fail"
    assert made.record["seed"] == SEED
    for form in (SEED, str(int(SEED, 16)), f"{int(SEED, 16):e}"):
        assert form not in public


FORMAL = {
    "dp-histogram": 'columns = ["town"]\nepsilon = 1.0\nvalues = {town = ["Ur", "Uruk"]}\nrows_per_person = 2',
    "dp-marginals": 'marginals = [["town"]]\nepsilon = 1.0\nvalues = {town = ["Ur", "Uruk"]}\nrows_per_person = 2',
    "dp-synthesis": 'columns = ["town"]\nepsilon = 1.0\nvalues = {town = ["Ur", "Uruk"]}\nrows_per_person = 2',
    "randomised-response": 'columns = ["town"]\nepsilon = 1.0\ncategories = {town = ["Ur", "Uruk"]}\nrows_per_person = 2',
}


@pytest.mark.parametrize("name", FORMAL)
def test_a_formal_method_withholds_what_was_measured_on_the_original(place, name):
    made = released(place, f'use = "{name}"\n{FORMAL[name]}', output="")
    assert "losses" not in made.certificate
    assert "attacks" not in made.certificate
    assert "withheld" in made.certificate["formal"]
    (finding,) = made.record["comparison"]["losses"]  # it was measured, for the owner
    assert finding["part"] == "altered-records"
    assert "altered-records" not in written(place)


def test_every_formal_method_is_tried():
    refuses_persons = {"dp-generalise"}
    assert {name for name, cls in parts("method").items() if issubclass(cls, Formal)} == {*FORMAL, *refuses_persons}
