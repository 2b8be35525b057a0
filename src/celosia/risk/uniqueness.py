"""Uniqueness, and its profile over all subsets of the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Literal, NotRequired

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.parts import BoundedByRows, Evidence, Memory, Risk

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]

_MOST_SUBSETS = 5000
_MOST_WORK = 20_000_000
"""Subsets × classes up to which the evidence includes the profile by default: about two seconds."""


class UniquenessEvidence(Evidence):
    """Share and number of unique records, distinction, and the highest unique share by size of subset."""

    unique: int
    distinction: float
    by_size: NotRequired[dict[int, float]]


class Uniqueness(BoundedByRows, Risk):
    r"""The share of records that are unique on the quasi-identifiers.

    .. math:: \frac1n |\{i : f_i = 1\}|

    `profile` does the same for every subset of the quasi-identifiers, with its *distinction* (different
    combinations per record) and its *separation* (share of record pairs that differ), which show how much each
    column adds. With a person column persons are counted, each once in a class, and missing values are read as the
    schema says. Unique in a sample is not unique in the population. References: Motwani & Xu (2007).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"sex": ["F", "F", "M", "M"], "zip": [1, 2, 1, 1]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["sex", "zip"]))
    >>> Uniqueness().value(table)
    0.5
    >>> Uniqueness().profile(table)["unique"].to_list()
    [0.0, 0.25, 0.5]
    """

    memory: ClassVar[Memory] = "none"
    largest: int | None = Field(default=None, ge=1, description="largest subset of the profile; all when not given")

    rows_bound: ClassVar[Literal["at least", "at most"] | None] = "at least"  # a unique row is a unique person

    def value(self, table: Table) -> float:
        """Return the share of unique records among those that are not suppressed."""
        return unique_share(table)

    def evidence(self, table: Table) -> UniquenessEvidence:
        """Return share and number of unique records, distinction, and the highest unique share by size of subset."""
        frequency, records = table.classes.sizes
        evidence: UniquenessEvidence = {
            "value": self.value(table),
            "unique": int(records[frequency == 1].sum()),
            "distinction": float(len(records) / records.sum()) if len(records) else 0.0,
        }
        subsets = 2 ** len(table.schema.quasi)
        if self.largest is not None or (subsets <= _MOST_SUBSETS and subsets * len(frequency) <= _MOST_WORK):
            profile = self.profile(table)
            sizes, unique = profile["size"].to_list(), profile["unique"].to_list()
            evidence["by_size"] = {
                s: max(u for t, u in zip(sizes, unique, strict=True) if t == s) for s in sorted(set(sizes))
            }
        return evidence

    def records(self, table: Table) -> pl.DataFrame:
        """Return whether each record is unique, and the size of its class."""
        import polars as pl

        frequency = table.frequencies()
        return pl.DataFrame({"unique": frequency == 1, "frequency": frequency})

    def profile(self, table: Table) -> pl.DataFrame:
        """One row per subset: its columns, classes, smallest class, unique share, distinction and separation."""
        import polars as pl

        quasi = table.schema.need_quasi()
        largest = min(self.largest or len(quasi), len(quasi))
        subsets = [s for size in range(1, largest + 1) for s in combinations(quasi, size)]
        if len(subsets) > _MOST_SUBSETS:
            raise NotApplicable(
                f"uniqueness: {len(quasi)} quasi-identifiers have {len(subsets)} subsets, more than {_MOST_SUBSETS}; "
                "give `largest`, the size of the largest subset."
            )
        return pl.DataFrame(table.compute_once(("profile", largest), lambda: _profile(table, subsets)), orient="row")


def _profile(table: Table, subsets: list[tuple[str, ...]]) -> list[dict[str, object]]:
    return [_row(subset, frequency, size) for subset, frequency, size in _subset_sizes(table, subsets)]


def _subset_sizes(table: Table, subsets: list[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], Floats, Floats]]:
    """Yield frequencies and records of the classes on each subset, from the combinations of all quasi-identifiers."""
    for subset in subsets:
        frequency, size = table.classes.over(subset)
        yield subset, frequency, size.astype(np.float64)


def _row(subset: tuple[str, ...], frequency: Floats, size: Floats) -> dict[str, object]:
    n = float(size.sum())
    pairs = n * (n - 1) / 2
    return {
        "columns": ", ".join(subset),
        "size": len(subset),
        "classes": len(size),
        "smallest": int(frequency.min(initial=n)),
        "unique": float(size[frequency == 1].sum() / n) if n else 0.0,
        "distinction": float(len(size) / n) if n else 0.0,
        "separation": float(1 - (size * (frequency - 1) / 2).sum() / pairs) if pairs else 0.0,
    }


# Unique records: those that are alone in their class.


def unique_share(table: Table) -> float:
    """Share of unique records among those that are not suppressed; 0 without records.

    >>> import polars as pl, celosia
    >>> unique_share(celosia.read(pl.DataFrame({"age": [30, 30, 30, 31]}), celosia.Schema.of(quasi=["age"])))
    0.25
    """
    frequency, records = table.classes.sizes
    return float(records[frequency == 1].sum() / records.sum()) if len(records) else 0.0
