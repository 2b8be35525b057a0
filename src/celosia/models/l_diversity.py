"""l-diversity in its three variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.kernels.statistics.closeness import class_sums, shares
from celosia.models.bases.sensitive_model import _SensitiveModel
from celosia.parts import BoundedByRows, SearchHints, SeparateViews, SmallestCount, worst_reading
from celosia.table.derive import with_quasi_identifiers

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes.counts import ValueCounts
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class LDiversity(SmallestCount, SearchHints, SeparateViews, BoundedByRows, _SensitiveModel):
    r"""Every class holds at least ``l`` well-represented values of the sensitive column.

    .. math:: l_{\text{distinct}} = \min_E |\{s \in E\}|, \qquad
              l_{\text{entropy}} = \min_E \exp\Bigl(-\sum_s p_s \ln p_s\Bigr), \qquad
              r_1 < c\,(r_l + \dots + r_m) \text{ (recursive)}

    The recursive value is the largest ``l`` that holds for the given ``c``. ``estimator="grassberger"`` corrects
    the entropy of small classes. With a person column a value counts the persons who have it. Persons may have
    several values, and a value that every person of a class has discloses it: the class is 1-diverse. There the
    entropy, that of the pairs of a person and a value, is at most the logarithm of 1 / (largest share of persons),
    and the tail :math:`r_l + \dots + r_m` is replaced by :math:`n - r_1 - \dots - r_{l-1}`, the fewest of the *n*
    persons that may have none of the :math:`l - 1` most frequent values.

    A missing sensitive value protects nobody: the value is the smaller one with and without missing values, so that
    {HIV, missing} has one value. With several sensitive columns the value is the smallest over the columns;
    ``others="quasi"`` lets the other sensitive columns join the quasi-identifiers, as the paper defines it. It stops
    homogeneity, and an intruder who can rule out at most ``l - 2`` values; not one who profits from skewed or similar
    values. References: Machanavajjhala et al. (2007); Stammler, Katzenbeisser & Hamacher (2016).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"zip": ["130**"] * 3, "disease": ["flu", "flu", "heart"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["zip"], sensitive=["disease"]))
    >>> LDiversity(l=2).value(table), round(LDiversity(l=2, variant="entropy").value(table), 5)
    (2.0, 1.88988)
    >>> LDiversity(l=2, variant="recursive", c=3).holds(table), LDiversity(l=2, variant="recursive", c=2).holds(table)
    (True, False)
    """

    l: float = Field(ge=1, description="smallest allowed diversity")
    variant: Literal["distinct", "entropy", "recursive"] = Field(
        default="distinct", description="how values are counted"
    )
    c: float = Field(default=3.0, gt=0, description="constant of the recursive variant")
    estimator: Literal["shannon", "grassberger"] = Field(default="shannon", description="estimator of the entropy")
    others: Literal["ignore", "quasi"] = Field(
        default="ignore", description="what the other sensitive columns are: ignored, or quasi-identifiers"
    )

    symbol: ClassVar[str] = "l"
    direction: ClassVar[Literal["at least", "at most"]] = "at least"
    known_alone: ClassVar[bool] = True
    examples: ClassVar = (
        {},
        {"column": "s"},
        {"others": "quasi"},
        {"others": "quasi", "column": "o"},
        {"variant": "recursive", "c": 1.5},
        {"variant": "recursive", "column": "v"},
        {"variant": "entropy"},
        {"variant": "entropy", "estimator": "grassberger"},
    )

    @property
    def monotone_generalisation(self) -> bool:  # type: ignore[override]
        """Whether coarser classes hold too: entropy is concave, unions keep (c, l); unknown for Grassberger's."""
        return not (self.variant == "entropy" and self.estimator == "grassberger")

    @property
    def monotone_suppression(self) -> bool:  # type: ignore[override]
        """Whether further persons keep a class holding: they remove no distinct value, but skew a distribution."""
        return self.variant == "distinct"

    @property
    def rows_bound(self) -> Literal["at least", "at most"] | None:  # type: ignore[override]
        """Relation to the value for rows: persons have the distinct values of their rows; shares have no bound."""
        return "at most" if self.variant == "distinct" else None

    def smallest_count(self) -> Literal["members", "values"] | None:
        """Return the unit of the count: values, where they are counted under the quasi-identifiers of the schema."""
        return "values" if self.variant == "distinct" and self.others == "ignore" else None

    def bound(self) -> float:
        """Return the smallest allowed diversity."""
        return self.l

    def column_scores(self, counts: ValueCounts) -> NDArray[np.float64]:
        """Return the diversity of each class."""
        if self.variant == "distinct":
            shared = (counts.count == counts.size[counts.owner]) & (counts.value != counts.missing_code)
            disclosed = np.bincount(counts.owner[shared], minlength=len(counts.distinct)) > 0
            return np.where(disclosed, 1, counts.distinct).astype(np.float64)
        if self.variant == "recursive":
            return recursive(counts.start, counts.count, self.c, counts.persons).astype(np.float64)
        diversity = np.exp(entropy(counts.start, counts.count, self.estimator))
        if self.estimator == "grassberger":  # the correction must not count values that are not there
            diversity = np.minimum(diversity, counts.distinct)
        diversity = np.where(counts.pairs > counts.size, np.minimum(diversity, 1 / counts.largest_share), diversity)
        # rounded, since three equal shares must be 3-diverse whatever the last bit of the logarithms
        return np.asarray(diversity.round(12), dtype=np.float64)

    def classes(self, table: Table) -> pl.DataFrame:
        """One row per class with its size and diversity; with ``others="quasi"`` one block per sensitive column."""
        import polars as pl

        if self.others == "ignore":
            return super().classes(table)
        blocks = []
        for view, (column,) in self.views(worst_reading(self, table)):
            keys, counts = view.classes.histogram.cells, view.class_counts((column,), in_order=True)
            values = self.worst_scores(counts.of(column))
            blocks.append(
                keys.select(
                    pl.all().cast(pl.String),
                    pl.lit(column).alias("column"),
                    pl.Series("size", counts.size),
                    pl.Series(self.symbol, values),
                )
            )
        return pl.concat(blocks, how="diagonal")

    def views(self, table: Table) -> list[tuple[Table, tuple[str | None, ...]]]:
        """Return the table itself; with ``others="quasi"`` one table per sensitive column, the others as quasi."""
        if self.others == "ignore":
            return [(table, self.counted_columns())]
        columns = table.schema.sensitive
        return [
            (with_quasi_identifiers(table, [other for other in columns if other != column]), (column,))
            for column in table.schema.need_sensitive(self.column)
        ]


def entropy(start: Ints, count: Ints, estimator: Literal["shannon", "grassberger"] = "shannon") -> Floats:
    r"""Return the entropy of the values of each class, in natural units.

    .. math:: H = -\sum_s p_s \ln p_s, \qquad
              H_G = G(N) - \frac1N \sum_s n_s G(n_s), \quad
              G(n) = \psi(n) + \tfrac12 (-1)^n \bigl[\psi(\tfrac{n+1}2) - \psi(\tfrac n2)\bigr]

    The second estimator corrects the bias of small classes (Grassberger 2003, in the form of Stammler,
    Katzenbeisser & Hamacher 2016, where a class of one value has no entropy whatever its size); it may exceed the
    logarithm of the number of values.

    >>> float(entropy(np.array([0, 2]), np.array([2, 1]))[0] / np.log(2))
    0.91829...
    """
    if estimator == "shannon":
        p = shares(start, count)
        return np.abs(class_sums(start, p * np.log(p)))
    size = class_sums(start, count)
    return np.asarray(_g(size) - class_sums(start, count * _g(count)) / size, dtype=np.float64)


def _g(n: NDArray[np.float64] | Ints) -> Floats:
    """Return Grassberger's substitute of the logarithm."""
    from scipy.special import digamma

    unique, place = np.unique(np.asarray(n, dtype=np.float64), return_inverse=True)
    sign = np.where(unique % 2, -1.0, 1.0)
    g = digamma(unique) + 0.5 * sign * (digamma((unique + 1) / 2) - digamma(unique / 2))
    return np.asarray(g[place], dtype=np.float64)


def recursive(start: Ints, count: Ints, c: float, persons: Ints | None = None) -> Ints:
    r"""Return the largest *l* for which each class is recursively (c, l)-diverse; 1 when none above it is.

    .. math:: r_1 < c\,(r_l + r_{l+1} + \dots + r_m), \qquad r_1 \ge r_2 \ge \dots \ge r_m

    Where the ``persons`` of a class have several values, its tail is :math:`n - r_1 - \dots - r_{l-1}`.

    >>> recursive(np.array([0, 2, 5]), np.array([2, 1, 1, 1, 1]), c=3.0).tolist()
    [2, 3]
    """
    classes = len(start) - 1
    if not classes:
        return np.zeros(0, dtype=np.int64)
    owner = np.repeat(np.arange(classes, dtype=np.int64), np.diff(start))
    order = np.lexsort((-count, owner))
    r = count[order]
    first = r[start[:-1]]
    until = np.cumsum(r)
    # what lies from the l-th value on: the class total (its persons) less the sum before it
    before = until - r
    total = np.add.reduceat(r, start[:-1]) if persons is None else persons
    tail = np.repeat(total + before[start[:-1]], np.diff(start)) - before
    fits = np.repeat(first, np.diff(start)) < c * tail
    fits[start[:-1]] = True
    return np.maximum(np.add.reduceat(fits.astype(np.int64), start[:-1]), 1)
