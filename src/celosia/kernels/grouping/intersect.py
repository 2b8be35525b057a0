"""Groups of records in several releases that can be about one person, and the persons that are left in all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from celosia.kernels.arrays import Flags, Ints
from celosia.kernels.jit import jit


class Groups(NamedTuple):
    """Group ``g`` holds the cells ``cells[begin[g]:begin[g + 1]]``; cell ``c`` is one of ``release[c]`` and holds the
    rows ``row_begin[c]:row_begin[c + 1]``.
    """

    begin: Ints
    cells: Ints
    release: Ints
    row_begin: Ints


class Rows(NamedTuple):
    """Unchanged part of each row of the releases as one ``mark``, its ``person`` (numbers of different releases
    differ), and its sensitive ``values`` (-1: absent).
    """

    mark: Ints
    person: Ints
    values: Ints


@jit()
def intersect_releases(
    groups: Groups, rows: Rows, releases: int, marks: int, persons: int
) -> tuple[Ints, Ints, Flags, Flags]:
    """Return for each group of cells of several releases the persons that all of them leave, and each alone leaves.

    Marks lie below ``marks``, persons below ``persons``. A row is left when its mark occurs in every release of the
    group. Returns the fewest persons over the releases among the rows that are left, the fewest over the releases
    without crossing, and for each sensitive column whether one value is left, crossed and in some release alone.
    """
    begin, cells, release, row_begin = groups
    mark, person, values = rows
    count = begin.size - 1
    columns = values.shape[1]
    left = np.zeros(count, np.int64)
    alone = np.zeros(count, np.int64)
    single = np.zeros((count, columns), np.bool_)
    single_alone = np.zeros((count, columns), np.bool_)
    seen = np.full((releases, marks), -1, np.int64)
    times = np.zeros(marks, np.int64)
    stamped = np.full(persons, -1, np.int64)
    counted = np.full(persons, -1, np.int64)
    for g in range(count):
        there = np.zeros(releases, np.bool_)
        size = np.zeros(releases, np.int64)
        for at in range(begin[g], begin[g + 1]):
            cell = cells[at]
            r = release[cell]
            there[r] = True
            for row in range(row_begin[cell], row_begin[cell + 1]):
                if seen[r, mark[row]] != g:
                    seen[r, mark[row]] = g
                    times[mark[row]] += 1
                if counted[person[row]] != g:
                    counted[person[row]] = g
                    size[r] += 1
        need = there.sum()
        kept = np.zeros(releases, np.int64)
        only = np.full((columns, 2), -2, np.int64)  # the one value so far, crossed and in the release at hand
        last = -1
        for at in range(begin[g], begin[g + 1]):
            cell = cells[at]
            r = release[cell]
            if r != last:
                for s in range(columns):
                    if last >= 0 and only[s, 1] >= 0:
                        single_alone[g, s] = True
                    only[s, 1] = -2
                last = r
            for row in range(row_begin[cell], row_begin[cell + 1]):
                stays = times[mark[row]] == need
                if stays and stamped[person[row]] != g:
                    stamped[person[row]] = g
                    kept[r] += 1
                for s in range(columns):
                    v = values[row, s]
                    if v < 0:
                        continue
                    if stays:
                        only[s, 0] = v if only[s, 0] == -2 or only[s, 0] == v else -3
                    only[s, 1] = v if only[s, 1] == -2 or only[s, 1] == v else -3
        for s in range(columns):
            single[g, s] = only[s, 0] >= 0
            if last >= 0 and only[s, 1] >= 0:
                single_alone[g, s] = True
        fewest, most = -1, -1
        for r in range(releases):
            if there[r]:
                if fewest < 0 or kept[r] < fewest:
                    fewest = kept[r]
                if most < 0 or size[r] < most:
                    most = size[r]
        left[g] = max(fewest, 0)
        alone[g] = max(most, 0)
        for at in range(begin[g], begin[g + 1]):
            cell = cells[at]
            for row in range(row_begin[cell], row_begin[cell + 1]):
                times[mark[row]] = 0
    return left, alone, single, single_alone
