"""Matching of generalised cells and raw values, by the column's hierarchy or by the text of the cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.cells import OneOf
from celosia.hierarchy.sorted_values import Values
from celosia.hierarchy.values import parse

if TYPE_CHECKING:
    from celosia.hierarchy.levels import Levels
    from celosia.hierarchy.part import Hierarchy

Places = NDArray[np.int64]

_UNCOVERED = "\0"


def matches(
    cells: Sequence[str | None],
    raws: Sequence[str | None],
    hierarchy: Hierarchy | None = None,
    *,
    open_missing: bool = False,
) -> NDArray[np.bool_]:
    """Return the boolean matrix of the cells (rows) that cover the raw values (columns).

    For few cells or few values; :func:`matching_pairs` returns the pairs without the matrix.

    >>> matches(["130**", "1485*", "*"], ["13053", "14853"]).tolist()
    [[True, False], [False, True], [True, True]]
    """
    out = np.zeros((len(cells), len(raws)), dtype=np.bool_)
    out[matching_pairs(cells, raws, hierarchy, open_missing=open_missing)] = True
    return out


def matching_pairs(
    cells: Sequence[str | None],
    raws: Sequence[str | None],
    hierarchy: Hierarchy | None = None,
    *,
    open_missing: bool = False,
) -> tuple[Places, Places]:
    """Return all pairs of a cell and a raw value that it covers, as aligned arrays of positions in order.

    A missing cell covers missing values only, or any value with ``open_missing``. A set covers the values of its
    members, which may be labels of the hierarchy. The values are sorted once and looked up by each cell.

    >>> [places.tolist() for places in matching_pairs(["130**", "1485*", "*"], ["13053", "14853"])]
    [[0, 1, 2, 2], [0, 1, 0, 1]]
    """
    values = Values(raws)
    levels = _levels(raws, hierarchy)
    labelled = [] if levels is None else [_by_label(levels, level) for level in range(1, levels.height + 1)]
    of_cells = []
    for cell in cells:
        if cell is None:
            of_cells.append([values.everything if open_missing else values.missing])
            continue
        read, own = parse(cell), []
        for label in (cell, *(read.members if isinstance(read, OneOf) else ())):
            own.append(values.text(label))
            under = [places[label] for places in labelled if label in places]
            own += under or [values.under(parse(label))]
        of_cells.append(own)
    each = [np.unique(np.concatenate(own)) for own in of_cells]
    rows = np.repeat(np.arange(len(each)), [len(places) for places in each])
    return rows, np.concatenate([np.zeros(0, np.int64), *each])


def compatible(fact: str, cell: str | None, hierarchy: Hierarchy | None = None) -> bool:
    """Return whether a known value, raw or generalised, and a cell can be the same raw value.

    >>> compatible("970**", "97***"), compatible("35", "30-40"), compatible("<30", "30-40")
    (True, True, False)
    """
    if cell is None:
        return False
    if fact == cell or parse(fact).overlaps(parse(cell)):
        return True
    if hierarchy is None:
        return False
    levels = hierarchy.levels([])
    read = parse(fact)
    named = read.members if isinstance(read, OneOf) else (fact,)
    lacking = [name for name in named if levels.level_of(name) < 0]  # values with the label ``fallback``, perhaps
    mine, theirs = matches([fact, cell], [*levels.domain, *lacking], hierarchy)
    return bool((mine & theirs).any())


def _levels(raws: Sequence[str | None], hierarchy: Hierarchy | None) -> Levels | None:
    if hierarchy is None:
        return None
    open_ended = hierarchy.model_copy(update={"fallback": hierarchy.fallback or _UNCOVERED})
    return open_ended.levels(raws)


def _by_label(levels: Levels, level: int) -> dict[str | None, Places]:
    """Return the positions of the values under each label of a level."""
    names = levels.categories(level)
    codes = levels.codes(level)
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return {name: order[ends[at] : ends[at + 1]] for at, name in enumerate(names)}
