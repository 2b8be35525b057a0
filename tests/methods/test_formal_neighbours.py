"""Formal guarantees on dirty data: with the noise switched off, one person with useless rows changes no byte.

What a guarantee covers is more than the counts: types, labels, columns, certificate, report, messages. A person whose
cells are outside every declared domain contributes nothing to any count, so that all public files must be equal.
"""

from __future__ import annotations

import json
import re
import secrets

import numpy as np
import pandas as pd
import polars as pl
import pytest

import celosia
from celosia.errors import ParameterError, PolicyError
from celosia.kernels.budget import noise
from celosia.parts import Formal, RowWise, parts
from celosia.table import frames

VALUES = {"v": [1, 2, 3], "sex": ["F", "M"], "ill": ["flu", "cough", None]}
STEPS = {
    "dp-histogram": {"columns": ["v", "sex"], "epsilon": 1.0, "values": VALUES},
    "dp-marginals": {"marginals": [["v"], ["v", "sex"], ["age"]], "epsilon": 1.0, "values": VALUES},
    "dp-synthesis": {"columns": ["v", "sex", "age", "ill"], "epsilon": 1.0, "values": VALUES, "whole": ["age"]},
    "dp-generalise": {"epsilon": 1.0, "delta": 1e-4},
    "randomised-response": {"columns": ["ill"], "epsilon": 1.0, "categories": {"ill": ["flu", "cough"]}},
}
CASES = [
    *STEPS.items(),
    ("dp-histogram", {"columns": ["v"], "epsilon": 1.0, "delta": 1e-6}),
    ("dp-synthesis", {"columns": ["v", "age"], "epsilon": 1.0, "values": VALUES, "delta": 1e-6}),
    ("dp-generalise", {"epsilon": 1.0, "delta": 1e-4, "levels": {"v": 1, "sex": 0, "age": 2}}),
]
SCHEMA = {
    "quasi": ["v", "sex", "age"],
    "sensitive": ["ill"],
    "bounds": {"age": [0, 100]},
    "hierarchies": {"age": "intervals(width=20, origin=0, count=3)"},
}
NAMES = ["person", "v", "sex", "age", "ill"]
DIRTY = {
    "fraction": ("p1", "2.5", "f", "abc", "x"),
    "text": ("", "x", "?", "-", "zz"),
    "large": ("9" * 25, "1e30", "NA", "12x", "2020-01-01"),
    "zeros": ("007", "01", "*", "٣", "flu!"),
    "not finite": ("nan", "inf", "=1+1", "nan", "0"),
}


def clean_rows() -> list[tuple[str, ...]]:
    rng = np.random.default_rng(5)
    ill = ["flu", "cough", ""]
    return [
        (str(i), str(rng.integers(1, 4)), "FM"[i % 2], str(rng.integers(20, 60)), ill[rng.integers(3)])
        for i in range(600)
    ]


@pytest.fixture
def no_noise(monkeypatch):
    """Every draw gives the same on both sides, in the order of the draws; the order of records is fixed too."""
    monkeypatch.setattr(noise, "_draw", lambda shape, scale, discrete, values: list(values))
    monkeypatch.setattr(noise, "choose", lambda scores, sensitivity, epsilon: int(np.argmax(scores)))
    monkeypatch.setattr(secrets, "randbits", lambda bits: 7)
    monkeypatch.setattr(frames, "_fingerprint", lambda table: b"0" * 32)


def write(path, rows):
    path.write_text("\n".join(",".join(row) for row in [NAMES, *rows]) + "\n", encoding="utf-8")


def released(folder, rows, use, more, person):
    """All public files of a run over a CSV file, without moments, keys and hashes."""
    folder.mkdir()
    write(folder / "in.csv", rows)
    schema = {**SCHEMA, **({"person": "person"} if person else {})}
    policy = {
        "input": {"path": str(folder / "in.csv")},
        "schema": schema,
        "step": [{"use": use, **more}],
        "output": {"path": str(folder / "out.csv")},
        "run": {"seed": 1 << 70},
    }
    celosia.run(celosia.Policy.of(policy))
    public = {path.name: path.read_text("utf-8") for path in folder.glob("out*") if not is_private(path.name)}
    certificate = json.loads(public.pop("out.certificate.json"))
    for key in ("created", "commitments"):
        certificate.pop(key)
    public["report"] = re.sub(r"[0-9a-f]{64}", "", public.pop("out.report.html"))
    return {**public, "certificate": json.dumps(certificate)}


def is_private(name: str) -> bool:
    return "private" in name or "internal" in name


def test_every_formal_method_is_tested():
    assert {name for name, method in parts("method").items() if issubclass(method, Formal)} == set(STEPS)


@pytest.mark.parametrize(("use", "more"), [case for case in CASES if case[0] != "randomised-response"])
@pytest.mark.parametrize("dirty", [pytest.param(DIRTY["fraction"], id="fraction"), pytest.param(None, id="all")])
def test_a_dirty_person_changes_no_byte_of_a_run(no_noise, tmp_path, use, more, dirty):
    rows = [*DIRTY.values()] if dirty is None else [dirty]
    many = rows if use == "dp-generalise" else rows * 3  # a person with many rows
    person = use != "dp-generalise" and dirty is not None
    one = released(tmp_path / "a", clean_rows(), use, more, person)
    other = released(tmp_path / "b", [*clean_rows(), *many], use, more, person)
    assert one == other


@pytest.mark.parametrize("other", ["1.25", "1,25", "x", '"a;b"'])
def test_a_record_decides_on_no_decimal_mark_or_separator(no_noise, tmp_path, other):
    """Also in a column that is not released: numbers with a point there made all of those that are released have one."""
    policy = {
        "schema": {"quasi": ["sex", "w"], "bounds": {"w": [0, 10]}},
        "step": [{"use": "dp-synthesis", "epsilon": 1.0, "columns": ["sex", "w"], "values": {"sex": ["F", "M"]}}],
        "run": {"seed": 1 << 70},
    }
    data = []
    for more in ("", f"x;0;{other}\n"):
        (tmp_path / "in.csv").write_text("sex;w;other\n" + "F;1,5;2,5\nM;2,5;3,5\n" * 200 + more)
        files = {"input": {"path": str(tmp_path / "in.csv")}, "output": {"path": str(tmp_path / f"out{len(data)}.csv")}}
        celosia.run(celosia.Policy.of({**policy, **files}))
        data.append((tmp_path / f"out{len(data)}.csv").read_text().splitlines())
    assert data[0][0] == data[1][0] == "sex,w"
    assert all(re.fullmatch(r"[FM],\d+(\.\d+)?", line) for lines in data for line in lines[1:])


@pytest.mark.parametrize(("use", "more"), [case for case in CASES if case[0] != "randomised-response"])
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_dirty_person_changes_nothing_of_a_frame(no_noise, use, more, library):
    def protected(rows, whole):
        columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
        if whole:  # numbers are whole numbers here and decimals with a gap there, as pandas and Polars read them
            columns |= {name: [int(cell) for cell in columns[name]] for name in ("person", "v", "age")}
        frame = pl.DataFrame(columns) if library == "polars" else pd.DataFrame(columns)
        return celosia.protect(celosia.read(frame, celosia.Schema.of(**SCHEMA)), {"use": use, **more}, seed=1 << 70)

    one, other = protected(clean_rows(), whole=True), protected([*clean_rows(), DIRTY["fraction"]], whole=False)
    assert one.polars().equals(other.polars())
    assert one.polars().schema == other.polars().schema
    assert one.schema.spec() == other.schema.spec()
    assert one.history == other.history


@pytest.mark.parametrize("dirty", DIRTY.values(), ids=DIRTY)
def test_randomised_response_answers_for_dirty_rows(tmp_path, dirty):
    """Only the labels that were declared are released; whoever has none of them answers at random."""
    rows = [*clean_rows(), *[dirty] * 400]
    public = released(tmp_path / "a", rows, "randomised-response", STEPS["randomised-response"], person=False)
    clean = released(tmp_path / "b", clean_rows(), "randomised-response", STEPS["randomised-response"], person=False)
    out = pl.read_csv(public["out.csv"].encode(), infer_schema=False)
    assert set(out["ill"]) == {"flu", "cough"}
    answers = out.filter(pl.col("v") == out["v"].mode()[0])["ill"]
    assert (answers == "flu").sum() > 0
    one, other = (json.loads(each["certificate"])["steps"] for each in (public, clean))
    assert one == other


def test_a_person_with_many_rows_moves_one_answer():
    """5 000 rows under three spellings of one id count as one row: 300 draws accept 1 and reject 3."""
    rows = [("7", "1", "F", "30", "flu"), ("7.0", "1", "F", "30", "flu"), (" 7", "1", "F", "30", "flu")] * 1600
    frame = pl.DataFrame([*clean_rows()[10:200], *rows], schema=NAMES, orient="row")
    table = celosia.read(frame, celosia.Schema.of(person="person"))
    exact = sum(row[1] == "1" for row in clean_rows()[10:200])
    method = celosia.methods.DpHistogram(columns=["v"], epsilon=2.0, values={"v": [1, 2, 3]}, tidy=False)
    draws = np.array([celosia.protect(table, method).polars()["count"][0] - exact for _ in range(300)])
    error = 4 * method.noise(3).variance ** 0.5 / 300**0.5
    assert abs(draws.mean() - 1) < error < 2


@pytest.mark.parametrize("hierarchy", ["intervals(bins=4)", "intervals(quantiles=4)", "balanced()", "prefixes()"])
def test_dp_generalise_refuses_hierarchies_made_from_the_data(hierarchy):
    frame = pl.DataFrame({"age": list(range(20, 80)) * 20})
    table = celosia.read(frame, celosia.Schema.of(quasi=["age"], hierarchies={"age": hierarchy}))
    with pytest.raises(ParameterError, match=r"'age' is made from the data.*intervals\(breaks"):
        celosia.protect(table, celosia.methods.DpGeneralise(epsilon=1, delta=1e-4, levels={"age": 1}))


@pytest.mark.parametrize("use", STEPS)
def test_what_depends_on_other_records_is_refused_before_a_guarantee(tmp_path, use):
    write(tmp_path / "in.csv", clean_rows())
    before = {"use": "generalise", "require": ["k-anonymity(k=3)"]}
    policy = {
        "input": {"path": str(tmp_path / "in.csv")},
        "schema": SCHEMA,
        "step": [before, {"use": use, **STEPS[use]}],
        "output": {"path": str(tmp_path / "out.csv")},
    }
    with pytest.raises(PolicyError, match=f"generalise comes before {use}.*Put {use} first"):
        celosia.run(celosia.Policy.of(policy))
    with pytest.raises(PolicyError, match=f"generalise comes before {use}"):
        celosia.protect(tmp_path / "in.csv", before, {"use": use, **STEPS[use]}, schema=celosia.Schema.of(**SCHEMA))


ROW_WISE = {
    "drop": {"columns": ["ill"]},
    "mask": {"columns": ["ill"]},
    "recode": {"column": "age", "breaks": [30, 50]},
}


def test_every_row_wise_method_is_tested():
    assert {name for name, method in parts("method").items() if issubclass(method, RowWise)} == set(ROW_WISE)


@pytest.mark.parametrize("before", ROW_WISE)
def test_row_wise_steps_before_a_guarantee(no_noise, tmp_path, before):
    """They may come first, refuse no cell, and what they did to other records does not depend on the dirty one."""
    counted = {"columns": ["v", "age"], "epsilon": 1.0, "values": {"v": [1, 2], "age": ["<30", "[30-50)", "≥50"]}}
    public = []
    for name, extra in (("a", []), ("b", list(DIRTY.values()))):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "in.csv", [*clean_rows(), *extra])
        policy = {
            "input": {"path": str(tmp_path / name / "in.csv")},
            "schema": {**SCHEMA, "bounds": {}, "kinds": {"age": "numeric"}},
            "step": [{"use": before, **ROW_WISE[before]}, {"use": "dp-histogram", **counted}],
            "output": {"path": str(tmp_path / name / "out.csv")},
            "run": {"seed": 1 << 70},
        }
        done = celosia.run(celosia.Policy.of(policy))
        assert set(done.certificate["steps"][0]) == {"name", "use", *ROW_WISE[before]}  # its evidence is withheld
        public.append((tmp_path / name / "out.csv").read_text())
    assert public[0] == public[1]
    if before == "recode":
        assert sum(int(line.rsplit(",", 1)[1]) for line in public[0].splitlines()[1:]) > 300
