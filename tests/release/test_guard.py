"""The guard: what must not leave stops a release, by column and count; what is acknowledged leaves with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import celosia
from celosia import Schema
from celosia.cli.main import run as command
from celosia.errors import GuardError, PolicyError, SchemaError, UnknownName
from celosia.release.output.columns import select_output
from celosia.release.run import run
from celosia.table.derive import with_record_ids

N = 120
POLICY = """
[input]
path = "people.csv"

[schema]
quasi = ["age"]
insensitive = ["seen"]

[[require]]
use = "k-anonymity"
k = 5

[output]
path = "safe.csv"

{guard}
"""


def seen(
    values: Any, *, role: str = "insensitive", kind: str | None = None, engine: str = "polars", **more: Any
) -> Any:
    """What the guard sees in a column of a table with one harmless quasi-identifier."""
    frame = pl.DataFrame({"age": [30 + 10 * (i % 3) for i in range(len(values))], "seen": values})
    roles: dict[str, Any] = {"quasi": ["age"], role: [*(["age"] if role == "quasi" else []), "seen"]}
    table = celosia.read(frame, Schema.of(**roles, kinds={"seen": kind} if kind else {}), engine=engine)
    return select_output(table, with_record_ids(table), (), **more).sightings


def stopped(values: Any, **more: Any) -> str:
    with pytest.raises(GuardError) as caught:
        seen(values, **more)
    return str(caught.value)


COMMON = ["flu", "cold", "none"] * (N // 3)


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("ring ana.puig@example.org tomorrow", "e-mail address"),
        ("https://example.org/?user=ana.puig%40example.org", "e-mail address"),
        ("DNI 12345678Z", "DNI"),
        ("dni: 12.345.678-z", "DNI"),
        ("X1234567L", "DNI"),
        ("pays from ES91 2100 0418 4502 0005 1332", "IBAN"),
        ("SSN 123-45-6789", "social security"),
        ("afiliación 28/12345678/40", "social security"),
        ("529.982.247-25", "CPF"),
        ("12.345.678-5", "RUT"),
        ("card 4111 1111 1111 1111", "payment card"),
        ("GARC 0 850412 001", "CIP"),
        ("from 192.168.1.20", "IP address"),
        ("tel. 612 345 678", "telephone"),
        ("+44 20 7946 0958", "telephone"),
        ("d41d8cd98f00b204e9800998ecf8427e", "hashes"),
        ("6f1ed002-ab10-4a8e-9a0a-111111111111", "unique id"),
        ("acude con su hija, María García López", "names of persons"),
        ("VINO JOSE MARTINEZ", "names of persons"),
        ("parlat amb la Sra. Puig", "names of persons"),
        ("García Pérez, Ana", "names of persons"),
        ("seen by Dr. Thompson", "names of persons"),
    ],
)
def test_a_cell_that_names_somebody_stops_the_release_and_is_not_repeated(cell, what, engine):
    message = stopped([cell] * 10 + COMMON, engine=engine)
    assert f"column 'seen': 10 of {N + 10} cells hold" in message
    assert what in message
    assert cell not in message


@pytest.mark.parametrize(
    "cell",
    ["12345678A", "Victoria Hill", "120/80", "2019-05-03 10:22", "[30-35)", "C50.9"],
)
def test_what_only_resembles_an_identifier_leaves(cell):
    assert seen([cell] * 10 + COMMON) == ()


def test_a_column_of_given_names_is_a_column_of_names():
    names = ["Ana", "José", "Núria", "Pau", "Carmen", "Jordi"] * 20
    assert "120 of 120 cells hold names of persons" in stopped(names)


def test_what_is_named_after_somebody_is_told_and_leaves():
    schools = ["Escola Joan Puig", "Institut Maria Vidal"] * 20 + COMMON
    (sighting,) = seen(schools)
    assert (sighting.what, sighting.cells, sighting.stops) == ("names of persons", 40, False)
    assert "41 of 161 cells hold names" in stopped([*schools, "Pere Serra"]), "one of them is nobody's school"


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_values_that_hardly_anybody_holds_stop_the_release(role, engine):
    rare = "2 of 122 cells hold values that fewer than 3 persons hold"
    assert rare in stopped([*COMMON, "Fabry", "Fabry"], role=role, engine=engine)
    assert seen([*COMMON, "Fabry", "Fabry", "Fabry"], role=role, engine=engine) == ()


def test_rarity_is_counted_in_persons():
    def ill(records: int) -> Any:
        frame = pl.DataFrame(
            {
                "who": [i // 3 for i in range(N)],  # three records each
                "age": [30, 40] * (N // 2),
                "ill": ["Fabry" if i < records else "flu" for i in range(N)],
            }
        )
        table = celosia.read(frame, Schema.of(person="who", quasi=["age"], sensitive=["ill"]))
        return select_output(table, with_record_ids(table), ()).sightings

    with pytest.raises(GuardError, match="6 of 120 cells"):
        ill(6)  # two persons
    assert ill(9) == ()  # three


def test_nearly_unique_numbers_and_dates_stop_the_release():
    cents = [1000.25 + 37.13 * i for i in range(N)]
    assert "120 of 120 cells" in stopped(cents, role="sensitive")
    days = pl.Series(range(0, 50 * N, 50)).cast(pl.Int32).cast(pl.Date)
    assert "120 of 120 cells" in stopped(days)


def test_numbers_that_one_person_holds_are_told_from_a_tenth_of_the_cells_on():
    for alone, told in ((35, 0), (36, 1)):
        values = [1000.0 + 100 * min(i, alone) for i in range(360)]
        assert len(seen(values, role="sensitive")) == told


def test_what_may_be_harmless_is_told_and_leaves():
    (sighting,) = seen([1000.0 + 100 * min(i, 100) for i in range(3 * N)], role="sensitive")  # 100 of 360 once
    assert (sighting.cells, sighting.of, sighting.stops) == (100, 360, False)
    ages = [20 + i for i in range(N)]  # whole years: rare in a small file, and coarse all the same
    assert not any(sighting.stops for sighting in seen(ages))
    assert not any(sighting.stops for sighting in seen([1.23 * i for i in range(40)])), "a small file has rare values"


def test_a_harmless_column_that_singles_out_with_the_quasi_identifiers_is_told():
    frame = pl.DataFrame({"age": [i // 5 for i in range(N)], "seen": [f"v{i % 5}" for i in range(N)]})
    table = celosia.read(frame, Schema.of(quasi=["age"], insensitive=["seen"]))
    (sighting,) = select_output(table, with_record_ids(table), ()).sightings
    assert sighting.what.endswith("together with the quasi-identifiers")
    assert (sighting.cells, sighting.of, sighting.stops) == (N, N, False)  # 24 x 5 combinations of one record


def test_a_column_is_not_told_for_what_the_quasi_identifiers_single_out_alone():
    frame = pl.DataFrame({"age": list(range(N)), "seen": [f"v{i % 2}" for i in range(N)]})
    table = celosia.read(frame, Schema.of(quasi=["age"], insensitive=["seen"]))
    assert "seen" not in {sighting.column for sighting in select_output(table, with_record_ids(table), ()).sightings}


def test_a_number_with_a_check_digit_stops_the_release():
    assert "payment card" in stopped([4111111111111111, 5500005555555559, 4012888888881881] * 40)


def test_what_a_step_overwrote_is_not_compared_by_its_kind_of_value():
    frame = pl.DataFrame({"age": [30, 40] * (N // 2), "pay": [1000.25 + 37.13 * i for i in range(N)]})
    table = celosia.read(frame, Schema.of(quasi=["age"], sensitive=["pay"]))
    noisy = celosia.protect(table, "noise(columns=pay, p=0.1)", seed=1)
    methods = [secret["method"] for secret in noisy.private_history]
    assert select_output(table, noisy, methods).sightings == ()
    swapped = celosia.protect(table, "rank-swap(columns=pay, window=0.1)", seed=1)
    (sighting,) = select_output(table, swapped, [secret["method"] for secret in swapped.private_history]).sightings
    assert not sighting.stops, "moved to other records: told, not refused"


@pytest.mark.parametrize("step", ["top-code(columns=pay, value=5000)", "round(columns=pay, base=0.01)"])
def test_a_step_that_overwrites_next_to_nothing_protects_nothing(step):
    frame = pl.DataFrame({"age": [30, 40] * (N // 2), "pay": [1000.25 + 37.13 * i for i in range(N)]})
    table = celosia.read(frame, Schema.of(quasi=["age"], sensitive=["pay"]))
    made = celosia.protect(table, step, seed=1)
    with pytest.raises(GuardError, match="column 'pay'"):
        select_output(table, made, [secret["method"] for secret in made.private_history])


def test_pseudonyms_leave():
    frame = pl.DataFrame({"id": [f"12345678{'Z'}{i}" for i in range(N)], "age": [30, 40] * (N // 2)})
    table = celosia.read(frame, Schema.of(identifiers=["id"], quasi=["age"]))
    hidden = celosia.protect(table, "pseudonymise(columns=id)", seed=1)
    assert select_output(table, hidden, [secret["method"] for secret in hidden.private_history]).sightings == ()


def test_free_text_stays_behind_and_is_no_quasi_identifier():
    frame = pl.DataFrame({"age": [30, 40] * (N // 2), "note": ["a few words that somebody wrote"] * N})
    table = celosia.read(frame, Schema.of(quasi=["age"], insensitive=["note"], kinds={"note": "text"}))
    leaving = select_output(table, with_record_ids(table), ())
    assert leaving.table.names == ("age",)
    assert leaving.left_out == {"note": "free text"}
    with pytest.raises(SchemaError, match="'note' is of kind text"):
        Schema.of(quasi=["note"], kinds={"note": "text"})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    ill = [*["flu", "cold", "none"] * 40, "Fabry"]
    pl.DataFrame({"age": [30 + 10 * (i % 3) for i in range(len(ill))], "seen": ill}).write_csv(tmp_path / "people.csv")
    return tmp_path


def policy(place: Path, guard: str = "") -> Path:
    path = place / "policy.toml"
    path.write_text(POLICY.format(guard=guard))
    return path


def test_run_stops_with_code_3_and_writes_nothing(place, capsys):
    before = {path.name for path in place.iterdir()} | {"policy.toml"}
    assert command(["run", str(policy(place))]) == 3
    told = capsys.readouterr().err
    assert "column 'seen': 1 of 121 cells" in told
    assert "[guard] acknowledge" in told
    assert "Fabry" not in told
    assert {path.name for path in place.iterdir()} == before


def test_an_acknowledged_column_leaves_and_the_reason_stands_in_the_evidence(place, capsys):
    reason = "the register of this disease is public"
    assert command(["run", str(policy(place, f'[guard]\nacknowledge = {{ seen = "{reason}" }}'))]) == 0
    assert "Guard: 1 of 121 cells in 'seen' hold" in capsys.readouterr().out
    certificate = json.loads((place / "safe.certificate.json").read_text())
    what = "values that fewer than 3 persons hold"
    assert certificate["guard"] == [{"column": "seen", "what": what, "cells": 1, "of": 121, "acknowledged": reason}]
    assert reason in (place / "safe.report.html").read_text()


def test_acknowledging_needs_a_column_and_a_reason(place):
    with pytest.raises(UnknownName, match=r"guard\.acknowledge"):
        run(policy(place, '[guard]\nacknowledge = { sean = "a reason" }'))
    with pytest.raises(GuardError, match="needs a reason"):
        run(policy(place, '[guard]\nacknowledge = { seen = " " }'))
    with pytest.raises(PolicyError, match="guard"):
        run(policy(place, "[guard]\nacknowledge = { seen = 3 }"))


def test_write_and_protect_are_guarded_too(place, capsys):
    out = place / "out.csv"
    table = celosia.read(place / "people.csv", Schema.of(quasi=["age"], sensitive=["seen"]))
    with pytest.raises(GuardError):
        celosia.write(celosia.protect(table, "round(columns=age, base=10)"), out)
    arguments = ["protect", "round", str(place / "people.csv"), "--columns", "age", "--base", "10", "--out", str(out)]
    assert command([*arguments, "--sensitive", "seen"]) == 3
    assert "--keep-columns" in capsys.readouterr().err
    assert not out.exists()
    assert command([*arguments, "--sensitive", "seen", "--keep-columns", "seen"]) == 0
    assert "Guard: column 'seen': 1 of 121 cells" in capsys.readouterr().out
    celosia.write(
        celosia.protect(table, "round(columns=age, base=10)"), place / "b.csv", acknowledge={"seen": "public"}
    )


def test_protect_leaves_out_what_looks_like_an_identifier(tmp_path, capsys):
    numbers = [f"{n:08d}{'TRWAGMYFPDXBNJZSQVHLCKE'[n % 23]}" for n in range(10_000_000, 10_000_000 + N)]
    frame = pl.DataFrame({"visits": [1, 2, 3] * (N // 3), "code": numbers})
    frame.write_csv(tmp_path / "x.csv")
    arguments = [
        "protect",
        "noise",
        str(tmp_path / "x.csv"),
        "--columns",
        "visits",
        "--p",
        "0.1",
        "--sensitive",
        "code",
    ]
    assert command([*arguments, "--out", str(tmp_path / "a.csv")]) == 0
    assert pl.read_csv(tmp_path / "a.csv").columns == ["visits"]
    assert "code (identifier)" in capsys.readouterr().out
    assert command([*arguments, "--out", str(tmp_path / "b.csv"), "--keep-columns", "code"]) == 0
    assert "kept on purpose" in capsys.readouterr().out


def test_a_formal_guarantee_of_one_column_exempts_no_other(tmp_path):
    """A record number beside a randomised answer is as unique as without it."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["F", "M"], N),
            "mrn": [f"P{x:09d}" for x in rng.permutation(10**6)[:N]],
            "smokes": rng.choice(["yes", "no"], N),
        }
    )
    frame.write_csv(tmp_path / "in.csv")
    answer = {
        "use": "randomised-response",
        "columns": ["smokes"],
        "epsilon": 2,
        "categories": {"smokes": ["yes", "no"]},
    }
    policy = {
        "input": {"path": str(tmp_path / "in.csv")},
        "schema": {"quasi": ["sex"], "sensitive": ["smokes"], "insensitive": ["mrn"]},
        "step": [answer],
        "output": {"path": str(tmp_path / "out.csv"), "overwrite": True},
    }
    with pytest.raises(GuardError, match="column 'mrn': 120 of 120 cells"):
        run(celosia.Policy.of(policy))
    release = run(celosia.Policy.of({**policy, "guard": {"acknowledge": {"mrn": "what a test needs"}}}))
    found = [(entry["column"], entry["what"]) for entry in release.certificate["guard"]]
    assert ("mrn", "values that fewer than 3 persons hold") in found
    assert {column for column, _ in found} == {"mrn"}
    assert release.certificate["formal"].endswith("covers only: smokes")
    assert "Differential privacy bounds" not in (tmp_path / "out.report.html").read_text()
    answer |= {"columns": ["smokes", "sex"], "categories": {"smokes": ["yes", "no"], "sex": ["F", "M"]}}
    run(celosia.Policy.of({**policy, "step": [answer, {"use": "drop", "columns": ["mrn"]}]}))
    assert "Differential privacy bounds" in (tmp_path / "out.report.html").read_text()


@pytest.mark.parametrize(
    "step",
    [
        "noise(columns=pay, p=1e-16)",
        "multiplicative-noise(columns=pay, p=1e-16)",
        "correlated-noise(columns=[pay, tax], p=1e-16)",
        "ipso(dependent=[pay], independent=[tax])",
    ],
)
def test_numbers_that_differ_in_the_last_bits_are_the_original_ones(step, engine):
    pay = [round(1000.25 + 37.13 * i, 2) for i in range(N)]
    frame = pl.DataFrame({"age": [30, 40] * (N // 2), "pay": pay, "tax": [value / 4 for value in pay]})
    table = celosia.read(frame, Schema.of(quasi=["age"], sensitive=["pay"]), engine=engine)
    made = celosia.protect(table, step, seed=1)
    with pytest.raises(GuardError, match="column 'pay': 120 of 120 cells"):
        select_output(table, made, [secret["method"] for secret in made.private_history])
    altered = celosia.compare(table, made, "altered-records(columns=[pay])").losses[0].value
    assert altered == 0


VANISHING = [
    "noise(columns=pay, p=1e-16)",
    "noise(columns=pay, scope=outliers, share=1e-9)",
    "multiplicative-noise(columns=pay, p=1e-16)",
    "multiplicative-noise(columns=pay, p=1e-16, shape=truncated-normal)",
    "correlated-noise(columns=[pay, tax], p=1e-16)",
    "correlated-noise(columns=[pay, tax], p=1e-16, keep_variance=true)",
    "orthogonal-mask(columns=[pay, tax], p=1e-16)",
    "random-perturbation(jitter=pay, spread=1)",
    "rank-swap(columns=pay, window=1e-9)",
    "rank-swap(columns=pay, correlation=0.9999999)",
    "shuffle(columns=pay, given=[tax])",
    "round(columns=pay, base=1e-6)",
    "round(columns=pay, base=1e-6, way=random)",
    "top-code(columns=pay, value=1e15)",
    "bottom-code(columns=pay, quantile=1e-9)",
    "multivariate-top-code(columns=[pay, tax], alpha=1e-12)",
    "microaggregate(columns=pay, k=2)",
    "microaggregate(columns=pay, k=2, aggregate=medoid)",
    "individual-ranking(columns=pay, k=2)",
    "optimal-univariate(column=pay, k=2)",
    "projection-microaggregate(columns=[pay, tax], k=2)",
    "variable-microaggregate(columns=pay, k=2)",
    "mixed-microaggregate(columns=pay, k=2)",
]


@pytest.mark.parametrize("unit", [1, 0.01, 0.3**0.5], ids=["whole", "cents", "decimals"])
@pytest.mark.parametrize("step", VANISHING)
def test_a_vanishing_parameter_protects_nothing(step, unit):
    """Two persons hold each value, and the values are far apart: groups of two and small noise leave them."""
    amounts = [7_000_000 + 1_100_003 * (i // 2) for i in range(N)]
    pay = amounts if unit == 1 else [round(value + unit * (i // 2), 9) for i, value in enumerate(amounts)]
    frame = pl.DataFrame({"age": [30, 40] * (N // 2), "pay": pay, "tax": [value / 4 for value in pay]})
    table = celosia.read(frame, Schema.of(quasi=["age"], sensitive=["pay"]))
    made = celosia.protect(table, step, seed=1)
    with pytest.raises(GuardError, match=r"column 'pay': \d+ of 120 cells hold values that few"):
        select_output(table, made, [secret["method"] for secret in made.private_history])


def test_amounts_of_a_wide_range_that_many_share_once_rounded_leave():
    values = [1_000_000 + 1000 * (i // 20) + i for i in range(N - 20)] + [10**12] * 20
    table = celosia.read(pl.DataFrame({"pay": values}), Schema.of(sensitive=["pay"]))
    rounded = celosia.protect(table, "round(columns=pay, base=1000)")
    assert select_output(table, rounded, [rounded.private_history[-1]["method"]]).sightings == ()


@pytest.mark.parametrize("visits", [1, 4])
def test_a_rounded_value_that_many_share_is_not_rare(visits, engine):
    """Round to hundreds: each released value is held by 20 persons, although one person alone had it before."""
    incomes = [1000 + 5 * i for i in range(200) for _ in range(visits)]
    persons = [i for i in range(200) for _ in range(visits)]
    table = celosia.read(
        pl.DataFrame({"who": persons, "income": incomes}),
        Schema.of(person="who", quasi=["income"]),
        engine=engine,
    )
    rounded = celosia.protect(table, "round(columns=income, base=100)")
    method = rounded.private_history[-1]["method"]
    assert select_output(table, rounded, [method]).sightings == ()
    alone = celosia.protect(table, "round(columns=income, base=10)")  # two persons share a value
    (rare,) = select_output(table, alone, [alone.private_history[-1]["method"]]).sightings
    assert rare.cells == 199 * visits  # 2,000 is no value of the original
