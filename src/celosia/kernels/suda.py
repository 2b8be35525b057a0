"""Minimal sample uniques: the smallest sets of columns on which a record is alone (SUDA).

Column sets are visited in the order of their bit masks, so that every subset comes before its supersets; the
parent of a set is the set without its lowest bit. On the way down a partition of the rows is refined. Two things
keep it small: a record that is alone leaves the partition, since it needs no larger set, and a class without a
candidate (a record that is unique on all columns) is dropped. A set on which a record becomes alone is minimal
unless one found before lies inside it. The classes of the highest column of a set share no record, so they are
searched in parallel.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, ParameterError
from celosia.kernels.compiled import compiled

LARGEST_M = 62  # column sets are bit masks in one signed 64-bit number
MOST_SETS = 1024  # of one record: beyond it the search is exponential and the score says nothing new
MOST_STEPS = 2_000_000_000  # comparisons of sets in one part of the search, some seconds


def minimal_uniques(
    codes: NDArray[np.int32], counts: NDArray[np.int64], max_size: int | None = None, workers: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""Every minimal sample unique of every pattern, as pairs of (pattern, bit mask of columns).

    .. math:: S \in \mathrm{MSU}_i \iff \#\{j: x_{jS} = x_{iS}\} = 1 \text{ and no proper subset of } S \text{ is one}

    A missing value (``-1``) matches nothing and belongs to no MSU. The patterns must be distinct and ``counts``
    says how many records have each. ``max_size`` bounds the number of columns of a set.

    Fails with ParameterError when there are more than 62 columns, and with DataError when records have more than 1024
    sets (many columns and no ``max_size``): their number grows exponentially with the columns.

    References: Manning, Haglin & Keane (2008), A recursive search algorithm for statistical disclosure assessment.

    >>> rows = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    >>> found = minimal_uniques(rows, np.array([2, 1, 1]))
    >>> [(int(i), f"{s:02b}") for i, s in zip(*found)]   # the last column is the left bit
    [(1, '11'), (2, '01')]
    """
    n, m = codes.shape
    if m > LARGEST_M:
        raise ParameterError(f"suda: at most {LARGEST_M} columns, got {m}. Choose the keys an intruder may know.")
    depth = m if max_size is None else min(max_size, m)
    if n == 0 or m == 0 or depth < 1:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # the finest column is the highest bit: half of all sets contain it and start from its small classes
    cardinality = codes.max(axis=0) + 1
    order = np.argsort(cardinality, kind="stable")
    columns = np.ascontiguousarray(codes[:, order].T)
    alone = np.ascontiguousarray(counts, dtype=np.int64) == 1
    found_row: list[NDArray[np.int64]] = []
    found_set: list[NDArray[np.int64]] = []
    known_start = np.zeros(n + 1, np.int64)
    known_set = np.empty(0, np.int64)
    threads = workers or min(8, os.cpu_count() or 1)
    with ThreadPoolExecutor(threads) as pool:
        for top in range(m):
            rows = np.flatnonzero(columns[top] >= 0)
            rows = rows[np.argsort(columns[top, rows], kind="stable")].astype(np.int64)
            blocks = _blocks(columns[top, rows], threads)
            results = pool.map(
                lambda block, rows=rows, top=top, start=known_start, sets=known_set: _search(
                    columns, alone, rows[block[0] : block[1]], top, depth, start, sets
                ),
                blocks,
            )
            for row, mask, complete in results:
                if not complete:
                    raise DataError(
                        f"suda: records have more than {MOST_SETS} minimal sample uniques over {m} columns, or too "
                        "many records have hundreds. Give max_size, such as 3, or use fewer quasi-identifiers."
                    )
                found_row.append(row)
                found_set.append(mask)
            known_start, known_set = _by_row(found_row, found_set, n)
    row = np.concatenate(found_row)
    mask = _restore_columns(np.concatenate(found_set), order)
    position = np.lexsort((mask, row))
    return row[position], mask[position]


def _blocks(values: NDArray[np.int32], threads: int) -> Iterable[tuple[int, int]]:
    """Cut sorted rows into runs of whole classes, a few per thread."""
    n = len(values)
    if n < 20_000 or threads == 1:
        return [(0, n)]
    edges = np.concatenate(([0], np.flatnonzero(np.diff(values)) + 1, [n]))
    wanted = np.linspace(0, n, 4 * threads + 1)
    cuts = np.unique(edges[np.searchsorted(edges, wanted, side="left").clip(0, len(edges) - 1)])
    return [(int(a), int(b)) for a, b in itertools.pairwise(cuts)]


def _by_row(
    rows: list[NDArray[np.int64]], sets: list[NDArray[np.int64]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The known sets of each row, one row's after the other's, and where each row's begin."""
    row = np.concatenate(rows)
    mask = np.concatenate(sets)
    start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=n)))).astype(np.int64)
    return start, mask[np.argsort(row, kind="stable")]


def _restore_columns(mask: NDArray[np.int64], order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Bit masks over the caller's column order."""
    result = np.zeros_like(mask)
    for bit, column in enumerate(order):
        result |= ((mask >> bit) & 1) << np.int64(column)
    return result


@compiled()
def _search(
    columns: NDArray[np.int32],
    alone: NDArray[np.bool_],
    rows: NDArray[np.int64],
    top: int,
    depth: int,
    known_start: NDArray[np.int64],
    known_set: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Minimal uniques whose highest column is ``top`` among rows sorted by that column (whole classes)."""
    n = rows.shape[0]
    levels = min(depth, top + 1)
    widest = 1
    for b in range(top + 1):
        for i in range(n):
            widest = max(widest, columns[b, rows[i]] + 1)
    bucket = np.zeros(widest, dtype=np.int64)
    touched = np.empty(widest, dtype=np.int64)
    # one buffer of rows and class starts per level of the path
    at_rows = np.empty((levels, n), dtype=np.int64)
    at_start = np.empty((levels, n + 1), dtype=np.int64)
    n_classes = np.zeros(levels, dtype=np.int64)
    masks = np.zeros(levels, dtype=np.int64)
    nexts = np.zeros(levels, dtype=np.int64)
    limit = np.zeros(levels, dtype=np.int64)
    # sets found here, chained per row: the newest first
    newest = np.full(alone.shape[0] if n else 0, -1, dtype=np.int64)
    found_row = np.empty(1024, dtype=np.int64)
    found_set = np.empty(1024, dtype=np.int64)
    older = np.empty(1024, dtype=np.int64)
    sets_of = np.zeros(alone.shape[0] if n else 0, dtype=np.int32)
    n_found = 0
    steps = 0

    # level 0: the classes of the top column itself
    mask = np.int64(1) << top
    out = 0
    n_out = 0
    i = 0
    while i < n:
        j = i
        while j < n and columns[top, rows[j]] == columns[top, rows[i]]:
            j += 1
        if j - i == 1:
            r = rows[i]
            if alone[r]:
                found_row[n_found] = r
                found_set[n_found] = mask
                older[n_found] = newest[r]
                newest[r] = n_found
                n_found += 1
                if n_found == found_row.shape[0]:
                    found_row = _doubled(found_row)
                    found_set = _doubled(found_set)
                    older = _doubled(older)
        else:
            any_open = False
            for k in range(i, j):
                at_rows[0, n_out + k - i] = rows[k]
                any_open = any_open or alone[rows[k]]
            if any_open:
                at_start[0, out] = n_out
                out += 1
                n_out += j - i
        i = j
    at_start[0, out] = n_out
    n_classes[0] = out
    masks[0] = mask
    nexts[0] = 0
    limit[0] = top
    level = 0
    while level >= 0:
        b = nexts[level]
        if b >= limit[level] or level + 1 >= levels or n_classes[level] == 0:
            level -= 1
            continue
        nexts[level] += 1
        mask = masks[level] | (np.int64(1) << b)
        out = 0
        n_out = 0
        child = level + 1
        for c in range(n_classes[level]):
            first = at_start[level, c]
            last = at_start[level, c + 1]
            # counting sort of one class by the value of column b; missing values leave the partition
            n_touched = 0
            for k in range(first, last):
                v = columns[b, at_rows[level, k]]
                if v >= 0:
                    if bucket[v] == 0:
                        touched[n_touched] = v
                        n_touched += 1
                    bucket[v] += 1
            base = n_out
            for t in range(n_touched):
                v = touched[t]
                size = bucket[v]
                bucket[v] = base
                base += size
            for k in range(first, last):
                r = at_rows[level, k]
                v = columns[b, r]
                if v >= 0:
                    at_rows[child, bucket[v]] = r
                    bucket[v] += 1
            # bucket[v] is now the end of the class of v; keep classes that still hold a candidate
            begin = n_out
            for t in range(n_touched):
                v = touched[t]
                end = bucket[v]
                bucket[v] = 0
                if end - begin == 1:
                    r = at_rows[child, begin]
                    steps += sets_of[r] + known_start[r + 1] - known_start[r]
                    if alone[r] and not _covered(r, mask, known_start, known_set, newest, found_set, older):
                        found_row[n_found] = r
                        found_set[n_found] = mask
                        older[n_found] = newest[r]
                        newest[r] = n_found
                        n_found += 1
                        sets_of[r] += 1
                        many = sets_of[r] + known_start[r + 1] - known_start[r] > MOST_SETS
                        if many or steps > MOST_STEPS:
                            return found_row[:0].copy(), found_set[:0].copy(), False
                        if n_found == found_row.shape[0]:
                            found_row = _doubled(found_row)
                            found_set = _doubled(found_set)
                            older = _doubled(older)
                else:
                    any_open = False
                    for k in range(begin, end):
                        if alone[at_rows[child, k]]:
                            any_open = True
                            break
                    if any_open:
                        at_start[child, out] = n_out
                        if n_out != begin:
                            for k in range(begin, end):
                                at_rows[child, n_out + k - begin] = at_rows[child, k]
                        out += 1
                        n_out += end - begin
                begin = end
        at_start[child, out] = n_out
        n_classes[child] = out
        if out > 0:
            masks[child] = mask
            nexts[child] = 0
            limit[child] = b
            level = child
    return found_row[:n_found].copy(), found_set[:n_found].copy(), True


@compiled()
def _doubled(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same values with room for as many again."""
    larger = np.empty(2 * values.shape[0], dtype=np.int64)
    larger[: values.shape[0]] = values
    return larger


@compiled()
def _covered(
    r: int,
    mask: int,
    known_start: NDArray[np.int64],
    known_set: NDArray[np.int64],
    newest: NDArray[np.int64],
    found_set: NDArray[np.int64],
    older: NDArray[np.int64],
) -> bool:
    """Whether a set already found for row r lies inside the mask."""
    at = newest[r]
    while at >= 0:
        if found_set[at] & ~mask == 0:
            return True
        at = older[at]
    for k in range(known_start[r], known_start[r + 1]):  # noqa: SIM110 - compiled code has no generator
        if known_set[k] & ~mask == 0:
            return True
    return False
