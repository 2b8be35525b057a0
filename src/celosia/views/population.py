"""How many people of a population each record could be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import NotApplicable, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


def population_frequencies(table: Table, source: Any, size: int | None) -> NDArray[np.float64]:
    """For each record the people of the population it could be; 0 when suppressed."""
    return table.on_records(class_people(table, source, size), suppressed=0.0)


def class_people(table: Table, source: Any, size: int | None) -> NDArray[np.float64]:
    """For each class the people of the population in it.

    Counted in a population table, scaled up by the ``size`` of the population, or summed from the weight column.
    People are counted, not their rows, where a person column is declared.
    """
    if source is not None:
        population = table.class_counts((), source).population
        assert population is not None
        return population.astype(np.float64)
    if size is not None:
        n = table.classes.total
        if size < n:
            counted = "persons" if table.schema.person else "rows"
            raise ParameterError(f"size must be at least the {n} {counted} of the table, got {size}.")
        return table.classes.pattern_frequencies() * (size / max(1, n))
    if table.schema.weight is not None:
        return np.maximum(table.classes.pattern_frequencies(weigh=True), table.classes.pattern_frequencies())
    raise NotApplicable("give the population: a table, its size, or a weight column in the schema.")
