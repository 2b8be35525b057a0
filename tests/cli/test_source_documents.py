"""The workflows of the source documents by shell commands alone, from the printed tables to the printed results."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from celosia.cli.main import run as command


def textbook(number: int, letter: str, path: Path) -> Path:
    """Write one of the files that a table of the textbook prints side by side."""
    pytest.importorskip("celosia_reproduce")
    text = files("celosia_reproduce.textbook.tables").joinpath(f"table{number}.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line]
    own = [place for place, name in enumerate(rows[0]) if name == "id" or name[0] == letter]
    named = [["id", *(f"V{place}" for place in range(1, len(own)))], *([row[i] for i in own] for row in rows[1:])]
    path.write_text("".join(",".join(row) + "\n" for row in named), encoding="utf-8")
    return path


def measured(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, float]:
    """Run ``celosia compare --json`` and return the value of every part."""
    capsys.readouterr()
    assert command(["compare", *arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    return {entry["part"]: entry["value"] for entry in [*report["losses"], *report["risks"]]}


@pytest.mark.parametrize(("letter", "share"), [("y", 0.6), ("z", 0.4)])
def test_table_10_of_the_textbook_counts_the_right_links(tmp_path, capsys, letter, share):
    original, protected = (textbook(10, each, tmp_path / f"{each}.csv") for each in ("x", letter))
    attack = 'distance-linkage(ties="first", scale="none")'
    found = measured(
        capsys, str(original), str(protected), "--key", "id", "--risk", attack, "--loss", "altered-records"
    )
    assert [value for part, value in found.items() if part.startswith("distance-linkage")] == [share]


def test_table_9_of_the_textbook_is_the_distance_of_the_first_records(tmp_path, capsys):
    for letter in "xy":
        whole = textbook(10, letter, tmp_path / f"{letter}.csv")
        whole.write_text("".join(whole.read_text().splitlines(keepends=True)[:2]))  # the header and the first record
    found = measured(capsys, str(tmp_path / "x.csv"), str(tmp_path / "y.csv"), "--key", "id", "--loss", "squared-error")
    assert np.sqrt(3 * found["squared-error"]) == pytest.approx(10.499523798725349, rel=1e-12)


@pytest.mark.parametrize(("letter", "printed"), [("y", (10.38, 2.34, 0.20)), ("z", (1202.92, 27.04, 1.75))])
def test_exercise_2_of_the_textbook(tmp_path, capsys, letter, printed):
    original, protected = (textbook(25, each, tmp_path / f"{each}.csv") for each in ("x", letter))
    losses = ("squared-error", "absolute-error", "relative-error")
    options = [word for loss in losses for word in ("--loss", loss)]
    found = measured(capsys, str(original), str(protected), "--key", "id", *options)
    assert [found[loss] for loss in losses] == pytest.approx(printed, abs=0.0101)


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2009)
    x = rng.normal(50, 10, (200, 2))
    y = x @ [[2, 1], [1, -1]] + rng.normal(0, 3, (200, 2))
    path = tmp_path / "data.csv"
    pl.DataFrame(np.column_stack([y, x]).round(2), schema=["V1", "V2", "V3", "V4"]).write_csv(path)
    return path


@pytest.mark.parametrize("method", ["ipso", "fcrm"])
def test_the_independent_columns_are_written_as_they_are_and_the_guard_reports_them(numbers, capsys, method):
    out = numbers.with_name("safe.csv")
    columns = ("--dependent", "V1,V2", "--independent", "V3,V4")
    assert command(["protect", method, str(numbers), *columns, "--out", str(out), "--keep-order"]) == 0
    shown = capsys.readouterr().out
    assert "Guard: column 'V3': 200 of 200 cells" in shown
    assert "--independent names it as a column that stays unchanged" in shown
    before, after = pl.read_csv(numbers), pl.read_csv(out)
    assert after.columns == before.columns
    assert after.select("V3", "V4").equals(before.select("V3", "V4"))
    assert not (after["V1"] == before["V1"]).any()


def test_a_column_with_rare_values_that_no_option_names_still_stops_the_file(numbers, capsys):
    out = numbers.with_name("safe.csv")
    columns = ("--dependent", "V1", "--independent", "V3", "--sensitive", "V4")
    assert command(["protect", "ipso", str(numbers), *columns, "--out", str(out)]) == 3
    error = capsys.readouterr().err
    assert "'V4'" in error
    assert not out.exists()


def test_loss_and_risk_of_two_files_need_their_order_or_a_key(numbers, capsys):
    ordered, shuffled = (numbers.with_name(f"{name}.csv") for name in ("ordered", "shuffled"))
    method = ("ipso", str(numbers), "--dependent", "V1,V2", "--independent", "V3,V4", "--seed", "1")
    assert command(["protect", *method, "--out", str(ordered), "--keep-order"]) == 0
    assert command(["protect", *method, "--out", str(shuffled)]) == 0
    parts = ("--loss", "probabilistic-loss(columns=[V1,V2])", "--risk", "disclosure-risk(columns=[V1,V2])")
    loss, risk = measured(capsys, str(numbers), str(ordered), "--by-position", *parts).values()
    assert 0 < loss < 20
    assert 0 < risk < 1
    assert command(["compare", str(numbers), str(shuffled), "--by-position", *parts]) == 2
    assert "another order" in capsys.readouterr().err
