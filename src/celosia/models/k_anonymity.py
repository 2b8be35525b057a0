"""k-anonymity."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.parts import BoundedByRows, Model, SearchHints, SmallestCount

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts


class KAnonymity(SearchHints, SmallestCount, BoundedByRows, Model):
    r"""Every record shares its quasi-identifiers with at least ``k - 1`` others.

    .. math:: k(T, Q) = \min_{E} |E|

    over the equivalence classes :math:`E` of the quasi-identifiers; suppressed records that show a
    sensitive value are one more, the others belong to none. With a person
    column the size of a class is its number of persons. An empty table is k-anonymous for every ``k`` (the value is
    infinite). It limits re-identification to 1/k, not what can be inferred: a class whose records all have the same
    diagnosis discloses it. References: Samarati (2001); Sweeney (2002).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> KAnonymity(k=2).value(table), KAnonymity(k=2).holds(table)
    (1.0, False)
    """

    k: int = Field(ge=1, description="smallest allowed class size")

    symbol: ClassVar[str] = "k"
    direction: ClassVar[Literal["at least", "at most"]] = "at least"
    monotone_generalisation: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    rows_bound: ClassVar[Literal["at least", "at most"] | None] = "at most"  # a class has no more persons than rows

    def bound(self) -> float:
        """Return the smallest allowed class size."""
        return self.k

    def scores(self, classes: ClassCounts) -> NDArray[np.float64]:
        """Return the size of each class."""
        return classes.size.astype(np.float64)

    def smallest_size(self) -> int:
        """Return k."""
        return self.k

    def smallest_count(self) -> Literal["members", "values"] | None:
        """Return the unit of the count: members."""
        return "members"

    def is_size_only(self) -> bool:
        """Return true: only sizes matter."""
        return True
