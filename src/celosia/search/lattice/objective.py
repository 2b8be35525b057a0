r"""Objectives of a search: losses in a form that can be bounded before they are computed.

A loss that can be an objective offers a method ``objective(domain) -> Objective``. There are two forms.

:class:`ColumnObjective` is a loss that adds up over records within each column and is then combined over columns
(domain loss, precision, non-uniform entropy, height, any loss given per level). It is pure data, so the search
evaluates and bounds it without calling back. With :math:`\ell_j` the level of column *j* and :math:`c_{jg}` the
number of suppressed records with generalised value *g* there,

.. math:: x_j = \text{base}_j[\ell_j] + \sum_g c_{jg}\, \text{extra}_j[\ell_j][g]
               + \text{spread}_j \sum_g c_{jg} \log_2 \frac{\sum_h c_{jh}}{c_{jg}},
          \qquad \text{loss} = \text{combine}(x_1, \dots, x_m).

:class:`ClassObjective` is a loss of the classes as a whole (discernibility, average class size, ambiguity,
Kullback–Leibler, majority loss); it is a function of the classes that also returns bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from celosia.classes import STAR
from celosia.classes.counts import ClassCounts, Codes, Counts, Shares, Verdict
from celosia.hierarchy import Levels as Hierarchy
from celosia.hierarchy.values import Everything, parse

if TYPE_CHECKING:
    from celosia.table import Table

Score: TypeAlias = float | tuple[float, ...]
"""A loss; tuples are compared from the left (the rank aggregate)."""
Additive: TypeAlias = tuple[Callable[[Shares], Shares], Callable[[float], float]]
"""The terms of a sum over columns, from the columns' sums (…, m), and the loss as a rising function of that sum."""
SUM: Additive = (lambda x: x, float)
MEAN: Additive = (lambda x: x / x.shape[-1], float)


@dataclass(frozen=True, eq=False)
class LevelMaps:
    """The input of an objective: hierarchies as integer maps, and the frequency of every value.

    ``maps[j][level][value]`` is the code of the generalised value; level 0 is the identity. Values may be the rows
    of the hierarchy, or only those that occur; shares of the domain count hierarchy rows (``rows``) either way.

    >>> d = LevelMaps(("sex",), ((np.array([0, 1], np.int32), np.array([0, 0], np.int32)),), (np.array([3, 1]),))
    >>> d.n, d.height(0), d.share(0, 0).tolist(), d.share(0, 1).tolist(), d.frequency(0, 1).tolist()
    (4, 1, [0.5, 0.5], [1.0], [4])
    """

    names: tuple[str, ...]
    maps: tuple[tuple[Codes, ...], ...]
    counts: tuple[Counts, ...]
    """``counts[j][value]``: records of the input table with the value."""
    weights: Shares | None = None
    """The importance of each column (1 unless given), for losses that know weights."""
    rows: tuple[tuple[Counts, ...], ...] | None = None
    """``rows[j][level][code]``: hierarchy rows under the generalised value; those of ``maps`` unless given."""
    sizes: tuple[int, ...] | None = None
    """Hierarchy rows of each column; the number of its values unless given."""
    hierarchies: tuple[Hierarchy, ...] | None = None
    """The hierarchies themselves, where labels matter."""
    suppressed_before: int = 0
    """Records that an earlier step suppressed: they count as lost at every node."""
    table: Table | None = None
    """The encoded table, for a loss that needs the schema."""

    @cached_property
    def n(self) -> int:
        """The number of records, with those that an earlier step suppressed."""
        return self.searched + self.suppressed_before

    @cached_property
    def searched(self) -> int:
        """The number of records that take part."""
        return int(self.counts[0].sum()) if self.counts else 0

    def __len__(self) -> int:
        return len(self.names)

    @property
    def importance(self) -> Shares:
        """The weight of each column."""
        return np.ones(len(self)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)

    def height(self, j: int) -> int:
        """Return the highest level of column *j*."""
        return len(self.maps[j]) - 1

    def size(self, j: int) -> int:
        """Return the size of the domain of column *j*: the rows of its hierarchy."""
        return len(self.maps[j][0]) if self.sizes is None else self.sizes[j]

    def values(self, j: int) -> int:
        """Return the number of values of column *j* that are coded."""
        return len(self.maps[j][0])

    def width(self, j: int, level: int) -> int:
        """Return the number of generalised values of column *j* at a level."""
        codes = self.maps[j][level]
        return int(codes.max()) + 1 if len(codes) else 0

    def share(self, j: int, level: int) -> Shares:
        """Return for each generalised value, the share of the domain (hierarchy rows) that it covers."""
        rows = np.bincount(self.maps[j][level]) if self.rows is None else self.rows[j][level]
        return np.asarray(rows / max(1, self.size(j)), dtype=np.float64)

    def heights(self, j: int, level: int) -> Shares:
        """Return for each generalised value, the level at which it stands: the lowest that has its label."""
        if self.hierarchies is None:
            return np.full(self.width(j, level), float(level))
        return self.hierarchies[j].heights_of(self.labels(j, level)).astype(np.float64)

    def stars(self, j: int, level: int) -> Shares:
        """Return 1 for each generalised value that covers the whole domain, 0 for the others."""
        if self.hierarchies is None:
            return np.full(self.width(j, level), float(level > 0 and self.width(j, level) == 1))
        labels = self.labels(j, level)
        return np.array([label is not None and isinstance(parse(label), Everything) for label in labels], np.float64)

    def is_star(self, j: int, level: int) -> Verdict:
        """Return whether each generalised value is ``*``, as in a suppressed record."""
        if self.hierarchies is None or STAR not in self.hierarchies[j].categories(level):
            return np.zeros(self.width(j, level), dtype=np.bool_)
        return np.array([label == STAR for label in self.labels(j, level)])

    def labels(self, j: int, level: int) -> list[str | None]:
        """Return the label of each generalised value."""
        assert self.hierarchies is not None
        labels = np.empty(self.width(j, level), dtype=object)
        labels[self.maps[j][level]] = self.hierarchies[j].labels(level)
        return list(labels)

    def frequency(self, j: int, level: int) -> Counts:
        """Return for each generalised value, the number of records that have it."""
        width = self.width(j, level)
        return np.bincount(self.maps[j][level], weights=self.counts[j], minlength=width).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ColumnObjective:
    """A loss that is a sum over records in each column; see the formula above.

    ``base[j]`` has one number per level; ``extra[j][level]`` one per generalised value (what one suppressed record
    of that value adds, at least 0, and not less at a finer level), or ``extra`` is ``None``; ``spread[j]`` is at
    least 0. ``combine`` takes an array (…, m) to an array (…) and must not fall when one of its arguments rises.
    With ``ranked`` it gives (…, q) instead, and scores are compared from the left.

    With ``monotone`` no ``base[j]`` falls with the level; the search is slower, and still right, without.
    """

    base: tuple[Shares, ...]
    combine: Callable[[Shares], Shares]
    extra: tuple[tuple[Shares, ...], ...] | None = None
    spread: Shares | None = None
    digits: int | None = None
    """Round each column's sum to so many digits before it is combined."""
    monotone: bool = True
    ranked: bool = False
    additive: Additive | None = None
    """The combination as a function of a sum over columns, where it is one. Then the nodes that were refused give a
    bound together (:mod:`celosia.search.lattice.anytime`)."""
    weighted: bool = False
    """Whether ``combine`` applies the domain's weights itself; otherwise they multiply the columns' sums."""
    kept_loss: tuple[tuple[Shares, ...], ...] | None = None
    """``kept_loss[j][level][value]``: loss of a kept record of that value. Where a requirement on the whole file
    demands suppression, classes are suppressed by :math:`\\sum_j \\log(1 + |c|\\,kept\\_loss_j)`, the least first;
    else by size."""

    def value(self, sums: Shares) -> Shares:
        """Combine columns' sums (…, m) to scores (…, q); q is 1 unless ranked."""
        x = sums if self.digits is None else np.round(sums, self.digits)
        combined = np.asarray(self.combine(x), dtype=np.float64)
        return combined if self.ranked else combined[..., None]


class Measures(NamedTuple):
    """Loss of a node and bounds for finer and coarser ones (see :class:`ClassObjective`)."""

    score: float
    floor: float = -np.inf
    gap: float = 0.0
    ceiling: float = -np.inf


@dataclass(frozen=True, eq=False)
class ClassObjective:
    """A loss of the classes as a whole.

    ``measure(classes, kept, certain)`` gives up to four numbers at once, since they share most of their work. The
    first is the loss when the classes where ``kept`` is false are suppressed; each of the others is a promise that
    lets the search close nodes without evaluating them.

    - ``floor`` bounds the score of this node *and of every coarser one*, whatever is suppressed there
      (``classes.least`` is the size that a kept class has at least).
    - ``gap`` may be added to ``columns`` (and, with ``gap_adds``, to the ``floor`` of any finer node) at this node
      *and at every finer one*, given that the classes where ``certain`` is true are suppressed there.
    - ``ceiling`` bounds the score of this node and of every finer one, given the same.

    ``columns`` bounds the score of every node from below by a loss that adds up over columns; it is free, so a close
    one saves most of the work.
    """

    measure: Callable[[ClassCounts, Verdict, Verdict], Measures]
    columns: ColumnObjective | None = None
    needs: tuple[str, ...] = ()
    """Further columns to count per class (the target of a majority loss)."""
    gap_adds: bool = True
    codes: bool = True
    """Whether it reads ``classes.codes``, which need not be unpacked otherwise."""
    squares: bool = False
    """Whether it reads ``classes.squares``."""
    whole: bool = False
    """Whether the measure is always a whole number: bounds are then rounded up."""
    scale: Callable[[float], float] | None = None
    """Rising function from the measure to the loss, where the measure is on another scale so that bounds add up."""
    fit_scale: Callable[[ClassCounts], Callable[[float], float]] | None = None
    """Builds ``scale`` from the classes at the finest node, where it depends on the data."""

    @classmethod
    def of(
        cls,
        score: Callable[[ClassCounts, Verdict], float],
        *,
        floor: Callable[[ClassCounts], float] = lambda _: -np.inf,
        gap: Callable[[ClassCounts, Verdict], float] = lambda *_: 0.0,
        columns: ColumnObjective | None = None,
        needs: tuple[str, ...] = (),
        gap_adds: bool = True,
        squares: bool = False,
    ) -> ClassObjective:
        """Build an objective from separate functions, which share no work."""

        def measure(classes: ClassCounts, kept: Verdict, certain: Verdict) -> Measures:
            return Measures(float(score(classes, kept)), float(floor(classes)), float(gap(classes, certain)))

        return cls(measure, columns, needs, gap_adds, squares=squares)

    def loss(self, measured: float) -> float:
        """Return the loss of a measured score or bound."""
        return measured if self.scale is None or not np.isfinite(measured) else float(self.scale(measured))

    def score(self, classes: ClassCounts, kept: Verdict) -> float:
        """Return the loss when some classes are kept."""
        return self.loss(self.measure(classes, kept, ~kept).score)

    def floor(self, classes: ClassCounts) -> float:
        """Return the least loss of this node and of every coarser one."""
        nothing = np.zeros(len(classes), dtype=bool)
        return self.loss(self.measure(classes, ~nothing, nothing).floor)


Objective: TypeAlias = ColumnObjective | ClassObjective


def per_cell(
    domain: LevelMaps,
    cell: Callable[[int, int], Shares],
    combine: Callable[..., Shares],
    top: Callable[[int], float] = lambda _: 1.0,
    additive: Additive | None = None,
) -> ColumnObjective:
    """Build the objective that combines the mean of a number per cell over the columns.

    ``cell(j, level)`` returns one number per generalised value.

    A suppressed record has the number ``top`` of the column, which no cell exceeds.
    """
    base, extra = [], []
    for j in range(len(domain)):
        cells = [cell(j, level) for level in range(domain.height(j) + 1)]
        sums = [
            domain.frequency(j, level) @ each + domain.suppressed_before * top(j) for level, each in enumerate(cells)
        ]
        base.append(np.array(sums) / max(1, domain.n))
        extra.append(tuple((top(j) - each) / max(1, domain.n) for each in cells))
    rising = all(bool((np.diff(sums) >= 0).all()) for sums in base)
    ways: dict[Callable[..., Shares], Additive] = {np.sum: SUM, np.mean: MEAN}
    return ColumnObjective(
        tuple(base),
        lambda x: np.asarray(combine(x, axis=-1)),
        tuple(extra),
        monotone=rising,
        additive=additive or ways.get(combine),
    )


def cell_numbers(numbers: Sequence[Sequence[Shares]]) -> Callable[[ClassCounts], tuple[Codes, Counts, Shares]]:
    """Store numbers given by column, level and value in one array.

    Returns a function from classes to their codes, the offset of each column in the array, and the array.

    >>> cells = cell_numbers([[np.array([1.0, 2.0]), np.array([3.0])], [np.array([4.0])]])
    >>> classes = ClassCounts(np.array([5]), codes=np.array([[1, 0]], dtype=np.int32), levels=(0, 0))
    >>> codes, start, flat = cells(classes)
    >>> flat[start + codes[:, 0]].tolist()
    [2.0, 4.0]
    """
    ends = np.cumsum([len(by_value) for by_level in numbers for by_value in by_level]).tolist()
    places = iter([0, *ends])
    start = [[next(places) for _ in by_level] for by_level in numbers]
    flat = np.concatenate([by_value for by_level in numbers for by_value in by_level])

    def cells(classes: ClassCounts) -> tuple[Codes, Counts, Shares]:
        assert classes.codes is not None
        assert classes.levels is not None
        here = np.array([at[level] for at, level in zip(start, classes.levels, strict=True)], dtype=np.int64)
        return np.ascontiguousarray(classes.codes.T), here, flat

    return cells
