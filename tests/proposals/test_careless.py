"""A careless hospital file from `celosia init` to a release: what is found, what is cleaned, what is kept."""

from __future__ import annotations

import datetime as dt
import json
import random
import tomllib
import warnings

import polars as pl
import pytest
from tests.proposals.registers import SEEN, register

import celosia
from celosia.cli.main import run as command
from celosia.proposals import first_look, lattice_nodes, suggest
from celosia.proposals.columns import FEW, MOST, NODES
from celosia.proposals.content import CELLS, contents_of, sample_size

pytestmark = pytest.mark.filterwarnings("ignore:identifier")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    return register("hospital_2026", SEEN["hospital_2026"], rows=1500).write(tmp_path_factory.mktemp("hospital"))


@pytest.fixture(scope="module")
def looked(hospital):
    seen = first_look(str(hospital))
    return seen, {s.name: s for s in seen.suggestions}


def informative(frame: pl.DataFrame) -> list[str]:
    """Columns that still tell something: several values, and not nearly all of them hidden."""
    return [
        name
        for name in frame.columns
        if frame[name].drop_nulls().n_unique() > 1 and (frame[name].cast(pl.String) == "*").mean() < 0.9
    ]


def test_notes_are_free_text_and_dates_are_no_money(looked):
    _, found = looked
    assert (str(found["Notas"].role), str(found["Notas"].kind)) == ("identifier", "text")
    assert "redact" in found["Notas"].if_wrong
    assert (str(found["Fecha ingreso"].role), str(found["Fecha ingreso"].kind)) == ("quasi", "date")
    assert str(found["Importe"].kind) == "numeric"
    assert {s.name for s in found.values() if s.role == "identifier"} == {"DNI", "Nombre", "Notas"}


def test_the_reader_says_what_it_did(looked):
    seen, _ = looked
    assert seen.options == {"dates": {"Fecha ingreso": "%d/%m/%Y", "Fecha alta": "%d/%m/%Y"}}
    assert any(note.startswith("Importe: read as numbers") for note in seen.notes)
    assert any("NS/NC" in note and note.startswith("Edad") for note in seen.notes)


def test_every_suggestion_has_a_reason_and_a_way_back(looked):
    _, found = looked
    assert all(s.reason and s.if_wrong for s in found.values())


def test_untidiness_is_found(looked):
    _, found = looked
    tidied = {(u.column, u.key): u for s in found.values() for u in s.untidy}
    assert tidied["Edad", "missing"].codes == (-99,)
    assert tidied["Diagnóstico", "missing"].codes == ("NS/NC",)
    assert tidied["Fumador", "missing"].codes == (9,)
    assert tidied["Sexo", "strip"].certain
    spellings = {"H": "Hombre", "HOMBRE": "Hombre", "hombre": "Hombre", "M": "Mujer", "mujer": "Mujer"}
    assert tidied["Sexo", "same"].spellings == spellings
    assert not any(value in tidied["Sexo", "same"].sentence for value in ("Hombre", "Mujer"))


def test_the_policy_runs_and_tells_something(hospital, tmp_path, capsys):
    policy = tmp_path / "policy.toml"
    assert command(["init", str(hospital), "--out", str(policy)]) == 0
    shown = capsys.readouterr().out
    assert "Quasi-identifiers" in shown
    assert "To clean" in shown
    text = policy.read_text(encoding="utf-8")
    parsed = tomllib.loads(text)
    assert parsed["input"]["clean"] == {"strip": ["Sexo"], "missing": {}, "same": {}}
    # the proposals, taken up
    taken = text.replace("# Edad = [-99]", "Edad = [-99]").replace("# Sexo = {", "Sexo = {")
    policy.write_text(taken.replace(f"{hospital.stem}.safe.csv", "safe.csv"), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = celosia.run(policy)
    assert release.certificate["holds"]
    frame = release.table.polars()
    assert len(informative(frame)) >= 4
    assert set(frame["Sexo"]) <= {"Hombre", "Mujer", "*"}
    assert not {"DNI", "Nombre", "Notas"} & set(frame.columns)


def test_the_demonstration_keeps_its_columns(tmp_path):
    from celosia.demo import prepare

    prepare(tmp_path, persons=3000)
    policy = tmp_path / "suggested.toml"
    assert command(["init", str(tmp_path / "original.csv"), "--out", str(policy), "--json"]) == 0
    parsed = tomllib.loads(policy.read_text(encoding="utf-8"))
    assert (parsed["schema"]["person"], parsed["schema"]["household"]) == ("person", "household")
    assert len(informative(celosia.run(policy).table.polars())) >= 4


def test_json_has_reasons_and_combinations(hospital, tmp_path, capsys):
    assert command(["init", str(hospital), "--out", str(tmp_path / "p.toml"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(column["reason"] and column["if_wrong"] for column in told["columns"])
    assert 1 < told["combinations"] <= NODES


def test_the_search_stays_small_however_many_columns_there_are():
    rng = random.Random(3)
    named = ["age", "sex", "zip", "city", "county", "nationality", "race", "education", "occupation", "language"]
    columns = {
        name: [str(rng.randrange(40)) for _ in range(400)] for name in [*named, "country", "marital", "employer"]
    }
    columns["birth_date"] = [str(dt.date(1950, 1, 1) + dt.timedelta(days=rng.randrange(9000))) for _ in range(400)]
    letters = "bcdfghjklmnpqrstvwxzabcdefghij"  # no names of one block
    columns |= {f"x{sign}{i % 7}{sign}q": [str(rng.randrange(5)) for _ in range(400)] for i, sign in enumerate(letters)}
    found = suggest(pl.DataFrame(columns))
    kept = [s.name for s in found if s.role == "quasi" and not s.left_out]
    assert 1 < lattice_nodes(found) <= NODES
    assert len(kept) <= MOST
    assert not any(name.startswith("x") for name in kept)
    unknown = suggest(pl.DataFrame({name: values for name, values in columns.items() if name.startswith("x")}))
    assert sum(s.role == "quasi" and not s.left_out for s in unknown) == FEW


def test_a_wide_table_is_looked_at_in_part():
    assert sample_size(1_000_000, 5000) * 5000 <= CELLS
    frame = pl.DataFrame({"a": range(450_000), "b": [i % 7 for i in range(450_000)]})
    found = contents_of(frame.lazy())
    assert (found["a"].rows, found["b"].distinct) == (450_000, 7)
    assert found["a"].distinction > 0.95
    assert found["b"].separation == pytest.approx(6 / 7, abs=0.01)


def test_filled_cells_decide():
    rng = random.Random(5)
    frame = pl.DataFrame(
        {
            "alpha": [f"{rng.randrange(10**8):08d}X" if i % 10 == 0 else None for i in range(1000)],
            "beta": [rng.choice("ab") if i % 10 == 0 else None for i in range(1000)],
        }
    )
    found = {s.name: s for s in suggest(frame)}
    assert found["alpha"].role == "identifier"
    a, b = (frame["beta"] == sign for sign in "ab")
    assert found["beta"].separation == pytest.approx(2 * a.sum() * b.sum() / (100 * 99))
