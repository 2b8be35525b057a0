"""Tables of a report: their cells, and which of their columns are worth showing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

EMPTY = frozenset({"", "—"})


@dataclass(frozen=True)
class Cell:
    """A cell: its text, what stands small below it, and how it looks (``good`` or ``bad``)."""

    text: str
    below: str = ""
    style: str = ""


@dataclass(frozen=True)
class Grid:
    """Headings, rows of cells, and which columns hold numbers."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: frozenset[int] = frozenset()


def grid(headings: Sequence[str], rows: Sequence[Sequence[str | Cell]], numbers: Collection[int] = ()) -> Grid:
    """A table without the columns in which no row says anything.

    >>> table = grid(["measure", "value", "interval"], [["a", "1", "—"], ["b", "2", "—"]], numbers={1})
    >>> table.headings, sorted(table.numbers)
    (('measure', 'value'), [1])
    """
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    telling = [j for j in range(len(headings)) if not rows or any(row[j].text not in EMPTY for row in cells)]
    return Grid(
        tuple(headings[j] for j in telling),
        tuple(tuple(row[j] for j in telling) for row in cells),
        frozenset(i for i, j in enumerate(telling) if j in numbers),
    )
