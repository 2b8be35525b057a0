"""The report of two tables or frames, without a policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import celosia

SCHEMA = celosia.Schema.of(
    identifiers=["name"], quasi=["age", "town"], sensitive=["ill"], hierarchies={"age": "intervals(width=20)"}
)


def people() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    n = 200
    return pd.DataFrame(
        {
            "name": [f"Person{i} Family{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "town": rng.choice(["Vic", "Olot"], n),
            "ill": rng.choice(["flu", "cold"], n),
        }
    )


def test_three_lines_from_a_frame_to_a_report(tmp_path: Path) -> None:
    frame = people()
    safe = celosia.protect(frame, "drop", "generalise(require=[k-anonymity(k=5)])", schema=SCHEMA)
    path = celosia.report(frame, safe, tmp_path / "report.html", ["k-anonymity(k=5)"], schema=SCHEMA)
    page = path.read_text()
    assert "k-anonymity" in page
    assert "Family7" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_table_knows_its_steps_and_what_they_promise(tmp_path: Path) -> None:
    table = celosia.read(people(), SCHEMA)
    safe = table.protect("drop", "generalise(require=[k-anonymity(k=5)])")
    page = safe.report(tmp_path / "report.html", language="es", about={"title": "Un informe"}).read_text()
    assert 'lang="es"' in page
    assert "Un informe" in page
    assert "generalise" in page
    assert "k-anonymity" in page


def test_a_requirement_that_fails_is_said(tmp_path: Path) -> None:
    table = celosia.read(people().drop(columns="name"), SCHEMA.keep(["age", "town", "ill"]))
    page = celosia.report(table, table, tmp_path / "report.html", ["k-anonymity(k=50)"]).read_text()
    assert "does not hold" in page or "not met" in page.lower()


def test_what_the_guard_sees_stops_no_report_but_is_said(tmp_path: Path) -> None:
    frame = people().drop(columns="name").assign(pay=np.arange(200) * 1.5)
    schema = celosia.Schema.of(quasi=["town"], sensitive=["pay"])
    with pytest.warns(UserWarning, match="a release would stop here"):
        path = celosia.report(frame, frame, tmp_path / "report.html", schema=schema)
    assert "nobody has given one" in path.read_text()


def test_a_page_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    table = celosia.read(people(), SCHEMA).protect("drop")
    table.report(tmp_path / "report.html")
    with pytest.raises(celosia.CelosiaError, match=r"report\.html"):
        table.report(tmp_path / "report.html")
    table.report(tmp_path / "report.html", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
