"""Population frequencies: the number of people of a population that each record could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import DataError, NotApplicable, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


def population_frequencies(table: Table, source: object, size: int | None) -> NDArray[np.float64]:
    """Return the population frequency of each record; 0 when suppressed."""
    return table.classes.on_records(class_people(table, source, size), suppressed=0.0)


def class_people(table: Table, source: object, size: int | None) -> NDArray[np.float64]:
    """Return the people of the population in each class.

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
        return table.classes.frequencies() * (size / max(1, n))
    if table.schema.weight is not None:
        return np.maximum(table.classes.frequencies(weighted=True), table.classes.frequencies())
    raise NotApplicable("give the population: a table, its size, or a weight column in the schema.")


def population_size(table: Table, size: int | None) -> int:
    """Return the size of the population: as given, or the sum of the sampling weights.

    A person with rows in several classes counts in each of them, in the sample and in the population.
    """
    check_weights(table)
    histogram = table.classes.histogram
    records, single = int(histogram.persons.sum()), table.schema.person is None
    if size is not None:
        persons = histogram.total
        if size < persons:
            counted = "records" if single else "persons"
            raise DataError(f"the population ({size}) cannot be smaller than the table ({persons} {counted}).")
        return round(size * records / persons) if persons else size
    if histogram.weights is None:
        raise NotApplicable("give the size of the population, or a weight column in the schema.")
    # the last bits of a sum depend on the order of the records: a half must not be rounded by them
    return max(records, round(round(float(histogram.weights.sum()), 6)))


def check_weights(table: Table) -> None:
    """Raise if a weight is missing, infinite or not positive."""
    import narwhals as nw

    if table.schema.weight is None:
        return
    value = nw.col(table.schema.weight).cast(nw.Float64)
    good = (value.is_finite() & (value > 0)).fill_null(value=False)
    frame = nw.from_native(table.rows.frame).select(bad=(~good).cast(nw.Int64).sum())
    bad = int(table.engine.collect(frame.to_native())["bad"][0] or 0)
    if bad:
        raise DataError(f"weight column {table.schema.weight!r}: {bad} weights are missing, infinite or not positive.")
