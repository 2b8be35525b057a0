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
FULL = """
[about]
title = "People"
contact = "Ana"
review = 2030-01-01
[input]
path = "people.csv"
separator = ","
encoding = "utf-8"
decimal = "."
header = true
missing = ["NA"]
text = ["ill"]
dates = {}
clean = {strip = ["city"], same = {city = {Ctown9 = "Ctown0"}}, missing = {ill = ["none"]}}
[schema]
identifiers = ["name"]
quasi = ["age", "city"]
sensitive = ["ill"]
rest = "error"
kinds = {age = "numeric"}
bounds = {age = [0, 120]}
missing = {city = "category"}
orders = {ill = ["Sick0", "Sick1", "Sick4"]}
hierarchies = {age = {use = "intervals", width = 10}, city = "city.csv"}
[[require]]
use = "k-anonymity"
k = 3
[[step]]
name = "coarser"
use = "generalise"
suppress = 0.2
[[step]]
use = "round"
name = "rounded"
columns = ["age"]
base = 10
[measure]
risks = ["prosecutor", {use = "uniqueness"}]
losses = ["altered-records"]
[guard]
acknowledge = {ill = "a test"}
[history]
releases = ["safe.certificate.json"]
k = 2
acknowledge = "a test"
[explore]
candidate = ["drop(columns=[name])", {steps = ["noise(columns=[age], p=0.1)"]}]
risk = "distance-linkage(columns=[age])"
loss = "altered-records"
seeds = 1
max_risk = 0.9
max_loss = 0.9
budget_seconds = 1.0
workers = 1
store = "map.db"
[output]
path = "all.csv"
order = "kept"
columns = []
report = false
language = "ca"
overwrite = true
separator = ";"
decimal = "."
bom = false
formulas = "quote"
[run]
seed = 1180591620717411303424
testing = true
engine = "polars"
memory = "2GB"
without = ["rounded"]
"""
"""A policy with every section and the options of the reader and the writer."""
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
    (place / "full.toml").write_text(FULL)
    (place / "paged.toml").write_text(POLICY.replace("safe.csv", "paged.csv").replace("report = false", ""))
    (place / "dataset.toml").write_text(DATASET)
    (place / "inferences.toml").write_text(CATALOGUE)
    (place / "choices.csv").write_text("owner,inference,block\nQanary001,illness,yes\n")
    (place / "log.sql").write_text("SELECT age FROM people;\nSELECT ill FROM people WHERE age = 30;\n")
    for command in (
        ["run", "policy.toml"],
        ["run", "full.toml"],
        ["run", "paged.toml"],
        ["key", "mine.key"],
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
