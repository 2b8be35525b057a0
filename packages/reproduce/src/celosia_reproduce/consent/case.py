"""A stand-in for the private admission data: as many students, places, schools and scores, made up.

Provinces and cantons are shaped like Costa Rica's; who lives where, and which school they attend, is drawn. How large
the districts are is our choice, and decides how many rows a given k alters:

``clustered``  large districts lie side by side: 13 cantons of the central provinces hold towns, the others villages. A
               district that is too small then joins others that are too small, and k decides how many rows change.
``uneven``     sizes fall like 1 / i^1.1 and are scattered. Nearly every canton has a district that is too small for the
               smallest k and takes its neighbours along: all rows change whatever k is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import ParameterError
from celosia.table.derive import with_record_ids

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

STUDENTS, SCORES, SCHOOLS = 42_538, 531, 980
CANTONS = {"San José": 20, "Alajuela": 15, "Cartago": 8, "Heredia": 10, "Guanacaste": 11, "Puntarenas": 11, "Limón": 6}
"""Cantons of each province: 81."""
DISTRICTS = {
    "San José": 121, "Alajuela": 110, "Cartago": 48, "Heredia": 46, "Guanacaste": 59, "Puntarenas": 56, "Limón": 27,
}  # fmt: skip
"""Districts of each province that occur: 467."""
PLACE = ("province", "canton", "district")
SHARE = 0.26
"""Share of owners who block: Taylor's "fundamentalists" (2003)."""
SHAPES = ("clustered", "uneven")
TOWNS = {"San José": 5, "Alajuela": 3, "Cartago": 2, "Heredia": 3}
"""Cantons of towns in each province, the first ones; all others are cantons of villages."""
TOWN, VILLAGE = 120.0, 7.0
"""Relative sizes of a median district of towns and of villages: about its students in a block of a quarter of all."""
CANTON_SPREAD, DISTRICT_SPREAD = 0.35, 0.12
"""Spread of the logarithm of sizes: between cantons of towns, and between the districts of any canton."""
ZIPF = 1.1
"""How uneven scattered districts are: the share of the i-th largest falls like 1 / i^1.1."""
NEAR, IN_CANTON = 0.55, 0.3
"""Students attend a school of their own district, else of the canton, else of the province."""


def students(rng: np.random.Generator, n: int = STUDENTS, shape: str = "clustered") -> pl.DataFrame:
    """Draw the students: sex, score, province, canton, district, school; every value occurs when n allows it.

    >>> frame = students(np.random.default_rng(1))
    >>> frame.n_unique("district"), frame.n_unique("canton"), frame.n_unique("school"), frame.n_unique("score")
    (467, 81, 980, 531)
    """
    import polars as pl

    if shape not in SHAPES:
        raise ParameterError(f"districts are one of {', '.join(SHAPES)}, got {shape!r}.")
    province, canton = _places()
    weight = _clustered(rng, canton) if shape == "clustered" else _scattered(rng, len(canton))
    district = _covering(rng, len(province), n, weight / weight.sum())
    school = _schools(rng, district, province, canton, n)
    score = np.clip(np.rint(rng.normal(SCORES / 2, SCORES / 6, n)), 0, SCORES - 1).astype(np.int64)
    some = min(SCORES, n)
    score[rng.permutation(n)[:some]] = np.arange(some)
    names = list(CANTONS)
    return pl.DataFrame(
        {
            "sex": np.where(rng.random(n) < 0.5, "F", "M"),
            "score": 270 + score,
            "province": [names[p] for p in province[district]],
            "canton": [f"canton {c + 1:02d}" for c in canton[district]],
            "district": [f"district {d + 1:03d}" for d in district],
            "school": [f"school {s + 1}" for s in school],
        }
    )


def drawn(seed: int, shape: str = "clustered") -> tuple[pl.DataFrame, NDArray[np.bool_]]:
    """Draw the students, and those who block."""
    rng = np.random.default_rng(seed)
    people = students(rng, shape=shape)
    blocked = np.zeros(len(people), np.bool_)
    blocked[rng.permutation(len(people))[: round(SHARE * len(people))]] = True
    return people, blocked


def table(frame: pl.DataFrame) -> Table:
    """Return the students as a table: the place is the quasi-identifier, the score sensitive."""
    import celosia

    return with_record_ids(celosia.read(frame, celosia.Schema.of(quasi=list(PLACE), sensitive=["score"])))


def _places() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Province and canton of each district; every canton has at least one, the first (the capital) has more."""
    province, canton, first = [], [], 0
    for p, name in enumerate(CANTONS):
        n, m = CANTONS[name], DISTRICTS[name]
        sizes = np.full(n, m // n) + (np.arange(n) < m % n)
        canton += list(np.repeat(first + np.arange(n), sizes))
        province += [p] * m
        first += n
    return np.array(province, np.int64), np.array(canton, np.int64)


def _scattered(rng: np.random.Generator, places: int) -> NDArray[np.float64]:
    """Sizes that fall like 1 / i^1.1, in any order."""
    weight = 1 / np.arange(1, places + 1) ** ZIPF
    return np.asarray(weight[rng.permutation(places)], np.float64)


def _clustered(rng: np.random.Generator, canton: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sizes of the districts if towns are adjacent to towns.

    The cantons of towns take the quantiles of one log-normal distribution, so that every draw has small and large
    ones; the districts of a canton are nearly alike.
    """
    from scipy import stats

    first = dict(zip(CANTONS, np.cumsum([0, *CANTONS.values()])[:-1], strict=True))
    towns = np.concatenate([first[name] + np.arange(n) for name, n in TOWNS.items()])
    middle = np.full(sum(CANTONS.values()), np.log(VILLAGE))
    quantiles = stats.norm.ppf((np.arange(len(towns)) + 0.5) / len(towns))
    middle[towns] = np.log(TOWN) + CANTON_SPREAD * rng.permutation(quantiles)
    return np.asarray(np.exp(middle[canton] + DISTRICT_SPREAD * rng.standard_normal(len(canton))), np.float64)


def _covering(rng: np.random.Generator, values: int, n: int, p: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draws that hold every value, as far as there are enough."""
    drawn = rng.choice(values, n, p=p)
    some = min(values, n)
    drawn[rng.permutation(n)[:some]] = np.arange(some)
    return drawn.astype(np.int64)


def _schools(
    rng: np.random.Generator,
    district: NDArray[np.int64],
    province: NDArray[np.int64],
    canton: NDArray[np.int64],
    n: int,
) -> NDArray[np.int64]:
    """Return a school for each student, near their home."""
    places = len(province)
    count = np.bincount(district, minlength=places)
    seat = np.concatenate([np.arange(places), rng.choice(places, SCHOOLS - places, p=count / count.sum())])
    reach = np.where(rng.random(n) < NEAR, 0, np.where(rng.random(n) < IN_CANTON / (1 - NEAR), 1, 2))
    school = np.zeros(n, np.int64)
    for level, key in enumerate((np.arange(places), canton, province)):
        order = np.argsort(key[seat], kind="stable")
        sizes = np.bincount(key[seat], minlength=places)
        start = np.concatenate([[0], np.cumsum(sizes)])
        at = key[district]
        pick = order[start[at] + np.floor(rng.random(n) * sizes[at]).astype(np.int64)]
        school = np.where(reach == level, pick, school)
    missing = np.setdiff1d(np.arange(SCHOOLS), school)
    if len(missing) and n >= SCHOOLS:
        # a school that nobody drew gets one student of its district, or any: taken from a school that has several
        crowded = np.flatnonzero(np.bincount(school, minlength=SCHOOLS)[school] > 5)
        school[rng.choice(crowded, len(missing), replace=False)] = missing
    return school
