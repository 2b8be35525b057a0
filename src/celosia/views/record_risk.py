"""Individual risk of the patterns of a table, for the risks of records, households and thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from celosia.table.source import Same
from celosia.views.population import check_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Formula = Callable[[NDArray[np.float64], NDArray[np.float64], bool], NDArray[np.float64]]


def pattern_risks(
    table: Table, *, exact: bool = False, alpha: float | None = None, population: object = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Individual risk, sample and population frequency of each pattern of the quasi-identifiers."""
    from celosia.kernels.disclosure.uniqueness.individual_risk import individual_risk

    return table.compute_once(
        ("individual risk", exact, alpha, Same(population)),
        lambda: _risks(table, exact, alpha, population, individual_risk),
    )


def _risks(
    table: Table, exact: bool, alpha: float | None, population: object, formula: Formula
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    check_weights(table)
    classes = table.classes
    f = classes.frequencies(alpha=alpha)
    if population is not None:
        F = _population_counts(table, population)
    elif table.schema.weight is not None:
        F = classes.frequencies(weighted=True, alpha=alpha)
    else:
        F = f
    if not len(f):
        return f, f, f
    return np.asarray(formula(f, F, exact), dtype=np.float64), f, F


def _population_counts(table: Table, population: object) -> NDArray[np.float64]:
    """Count the population frequency of each pattern in a table."""
    from celosia.views.population import population_frequencies

    people = population_frequencies(table, population, None)
    first = np.zeros(len(table.classes.histogram), dtype=np.int64)
    place = table.classes.place
    has = place >= 0
    first[place[has]] = np.flatnonzero(has)
    return people[first]
