"""The order of the rows of an answer: numbers, then texts, then what is missing; a column may hold all of them."""

from __future__ import annotations

from celosia.gateway.answer import _sortable


def test_rows_are_ordered_whatever_their_cells_hold():
    cells = [None, "b", 3, "a", 1.5, None, True]
    assert sorted(cells, key=_sortable) == [True, 1.5, 3, "a", "b", None, None]
