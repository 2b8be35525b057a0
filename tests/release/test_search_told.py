"""A search that stopped early: certificate, terminal and report say so, and what happened to the columns."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.release.report import render
from celosia.release.report.texts import words
from celosia.show.formats import number

POLICY = """
[input]
path = "people.csv"
[schema]
quasi = [{names}]
[schema.kinds]
{kinds}
[schema.hierarchies]
{hierarchies}
[[require]]
use = "k-anonymity"
k = 2
[[step]]
use = "generalise"
budget_nodes = 40
[output]
path = "safe.csv"
[run]
seed = 5
testing = true
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"q{j:02d}": rng.integers(0, 64, 60) for j in range(12)})
    frame.write_csv(folder / "people.csv")
    policy = POLICY.format(
        names=", ".join(f'"{name}"' for name in frame.columns),
        kinds="\n".join(f'{name} = "numeric"' for name in frame.columns),
        hierarchies="\n".join(f'{name} = "intervals(width=2, count=5)"' for name in frame.columns),
    )
    (folder / "policy.toml").write_text(policy)
    return celosia.run(folder / "policy.toml")


def test_the_private_record_says_how_good_the_search_was(release):
    assert "search" not in json.loads(release.paths["certificate"].read_text())["steps"][0]["evidence"]
    search = json.loads(release.paths["record"].read_text())["steps"][0]["evidence"]["search"]  # its score is exact
    assert (search["complete"], search["nodes"]) == (False, 7**12)
    assert search["bound"] <= search["score"]
    assert "columns" in search["advice"]


def test_the_terminal_tells_columns_risks_and_the_search(release):
    titles = [block.title for block in release.blocks()]
    assert "What happened to the columns" in titles
    assert "Before and after" in titles
    assert any("stopped before the search was complete" in title for title in titles)
    rows = next(block.rows for block in release.blocks() if block.title == "Before and after")
    assert rows[0][:3] == ("k-anonymity(k=2)", "1", rows[0][2])


@pytest.mark.parametrize("language", ["en", "es", "ca"])
def test_the_report_tells_it_in_its_language(release, language):
    page = render(release, edition="internal", language=language)
    texts = words(language)
    assert texts["changes"] in page
    assert texts["advice"]["columns"] in page
    assert number(7**12, language=language) in page
    changed = next(change for change in release.changes if change.example is not None)
    assert changed.after.sentence(texts["detail"], texts["units"]) in page
