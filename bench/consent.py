"""A whole publication request: 1 000 000 rows of 100 000 owners, in calibration jobs of CPU time.

    python bench/consent.py [rows] [owners]

A calibration job is a fixed pure-Python loop, timed right before and after. Every rule is run, on a DuckDB file and,
for the default rule, on SQLite, whose driver hands over one Python object per cell.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from _calibration import calibration

from celosia.consent.owners.store import Preferences
from celosia.consent.protection.protection import Design
from celosia.consent.publication.request import Request, publish
from celosia.consent.publication.request import write as write_publication
from celosia.consent.rules.rules import read_toml
from celosia.data.io.database import write
from celosia_reproduce.consent.case import PLACE, students

CATALOGUE = """
[[inference]]
id = "residence"
description = "Find out where I live"
extra = 30
[[inference.rule]]
tables = {enrolment = ["province", "canton", "district", "school"]}
"""
SQL = "SELECT owner, sex, score, province, canton, district, school FROM enrolment"


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    owners = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    rng = np.random.default_rng(1)
    people = students(rng, owners).with_columns(owner=pl.format("B{}", pl.int_range(owners)))
    frame = people[rng.integers(0, owners, rows)].with_columns(score=pl.Series(rng.integers(270, 800, rows)))
    catalogue = read_toml(CATALOGUE)
    with tempfile.TemporaryDirectory() as place:
        store = Preferences.create(Path(place) / "choices.db")
        chosen = pl.Series(rng.random(owners) < 0.26)
        store.load(people.select("owner", inference=pl.lit("residence"), block=chosen), catalogue.ids())
        urls = {"duckdb": f"duckdb:///{place}/u.duckdb", "sqlite": f"sqlite:///{place}/u.db"}
        (Path(place) / "u.db").touch()
        for url in urls.values():
            write(frame.lazy(), url, table="enrolment")
        for name, rule, measure in (
            ("duckdb", "coarser", True),
            ("duckdb", "coarser", False),
            ("duckdb", "class", False),
            ("duckdb", "exchange", False),
            ("sqlite", "coarser", True),
            ("sqlite", "coarser", False),
        ):
            design = Design(k=60, rule=rule, tree=PLACE)  # type: ignore[arg-type]
            wanted = Request(sql=SQL, owner="owner", design=design, quasi=PLACE, sensitive=("score",), measure=measure)
            before = calibration()
            start = time.process_time()
            made = publish(wanted, urls[name], catalogue, store, seed=1)
            write_publication(made, Path(place) / "out", overwrite=True)
            spent = time.process_time() - start
            unit = (before + calibration()) / 2
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"{name:7} {rule:9} measured={measure!s:5} {rows} rows, {owners} owners: {spent:6.1f} s CPU = "
                f"{spent / unit:5.1f} jobs; holds={made.holds}, marked {made.report['rows marked']}, peak {most:.1f} GB"
            )
        store.close()


if __name__ == "__main__":
    main()
