"""Individual risk of the patterns of a table: shared by the risks of records, households and thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.table.source import Same
from celosia.views.keys import Keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


def pattern_risks(
    table: Table, *, exact: bool = False, alpha: float | None = None, population: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Individual risk, sample and population frequency of each pattern of :class:`celosia.views.keys.Keys`."""
    from celosia.mathematics.disclosure.uniqueness.individual_risk import individual_risk

    return table.cached(
        ("individual risk", exact, alpha, Same(population)),
        lambda: _risks(table, exact, alpha, population, individual_risk),
    )


def _risks(
    table: Table, exact: bool, alpha: float | None, population: Any, formula: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    keys = Keys.of(table)
    f = keys.frequencies(alpha=alpha)
    if population is not None:
        F = _counted(table, keys, population)
    elif keys.weights is not None:
        F = keys.frequencies(weight=True, alpha=alpha)
    else:
        F = f
    if not len(f):
        return f, f, f
    return np.asarray(formula(f, F, exact), dtype=np.float64), f, F


def _counted(table: Table, keys: Keys, population: Any) -> NDArray[np.float64]:
    """Population frequencies counted in a table, per pattern."""
    from celosia.views.population import population_frequencies

    people = population_frequencies(table, population, None)
    first = np.zeros(len(keys.counts), dtype=np.int64)
    has = keys.pattern >= 0
    first[keys.pattern[has]] = np.flatnonzero(has)
    return people[first]
