"""Individual risk of the patterns of a table: shared by the risks of records, households and thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.table.source import Same
from celosia.views.population import check_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


def pattern_risks(
    table: Table, *, exact: bool = False, alpha: float | None = None, population: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Individual risk, sample and population frequency of each pattern of the quasi-identifiers."""
    from celosia.kernels.disclosure.uniqueness.individual_risk import individual_risk

    return table.cached(
        ("individual risk", exact, alpha, Same(population)),
        lambda: _risks(table, exact, alpha, population, individual_risk),
    )


def _risks(
    table: Table, exact: bool, alpha: float | None, population: Any, formula: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    check_weights(table)
    classes = table.classes
    f = classes.frequencies(alpha=alpha)
    if population is not None:
        F = _counted(table, population)
    elif table.schema.weight is not None:
        F = classes.frequencies(weighted=True, alpha=alpha)
    else:
        F = f
    if not len(f):
        return f, f, f
    return np.asarray(formula(f, F, exact), dtype=np.float64), f, F


def _counted(table: Table, population: Any) -> NDArray[np.float64]:
    """Population frequencies counted in a table, per pattern."""
    from celosia.views.population import population_frequencies

    people = population_frequencies(table, population, None)
    first = np.zeros(len(table.classes.histogram), dtype=np.int64)
    place = table.classes.place
    has = place >= 0
    first[place[has]] = np.flatnonzero(has)
    return people[first]
