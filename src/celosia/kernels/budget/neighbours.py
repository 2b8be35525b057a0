"""Which data sets are neighbours, and how far a bounded query moves between two of them.

A privacy guarantee means nothing without its neighbouring relation. Two are known here:

``add-remove``
    one data set has the records of one person more (*unbounded*). Distance: the size of the symmetric difference.
``change-one``
    the records of one person are replaced by others (*bounded*): one removal and one addition.

The same noisy histogram costs :math:`\\varepsilon` under the first and :math:`2\\varepsilon` under the second.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from celosia.errors import ParameterError

Neighbours = Literal["add-remove", "change-one"]


@dataclass(frozen=True)
class Sensitivity:
    r"""The most a vector of answers moves between neighbours, in the :math:`L_1` and the :math:`L_2` norm.

    .. math:: \Delta_p = \max_{D \sim D'} \lVert f(D) - f(D') \rVert_p

    >>> Sensitivity(2.0, 1.5).times(3)
    Sensitivity(l1=6.0, l2=4.5)
    """

    l1: float
    l2: float

    def times(self, factor: float) -> Sensitivity:
        """Sensitivity of the answers in another unit."""
        return Sensitivity(self.l1 * factor, self.l2 * factor)


def check_neighbours(neighbours: str) -> Neighbours:
    """Return the relation, or raise for an unknown name.

    >>> check_neighbours("add-remove")
    'add-remove'
    """
    for relation in get_args(Neighbours):
        if neighbours == relation:
            return relation  # type: ignore[no-any-return]
    raise ParameterError(f"neighbours must be 'add-remove' or 'change-one', got {neighbours!r}.")


def distance(first: Iterable[Hashable], second: Iterable[Hashable]) -> int:
    r"""Size of the symmetric difference of two data sets, records counted with multiplicity.

    .. math:: d(D_1, D_2) = |D_1 \setminus D_2| + |D_2 \setminus D_1|

    Neighbours under ``add-remove`` are at distance 1; a replaced record is at distance 2.

    >>> distance(["Nerva", "Trajan"], ["Nerva", "Trajan", "Tiberius"])
    1
    >>> distance(["Nerva", "Vespasian"], ["Nerva", "Tiberius"])
    2
    """
    a, b = Counter(first), Counter(second)
    return (a - b).total() + (b - a).total()


def of_count(neighbours: str = "add-remove", rows: int = 1, cells: int | None = 1) -> Sensitivity:
    r"""Sensitivity of counting, in one cell or in several disjoint ones.

    A person with at most ``rows`` records moves the counts of disjoint cells by at most ``rows`` in total (the
    :math:`L_2` worst case puts them all into one cell). Replacing a person's records moves one count by at most
    ``rows``, but
    a vector of several by :math:`2\,\mathrm{rows}`.

    >>> of_count().l1, of_count(cells=32).l1, of_count("change-one", cells=32).l1
    (1, 1, 2)
    """
    return of_sum(1, 1, neighbours, rows, cells)


def of_sum(
    lower: float, upper: float, neighbours: str = "add-remove", rows: int = 1, cells: int | None = 1
) -> Sensitivity:
    r"""Sensitivity of adding up values that are clamped to ``[lower, upper]``.

    .. math:: \Delta = m \max(|L|, |U|) \quad\text{(add-remove)}, \qquad
              \Delta = m\,(\max(U, 0) - \min(L, 0)) \quad\text{(change-one, one cell)}

    with at most :math:`m` = ``rows`` records a person. Several disjoint cells (``cells`` > 1, or ``None`` when
    their number is unknown)
    double the :math:`L_1` bound under ``change-one``.

    >>> of_sum(17, 90).l1, of_sum(17, 90, "change-one").l1, of_sum(-5, 5, "change-one", cells=2).l1
    (90, 90, 10)
    """
    if rows < 1:
        raise ParameterError(f"a person must be allowed at least one record, got rows = {rows}.")
    if not (math.isfinite(lower) and math.isfinite(upper)) or lower > upper:
        raise ParameterError(f"bounds must be finite with lower <= upper, got [{lower}, {upper}].")
    largest = max(abs(lower), abs(upper)) * rows
    if check_neighbours(neighbours) == "add-remove":
        return Sensitivity(largest, largest)
    if cells == 1:
        span = (max(upper, 0) - min(lower, 0)) * rows
        return Sensitivity(span, span)
    # A person's old records leave some cells and the new ones enter others: the two moves add up. Inside one
    # cell they span
    # max(U, 0) - min(L, 0), which never exceeds 2 max(|L|, |U|); the L2 worst case is the larger of the two shapes.
    span = (max(upper, 0) - min(lower, 0)) * rows
    return Sensitivity(2 * largest, max(math.sqrt(2.0) * largest, span))


def of_persons(neighbours: str = "add-remove", rows: int = 1, cells: int | None = 1) -> Sensitivity:
    r"""Sensitivity of counting distinct persons in each of several cells.

    A person counts once in each of at most :math:`c = \min(\mathrm{rows}, \mathrm{cells})` cells:
    :math:`\Delta_1 = c`,
    :math:`\Delta_2 = \sqrt c`.

    >>> of_persons(rows=10).l1, of_persons(rows=10, cells=4).l1, of_persons(rows=4, cells=9).l2
    (1, 4, 2.0)
    """
    touched = rows if cells is None else min(rows, cells)
    if check_neighbours(neighbours) == "add-remove" or cells == 1:
        return Sensitivity(touched, math.sqrt(touched))
    moved = 2 * touched if cells is None else min(2 * touched, cells)
    return Sensitivity(moved, math.sqrt(moved))
