"""Discernibility."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.parts import Loss, Memory, SearchObjective
from celosia.views.comparing.coverage import lost_records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts, Verdict
    from celosia.search.lattice.objective import ClassObjective, LevelMaps
    from celosia.table import Table


class Discernibility(SearchObjective, Loss):
    r"""The number of records that each record cannot be distinguished from, summed over the file.

    .. math:: DM = \sum_{E} |E|^2 + n \cdot s

    with :math:`s` suppressed records, each of which counts as the whole file. The smallest value is that of the
    unchanged table, not 0. Counts are 64-bit whole numbers up to the last sum. References: Bayardo & Agrawal (2005).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> Discernibility().value(table, table)
    5.0
    """

    memory: ClassVar[Memory] = "none"
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """Return the discernibility of the protected table."""
        records, alike = protected.classes.row_sizes
        inside = 0 if protected.suppressed() == len(protected) else int(records @ alike)
        return float(inside + len(original) * lost_records(original, protected))

    def identity_value(self, original: Table) -> float:
        """Return the discernibility of the table itself."""
        return self.value(original, original)

    def objective(self, domain: LevelMaps) -> ClassObjective:
        """Return the objective of a search."""
        from celosia.search.lattice.objective import ClassObjective, ColumnObjective, Measures

        n, searched = float(max(1, domain.n)), float(max(1, domain.searched))
        before = n * domain.suppressed_before

        def measure(classes: ClassCounts, kept: Verdict, certain: Verdict) -> Measures:
            size = classes.size.astype(np.float64)
            squares = size * size  # sums of whole numbers: exact in any order
            inside, lost = float(squares @ kept), float(size.sum() - size @ kept)
            sure = float(n * (size @ certain) - squares @ certain)
            return Measures(inside + n * lost + before, float(squares.sum()) + before, sure)

        # sum p^2 >= 2^-H by Jensen, and the entropy of the classes is at most the sum of the columns' entropies
        base = tuple(
            np.array([-_entropy(domain.frequency(j, level) / searched) for level in range(domain.height(j) + 1)])
            for j in range(len(domain))
        )
        columns = ColumnObjective(
            base, lambda x: np.asarray(searched**2 * np.exp2(x.sum(axis=-1)) * (1 - 1e-9) + before)
        )
        return ClassObjective(measure, columns, codes=False)


def _entropy(p: NDArray[np.float64]) -> float:
    present = p[p > 0]
    return float(-(present * np.log2(present)).sum())
