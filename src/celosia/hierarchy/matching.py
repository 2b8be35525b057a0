"""Which raw values a generalised cell can stand for: through the column's hierarchy, else by what the cell says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.cells import Everything, Generalised, Interval, OneOf, number
from celosia.hierarchy.values import parse

if TYPE_CHECKING:
    from celosia.hierarchy.levels import Levels
    from celosia.hierarchy.part import Hierarchy

_UNCOVERED = "\0"


def matches(
    cells: Sequence[str | None],
    raws: Sequence[str | None],
    hierarchy: Hierarchy | None = None,
    *,
    open_missing: bool = False,
) -> NDArray[np.bool_]:
    """For each cell (row) and raw value (column) whether the cell can stand for the value.

    A missing cell stands for a missing value only, or for anything with ``open_missing``. A set stands for what its
    members stand for, which may be labels of the hierarchy.

    >>> matches(["130**", "1485*", "*"], ["13053", "14853"]).tolist()
    [[True, False], [False, True], [True, True]]
    """
    out = np.zeros((len(cells), len(raws)), dtype=np.bool_)
    place = {raw: at for at, raw in enumerate(raws)}
    levels = _levels(raws, hierarchy)
    numbers = np.array([np.nan if raw is None or (x := number(raw)) is None else x for raw in raws])
    for row, cell in enumerate(cells):
        if cell is None:
            out[row] = [raw is None or open_missing for raw in raws]
            continue
        read = parse(cell)
        for label in (cell, *(read.members if isinstance(read, OneOf) else ())):
            if label in place:
                out[row, place[label]] = True
            has_level = levels is not None and _by_level(levels, label, out[row])
            if not has_level:
                _by_notation(parse(label), raws, numbers, out[row])
    return out


def compatible(fact: str, cell: str | None, hierarchy: Hierarchy | None = None) -> bool:
    """Whether a known fact, raw or generalised, and a cell can be about the same raw value.

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
    lacking = [name for name in named if levels.level_of(name) < 0]  # may be values that fall back to a label
    mine, theirs = matches([fact, cell], [*levels.domain, *lacking], hierarchy)
    return bool((mine & theirs).any())


def _levels(raws: Sequence[str | None], hierarchy: Hierarchy | None) -> Levels | None:
    if hierarchy is None:
        return None
    open_ended = hierarchy.model_copy(update={"fallback": hierarchy.fallback or _UNCOVERED})
    return open_ended.levels(raws)


def _by_level(levels: Levels, cell: str, row: NDArray[np.bool_]) -> bool:
    """Mark the values under a label; False when no level has it."""
    marked = False
    for level in range(1, levels.height + 1):
        names = levels.categories(level)
        if cell in names:
            row |= levels.codes(level) == names.index(cell)
            marked = True
    return marked


def _by_notation(
    cell: Generalised, raws: Sequence[str | None], numbers: NDArray[np.float64], row: NDArray[np.bool_]
) -> None:
    if isinstance(cell, Everything):
        row[:] = True
    elif isinstance(cell, Interval) and not cell.textual:
        low, high = float(cell.low), float(cell.high)
        above = (numbers >= low) if cell.low_closed else (numbers > low)
        row |= above & ((numbers <= high) if cell.high_closed else (numbers < high))
    else:
        row |= np.array([raw is not None and cell.covers(raw) for raw in raws], dtype=np.bool_)
