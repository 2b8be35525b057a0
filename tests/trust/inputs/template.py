"""What the cases start from: data in every form, a release, a gateway and a consent store, made by the commands.

usage: python -m tests.trust.inputs.template DIRECTORY
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import polars as pl

from celosia.cli.main import run
from celosia.data.io.sources import write

POLICY = """
[input]
path = "people.csv"
[schema]
identifiers = ["name"]
quasi = ["age", "city"]
sensitive = ["ill"]
hierarchies = {age = "intervals(width=10)", city = "city.csv"}
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "generalise"
suppress = 0.2
[output]
path = "safe.csv"
report = false
"""
DATASET = """
name = "people"
epsilon = 10.0
[tables.people]
source = "people.csv"
columns = {age = {type = "integer", bounds = [0, 120]}, city = {type = "text"}, ill = {type = "text"}}
"""
CATALOGUE = """
[[inference]]
id = "illness"
description = "what I suffer from"
[[inference.rule]]
tables = {people = ["ill", "age"]}
threshold = 0.5
"""
RECORDS = 60


def make(place: Path) -> None:
    """Fill a directory; it must be the working directory, as for a person."""
    rows = range(RECORDS)
    people = pl.DataFrame(
        {
            "name": [f"Qanary{i:03}" for i in rows],
            "age": [20 + i * 7 % 50 for i in rows],
            "city": [f"Ctown{i % 3}" for i in rows],
            "ill": [f"Sick{i * i % 5}" for i in rows],
        }
    )
    for name in ("csv", "csv.gz", "parquet", "jsonl", "xlsx", "ods", "sav", "dta", "xpt"):
        write(people, place / f"people.{name}")
    with closing(sqlite3.connect("people.db")) as database, database:
        database.execute("CREATE TABLE people (name TEXT, age INTEGER, city TEXT, ill TEXT)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people.rows())
    (place / "city.csv").write_text("".join(f"Ctown{i},Cregion{i % 2},*\n" for i in range(3)))
    (place / "policy.toml").write_text(POLICY)
    (place / "dataset.toml").write_text(DATASET)
    (place / "inferences.toml").write_text(CATALOGUE)
    (place / "choices.csv").write_text("owner,inference,block\nQanary001,illness,yes\n")
    (place / "log.sql").write_text("SELECT age FROM people;\nSELECT ill FROM people WHERE age = 30;\n")
    for command in (
        ["run", "policy.toml"],
        ["gateway", "init"],
        ["gateway", "key", "ana"],
        ["query", "SELECT COUNT(*) AS n FROM people", "--epsilon", "0.5"],
        ["consent", "init"],
        ["consent", "load", "choices.csv", "--catalogue", "inferences.toml"],
        ["consent", "convert", "inferences.toml", "inferences.xml"],
    ):
        code = run(command)
        if code:
            raise SystemExit(f"{command} ended with {code}")


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    make(Path())
