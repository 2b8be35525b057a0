"""Discernibility."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.catalogue import Loss

if TYPE_CHECKING:
    from celosia.table import Table


class Discernibility(Loss):
    r"""How many records each record cannot be told from, summed over the file.

    .. math:: DM = \sum_{E} |E|^2 + n \cdot s

    with :math:`s` suppressed records, each of which counts as the whole file. The smallest value is that of the
    unchanged table, not 0. Counts are 64-bit whole numbers up to the last sum. References: Bayardo & Agrawal (2005).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> Discernibility().value(table, table)
    5.0
    """

    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """The discernibility of the protected table."""
        frequency, records = protected.sizes()
        inside = int(np.dot(frequency.astype(np.int64), records))
        return float(inside + len(original) * protected.suppressed())

    def least(self, original: Table) -> float:
        """The discernibility of the table itself."""
        return self.value(original, original)
