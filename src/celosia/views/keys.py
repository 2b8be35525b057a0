"""The combinations of the quasi-identifiers as integer codes: what record-level risks compute on.

One group-by gives the distinct patterns with their counts, weights and the records that have them. Suppressed records
have no pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes import Held, compatible, group, number
from celosia.data.schema import Missing
from celosia.errors import DataError, NotApplicable, SchemaError
from celosia.views.persons import person_codes

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


@dataclass(frozen=True, eq=False)
class Keys:
    """The distinct patterns of the quasi-identifiers of a table."""

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    """Patterns × columns; a missing value is -1."""
    counts: NDArray[np.int64]
    """Records (persons, where a person column is declared) of each pattern."""
    rows: NDArray[np.int64]
    """Rows of each pattern."""
    weights: NDArray[np.float64] | None
    """Sum of the sampling weights of each pattern, a person's counted once; None without a weight column."""
    held: Held | None
    """Who has which pattern; None without a person column."""
    pattern: NDArray[np.int64] = field(repr=False)
    """The pattern of each record in table order; -1 when suppressed."""
    closed: NDArray[np.int32] = field(repr=False)
    """The codes with missing values as a value of their own in the columns that read them so."""
    conservative: bool

    @classmethod
    def of(cls, table: Table) -> Keys:
        """Group the records of a table by their quasi-identifiers; computed once per table."""
        return table.cached("keys", lambda: _group(table))

    def frequencies(self, weight: bool = False, alpha: float | None = None) -> NDArray[np.float64]:
        """Frequency of each pattern in the table, or with ``weight`` in the population.

        Missing values are read as the schema says; ``alpha`` sets sdcMicro's reading between conservative (0) and
        wildcard (1) for all of them.
        """
        own = self.weights if weight else self.counts
        if own is None:
            raise SchemaError("no weight column is declared: name one under `weight`.")
        codes = self.closed if alpha is None else self.codes
        held = self.held if weight or self.held is None else replace(self.held, weights=None)
        return compatible(codes, own.astype(np.float64), held, conservative=self.conservative, alpha=alpha)

    def over(self, columns: Sequence[int]) -> Keys:
        """The same records by some of the columns only, without weights."""
        codes = self.closed[:, list(columns)]
        first, cell = group(list(codes.T + 1))
        rows = np.bincount(cell, weights=self.rows, minlength=len(first)).astype(np.int64)
        pattern = np.append(cell, -1)[self.pattern]
        held = None
        if self.held is not None:
            of_pair = cell[self.held.pattern]
            pairs, place = group([of_pair, self.held.person])
            together = np.bincount(place, weights=self.held.rows).astype(np.float64)
            held = Held(of_pair[pairs], self.held.person[pairs], together, None)
        counts = rows if held is None else np.bincount(held.pattern, minlength=len(first))
        names = tuple(self.names[j] for j in columns)
        return Keys(names, codes[first], counts, rows, None, held, pattern, codes[first], self.conservative)

    def owners(self) -> NDArray[np.int64] | None:
        """The person who has each pattern, the last one where several have; None without a person column."""
        if self.held is None:
            return None
        owner = np.full(len(self.counts), -1, dtype=np.int64)
        owner[self.held.pattern] = self.held.person
        return owner

    def sizes(self, cell: NDArray[np.int64]) -> NDArray[np.int64]:
        """Records (persons, each once) of each cell of a smaller table; ``cell`` of every pattern, -1 for none."""
        size = int(cell.max(initial=-1)) + 1
        if self.held is None:
            return np.bincount(cell[cell >= 0], weights=self.counts[cell >= 0], minlength=size).astype(np.int64)
        of_pair = cell[self.held.pattern]
        inside = of_pair >= 0
        pairs, _ = group([of_pair[inside], self.held.person[inside]])
        return np.bincount(of_pair[inside][pairs], minlength=size)

    def spread(self, values: NDArray[Any], suppressed: Any = 0) -> NDArray[Any]:
        """Values of the patterns given to their records; ``suppressed`` for records without a pattern."""
        extended = np.append(values, np.asarray(suppressed, dtype=values.dtype))
        return extended[self.pattern]


def person_shares(table: Table) -> NDArray[np.float64]:
    """For each record 1 over the records of its person in its class, so that a person adds up to one; 0 if suppressed.

    Without a person column every record stands for itself.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 31], "who": ["a", "a", "a"]})
    >>> person_shares(celosia.read(data, celosia.Schema.of(quasi=["age"], person="who"))).tolist()
    [0.5, 0.5, 1.0]
    """
    if table.schema.person is None:
        return (~table.suppressed_mask()).astype(np.float64)
    pattern = table.classes.place
    pair = number([pattern + 1, person_codes(table)])
    return np.where(pattern >= 0, 1.0 / np.bincount(pair)[pair], 0.0)


def population_size(table: Table, size: int | None) -> int:
    """The number of people in the population: as given, or the sum of the sampling weights.

    A person with rows in several classes counts in each of them, in the sample and so in the population.
    """
    keys = Keys.of(table)
    records = int(keys.counts.sum())
    if size is not None:
        persons = records if keys.held is None else len(np.unique(keys.held.person))
        if size < persons:
            counted = "records" if keys.held is None else "persons"
            raise DataError(f"the population ({size}) cannot be smaller than the table ({persons} {counted}).")
        return round(size * records / persons) if persons else size
    if keys.weights is None:
        raise NotApplicable("give the size of the population, or a weight column in the schema.")
    # the last bits of a sum depend on the order of the records: a half must not be rounded by them
    return max(records, round(round(float(keys.weights.sum()), 6)))


def _group(table: Table) -> Keys:
    classes, schema = table.classes, table.schema
    names = schema.need_quasi()
    if schema.weight is not None:
        _check_weights(table.column(schema.weight))
    patterns = classes.patterns(names)
    return Keys(
        tuple(names),
        patterns.matrix(names, open_missing=names),
        patterns.counted,
        patterns.rows,
        patterns.weight,
        None if schema.person is None else classes.held(weigh=schema.weight is not None),
        classes.place,
        patterns.matrix(names, open_missing=classes.open_missing),
        schema.reading() == Missing.CONSERVATIVE,
    )


def _check_weights(weights: pl.Series) -> None:
    import polars as pl

    values = weights.cast(pl.Float64)
    bad = int((values.is_null() | ~values.is_finite() | (values <= 0)).fill_null(value=True).sum())
    if bad:
        raise DataError(f"weight column {weights.name!r}: {bad} weights are missing, infinite or not positive.")
