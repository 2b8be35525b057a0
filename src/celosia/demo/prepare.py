"""Write the demonstration's data, hierarchies and policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.io import write
from celosia.data.io.atomic import replace_file
from celosia.demo.words import DIAGNOSES, FIRST_NAMES, LAST_NAMES, OCCUPATIONS, PLACES

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

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


# A population that does not exist: patients of an invented region, with the dependences that real ones have.


_DNI_LETTERS = np.array(list("TRWAGMYFPDXBNJZSQVHLCKE"))
_TODAY = np.datetime64("2025-12-31")


def population(persons: int, seed: int) -> pl.DataFrame:
    """One row per visit; ``persons`` persons make about 1.6 visits each.

    >>> frame = population(200, 1)
    >>> frame["person"].n_unique(), frame.height > 200
    (200, True)
    """
    import polars as pl

    rng = np.random.default_rng(seed)
    households = _households(rng, persons)
    place = _places(rng, int(households.max()) + 1)[households]
    sex = rng.integers(0, 2, persons)
    age = _ages(rng, persons)
    born = _TODAY - np.rint(age * 365.25).astype("timedelta64[D]")
    occupation = _occupations(rng, age)
    numbers = rng.choice(90_000_000, persons, replace=False) + 10_000_000
    people = pl.DataFrame(
        {
            "person": np.char.add("P", np.char.zfill(rng.permutation(persons).astype(str), 6)),
            "name": _names(rng, sex),
            "national_id": np.char.add(numbers.astype(str), _DNI_LETTERS[numbers % 23]),
            "birth_date": born,
            "sex": np.where(sex == 1, "female", "male"),
            "municipality": np.array([name for name, *_ in PLACES])[place],
            "occupation": np.array([name for name, *_ in OCCUPATIONS])[occupation],
            "income": _incomes(rng, occupation, age, place),
            "household": np.char.add("H", np.char.zfill(households.astype(str), 6)),
            "sampling_weight": np.round(rng.gamma(20.0, 2.5, persons), 1),
        }
    )
    owner = np.repeat(np.arange(persons), 1 + rng.poisson(0.2 + age / 70.0))
    visits = people[owner].with_columns(
        pl.Series("visit_date", _TODAY - rng.integers(0, 365, len(owner)).astype("timedelta64[D]")),
        pl.Series("diagnosis", np.array([name for name, *_ in DIAGNOSES])[_diagnoses(rng, age[owner], sex[owner])]),
    )
    return visits[rng.permutation(len(owner))]


def _households(rng: np.random.Generator, persons: int) -> NDArray[np.int64]:
    """Sizes one to six; members are consecutive persons."""
    sizes = rng.choice(np.arange(1, 7), persons, p=[0.27, 0.31, 0.20, 0.15, 0.05, 0.02])
    return np.repeat(np.arange(persons), sizes)[:persons]


def _places(rng: np.random.Generator, households: int) -> NDArray[np.int64]:
    """Few towns hold many people (sizes fall as one over the rank)."""
    weight = 1.0 / np.arange(1, len(PLACES) + 1)
    order = np.random.default_rng(7).permutation(len(PLACES))  # the same towns are large in every population
    return order[rng.choice(len(PLACES), households, p=weight / weight.sum())]


def _ages(rng: np.random.Generator, persons: int) -> NDArray[np.float64]:
    pyramid = np.array([9, 10, 11, 12, 15, 16, 12, 9, 5, 1], dtype=np.float64)
    decade = rng.choice(10, persons, p=pyramid / pyramid.sum())
    return np.asarray(10.0 * decade + 10.0 * rng.random(persons), dtype=np.float64)


def _occupations(rng: np.random.Generator, age: NDArray[np.float64]) -> NDArray[np.int64]:
    names = [name for name, *_ in OCCUPATIONS]
    working = np.array([share for _, _, share, _ in OCCUPATIONS])
    drawn = rng.choice(len(names), len(age), p=working / working.sum())
    drawn = np.where(age < 18, names.index("pupil or student"), drawn)
    retired = (age >= 65) & (rng.random(len(age)) < 0.93)
    return np.where(retired, names.index("retired"), drawn)


def _incomes(
    rng: np.random.Generator, occupation: NDArray[np.int64], age: NDArray[np.float64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    level = np.array([income for *_, income in OCCUPATIONS])[occupation]
    career = 1.0 + 0.012 * (np.clip(age, 20, 60) - 20)
    region = 1.0 + 0.15 * np.sin(place)
    income = level * career * region * rng.lognormal(0.0, 0.35, len(age))
    return np.where(age < 16, 0, np.rint(income / 10) * 10).astype(np.int64)


def _diagnoses(rng: np.random.Generator, age: NDArray[np.float64], sex: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each diagnosis has a typical age, a spread, a frequency and a share of women."""
    typical, spread, frequency, women = (
        np.array(column, dtype=np.float64) for column in list(zip(*DIAGNOSES, strict=True))[3:]
    )
    fit = frequency * np.exp(-0.5 * ((age[:, None] - typical) / spread) ** 2)
    fit *= np.where(sex[:, None] == 1, women, 1.0 - women)
    cumulated = np.cumsum(fit, axis=1)
    draw = rng.random(len(age)) * cumulated[:, -1]
    return np.asarray((cumulated < draw[:, None]).sum(axis=1), dtype=np.int64)


def _names(rng: np.random.Generator, sex: NDArray[np.int64]) -> list[str]:
    first = [FIRST_NAMES[s][i] for s, i in zip(sex, rng.integers(0, len(FIRST_NAMES[0]), len(sex)), strict=True)]
    last = rng.choice(LAST_NAMES, (len(sex), 2))
    return [f"{a} {b} {c}" for a, (b, c) in zip(first, last, strict=True)]
