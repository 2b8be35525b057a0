"""A population that does not exist: patients of an invented region, with the dependences that real ones have.

Age and sex drive the diagnosis, occupation and age drive the income, members of a household share their municipality,
and a person may visit several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celosia.demo.words import DIAGNOSES, FIRST_NAMES, LAST_NAMES, OCCUPATIONS, PLACES

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

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
