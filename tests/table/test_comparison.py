"""How a comparison looks: arrows, what an unchanged table has, and why a loss does not apply."""

from __future__ import annotations

import polars as pl

import celosia
from celosia.release.report import comparison_page
from celosia.table.derive import with_record_ids


def blocks(losses, risks=()):
    table = celosia.read(pl.DataFrame({"age": [30, 31, 40, 41], "x": [1.0, 2, 3, 4]}), celosia.Schema.of(quasi=["age"]))
    safe = with_record_ids(table).replace({"x": pl.Series([1.0, 2, 3, 9])})
    comparison = celosia.compare(table, safe, losses, risks)
    return comparison, {b.title: b for b in comparison.blocks()}


def test_arrows_and_unchanged_values():
    _, found = blocks(
        ["altered-records", "discernibility", "absolute-error(on=covariance, columns=[x])"], ["distance-linkage"]
    )
    rows = {row[0]: row for row in found["What was lost (lower is better)"].rows}
    assert rows["altered-records"][1:4] == ("25 %", "0 %", "↑")
    assert rows["discernibility"][1:4] == ("4", "4", "=")
    assert rows["absolute-error(on=covariance, columns=[x])"][3] == "↑"
    attack = found["What an intruder can do (lower is better)"].rows[0]
    assert attack[:4] == ("distance-linkage", "75 %", "25 %", "↑")
    assert "Not measured" not in found


def test_a_loss_that_does_not_apply_says_why_and_has_no_number(tmp_path):
    comparison, found = blocks(["mutual-information(columns=[x])", "probabilistic-loss"])
    assert found["Not measured"].rows == [
        ("mutual-information(columns=[x])", "one column shares no information: two are needed.")
    ]
    comparison_page(comparison, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "two are needed" in page
    assert "nan" not in page.lower().replace("financ", "")
    assert comparison.spec()["losses"][0]["value"] is None
