"""Texts that a spreadsheet would execute: kept, quoted or refused, as the policy says; numbers are left alone."""

from __future__ import annotations

import csv

import polars as pl
import pytest

from celosia.data import io as cio
from celosia.errors import OutputError, ParameterError
from celosia.release.run import run
from celosia.release.verify.verify import verify

RUNS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "-5-0", "=HYPERLINK(1)"]
HARMLESS = ["a=b", "-5", "-", "--", "+1.5e3", "-,5", "1-2", "", "*", None]
FRAME = pl.DataFrame({"t": RUNS + HARMLESS, "n": range(-9, len(RUNS + HARMLESS) - 9)})


def cells(path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row[0] for row in csv.reader(file)][1:]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "ods"])
def test_each_choice(tmp_path, ending):
    pytest.importorskip("xlsxwriter")
    texts = FRAME.filter(~pl.col("t").str.contains(r"\r").fill_null(False))  # XML has no such sign
    path = tmp_path / f"a.{ending}"
    cio.write(texts, path)
    kept = cio.scan(path).frame.collect()
    assert set(kept["t"].drop_nulls()) == {t for t in texts["t"].drop_nulls() if t}
    cio.write(texts, path, formulas="quote", overwrite=True)
    found = cio.scan(path).frame.collect()
    runs = [t for t in RUNS if "\r" not in t]
    assert found["t"].to_list()[: len(runs)] == [f"'{text}" for text in runs]
    assert set(found["t"].drop_nulls().to_list()[len(runs) :]) == {t for t in HARMLESS if t}
    assert found["n"].to_list() == texts["n"].to_list(), "numbers are no formulas"
    with pytest.raises(OutputError, match=f"'t' has {len(runs)} cells") as refused:
        cio.write(texts, tmp_path / f"b.{ending}", formulas="refuse")
    assert not any(text in str(refused.value) for text in RUNS if len(text) > 1)
    assert not (tmp_path / f"b.{ending}").exists()
    cio.write(texts.slice(len(runs)), tmp_path / f"b.{ending}", formulas="refuse")


def test_line_breaks_too(tmp_path):
    cio.write(FRAME, tmp_path / "a.csv", formulas="quote")
    assert all(cell[:1] == "'" for cell in cells(tmp_path / "a.csv")[: len(RUNS)])


def test_what_is_refused(tmp_path):
    with pytest.raises(OutputError, match="rename"):
        cio.write(pl.DataFrame({"=a": [1]}), tmp_path / "a.csv", formulas="quote")
    with pytest.raises(ParameterError, match="'keep', 'quote' or 'refuse'"):
        cio.write(FRAME, tmp_path / "a.csv", formulas="no")


def test_a_release_says_so_in_its_policy(tmp_path):
    pl.DataFrame({"age": [1, 2] * 20, "city": ["=Ur", "Uruk"] * 20}).write_csv(tmp_path / "people.csv")
    policy = (
        '[input]\npath = "people.csv"\n[schema]\nquasi = ["age", "city"]\n[[require]]\nuse = "k-anonymity"\nk = 3\n'
        '[output]\npath = "safe.csv"\nformulas = "quote"\n'
    )
    (tmp_path / "policy.toml").write_text(policy)
    paths = run(tmp_path / "policy.toml").paths
    assert "'=Ur" in paths["data"].read_text()
    assert verify(tmp_path, original=tmp_path / "people.csv").verdict == "verified"
    (tmp_path / "policy.toml").write_text(policy.replace("quote", "refuse"))
    with pytest.raises(OutputError, match="'city' has 20 cells"):
        run(tmp_path / "policy.toml", overwrite=True)
    assert "'=Ur" in paths["data"].read_text(), "the earlier release stays"
