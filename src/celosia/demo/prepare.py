"""Write the demonstration's data, hierarchies and policy."""

from __future__ import annotations

from pathlib import Path

from celosia.data.io import write
from celosia.data.io.atomic import replace_file
from celosia.demo.population import population
from celosia.demo.words import DIAGNOSES, OCCUPATIONS, PLACES

SEED = 20_251_231

POLICY = """\
# The demonstration of Celosia: a register of visits becomes a file that may be published.
# Every person counts once, however many visits they made.

[about]
title = "Hospital visits of 2025"
organisation = "Hospital of the Valley (invented, like its patients)"
purpose = "For research on care, open to everybody."
contact = "data@valley.test"
approver = "The data protection officer"
review = 2030-12-31

[input]
path = "original.csv"

[schema]
identifiers = ["name", "national_id"]
person = "person"
household = "household"
quasi = ["birth_date", "sex", "municipality", "occupation"]
sensitive = ["diagnosis"]
insensitive = ["income"]
weight = "sampling_weight"

[schema.hierarchies]
birth_date = {use = "dates", units = ["month", "year", "decade"]}
sex = {use = "levels", rows = [["female", "*"], ["male", "*"]]}
municipality = "municipality.csv"
occupation = "occupation.csv"
diagnosis = "diagnosis.csv"

[[require]]
use = "k-anonymity"
k = 5

[[require]]
use = "l-diversity"
l = 3
column = "diagnosis"

# The least coarse values that meet the requirements when at most 2 % of the records are suppressed.
[[step]]
use = "generalise"
suppress = 0.02

[[step]]
name = "incomes"
use = "top-code"
columns = ["income"]
quantile = 0.995

# An income to the cent is as good as a name: hardly two people have the same.
[[step]]
name = "rounded incomes"
use = "round"
columns = ["income"]
base = 500

# All visits of a person have the same weight: to one decimal it would link them.
[[step]]
name = "rounded weights"
use = "round"
columns = ["sampling_weight"]
base = 10

[measure]
risks = ["prosecutor", "marketer", "uniqueness"]
losses = ["domain-loss", "precision", "average-class-size", "discernibility", "altered-records"]

[output]
path = "release.csv"
"""


def prepare(directory: Path, persons: int = 20_000, seed: int = SEED) -> Path:
    """Fill a directory with the generated population, its hierarchies and the policy; the path of the policy."""
    directory.mkdir(parents=True, exist_ok=True)
    write(population(persons, seed).lazy(), directory / "original.csv", overwrite=True)
    levels = {
        "municipality.csv": [[*place, "*"] for place in PLACES],
        "occupation.csv": [[name, group, "*"] for name, group, *_ in OCCUPATIONS],
        "diagnosis.csv": [[name, group, chapter, "*"] for name, group, chapter, *_ in DIAGNOSES],
    }
    for name, rows in levels.items():
        with replace_file(directory / name) as draft:
            draft.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
    with replace_file(directory / "policy.toml") as draft:
        draft.write_text(POLICY, encoding="utf-8")
    return directory / "policy.toml"
