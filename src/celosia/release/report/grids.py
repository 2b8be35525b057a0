"""Tables of a report, without their empty columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

EMPTY = frozenset({"", "—"})


@dataclass(frozen=True)
class Cell:
    """A cell: its text, a small text below it, and its style (``good`` or ``bad``)."""

    text: str
    below: str = ""
    style: str = ""


@dataclass(frozen=True)
class Grid:
    """Headings, rows of cells, and the positions of numeric columns."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: frozenset[int] = frozenset()


def grid(headings: Sequence[str], rows: Sequence[Sequence[str | Cell]], numbers: Collection[int] = ()) -> Grid:
    """Build a table, without the columns that are empty in every row.

    >>> table = grid(["measure", "value", "interval"], [["a", "1", "—"], ["b", "2", "—"]], numbers={1})
    >>> table.headings, sorted(table.numbers)
    (('measure', 'value'), [1])
    """
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    filled = [j for j in range(len(headings)) if not rows or any(row[j].text not in EMPTY for row in cells)]
    return Grid(
        tuple(headings[j] for j in filled),
        tuple(tuple(row[j] for j in filled) for row in cells),
        frozenset(i for i, j in enumerate(filled) if j in numbers),
    )
