"""Minimal sample uniques: the smallest sets of columns on which a record is unique (SUDA).

Column sets are visited in the order of their bit masks, so that every subset comes before its supersets; the parent of
a set is the set without its lowest bit. On the way down a partition of the rows is refined. A record is unique in a
class whose rows all belong to its person (without persons, in a class of one record). Three facts bound the work: a
unique record leaves the partition, since it needs no larger set; a class without a candidate (a record that is unique
on all columns) is dropped; and only one bit per record and set is stored, which marks the records that become unique
there. These bits decide whether a set is minimal. Let a record become unique on S, with lowest bit b. It is not unique
on the parent of S, so if it is unique on S without c, for another c in S, then it became unique exactly there, because
the parent of that set lies inside the parent of S. So the bits of |S| - 1 sets suffice, however many sets a record has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.errors import ParameterError
from celosia.kernels.arrays import Floats, Ints, Small
from celosia.kernels.grouping.refine import Workspace, refine
from celosia.kernels.jit import jit


@jit()
def rows_inside(
    mask: int, lowest: int, key: NDArray[np.int64], row: NDArray[np.int64], inside: NDArray[np.int64]
) -> int:
    """Write the positions of the sets that lack one column of the mask, but not the lowest; return their number."""
    count = 0
    rest = mask ^ (1 << lowest)
    while rest:
        bit = rest & -rest
        at = place_of(key, mask ^ bit)
        if key[at] >= 0:
            inside[count] = row[at]
            count += 1
        rest ^= bit
    return count


@jit()
def place_of(key: NDArray[np.int64], mask: int | np.int64) -> int:
    """Return the place of a mask in the table of places, or the free one where it belongs."""
    size = key.shape[0]
    mixed = ((mask ^ (mask >> 31)) & 0x7FFFFFFF) * 40503  # stays below 2^47
    place = (mixed ^ (mixed >> 17)) & (size - 1)
    while key[place] >= 0 and key[place] != mask:
        place = (place + 1) & (size - 1)
    return int(place)


@jit()
def grow(key: NDArray[np.int64], row: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the table of places with twice the room."""
    new_key = np.full(2 * key.shape[0], -1, np.int64)
    new_row = np.empty(2 * key.shape[0], np.int64)
    for i in range(key.shape[0]):
        if key[i] >= 0:
            at = place_of(new_key, key[i])
            new_key[at] = key[i]
            new_row[at] = row[i]
    return new_key, new_row


LARGEST_M = 62  # column sets are bit masks in one signed 64-bit number
MOST_STEPS = 3_000_000_000  # rows refined, about a minute of CPU
MOST_BITS = 1 << 33  # stored at a time, one gigabyte; candidates that need more are searched in two batches
SET_STEPS = 64  # cost of a set, in rows
COMPLETE, TOO_LONG, TOO_LARGE = 0, 1, 2


class Uniques(NamedTuple):
    """Sums over the minimal sample uniques of each pattern."""

    score: Floats
    """Sum of the points of its sets, which depend on their size."""
    parts: Floats
    """Patterns × columns: the points of the sets that contain the column."""
    sets: Ints
    smallest: Ints
    """Columns of the smallest set; 0 without one."""
    pairs: Ints
    """Pattern and bit mask of every set, on request."""
    size: int
    """Size of the largest sets that were searched."""


def unique_scores(
    codes: Small,
    counts: Ints,
    points: Sequence[float],
    max_size: int | None = None,
    person: Ints | None = None,
    *,
    keep: bool = False,
    most_steps: int = MOST_STEPS,
) -> Uniques:
    r"""Sum up the minimal sample uniques of every pattern; a set of s columns is worth ``points[s]``.

    .. math:: S \in \mathrm{MSU}_i \iff \#\{j: x_{jS} = x_{iS}\} = 1 \text{ and no proper subset of } S \text{ is one}

    A missing value (``-1``) matches nothing and belongs to no MSU. The patterns must be distinct and ``counts`` says
    how many records (persons) have each. ``person`` says whose pattern it is where only one person has it: rows of
    the same person do not keep each other from being alone. ``max_size`` bounds the number of columns of a set.
    Without it sets of every size are looked for; where that is too much work (their number can grow exponentially
    with the columns) the sizes up to the largest that is not: ``size`` in the result tells. The limit counts steps,
    not seconds, so the result does not depend on the machine.

    Fails with ParameterError when there are more than 62 columns, or when ``max_size`` itself is too much.

    References: Manning, Haglin & Keane (2008), A recursive search algorithm for statistical disclosure assessment.

    >>> rows = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    >>> uniques = unique_scores(rows, np.array([2, 1, 1]), [0, 1, 1], keep=True)
    >>> [(int(i), f"{s:02b}") for i, s in uniques.pairs]   # the last column is the left bit
    [(1, '11'), (2, '01')]
    """
    n, m = codes.shape
    if m > LARGEST_M:
        raise ParameterError(f"suda: at most {LARGEST_M} columns, got {m}. Choose the keys an intruder may know.")
    # the finest column is the highest bit: half of all sets contain it and start from its small classes
    order = np.argsort(codes.max(axis=0, initial=-1), kind="stable")
    columns = np.ascontiguousarray(codes[:, order].T)
    single = np.asarray(counts) == 1
    # none without persons: the size of a class then tells who is alone, in two thirds of the time
    owner = np.zeros(0, np.int64) if person is None else np.where(single, person, -1)
    candidates = np.flatnonzero(single)
    if m:  # neighbours in the finest column meet in the same classes, so that they take the same branch
        candidates = candidates[np.argsort(columns[-1, candidates], kind="stable")]
    worth = np.asarray(points, dtype=np.float64)

    size = m if max_size is None else min(max_size, m)
    batches = _in_batches(columns, owner, candidates, size, worth, keep, most_steps)
    if batches is None and max_size is not None:
        raise ParameterError(
            f"suda: the sets of up to {max_size} of {m} columns are too many to search in {n} patterns. "
            "Give a smaller max_size, such as 3, or use fewer quasi-identifiers."
        )
    if batches is None:
        size, batches = _deepest(columns, owner, candidates, worth, keep, most_steps)
    return _combine(batches, order, n, m, size)


class _Batch(NamedTuple):
    """Result of a search over some candidates, and how it ended."""

    score: Floats
    parts: Floats
    sets: Ints
    smallest: Ints
    pairs: Ints
    steps: int
    end: int


Batches = list[tuple[Ints, _Batch]]


def _deepest(
    columns: Small, owner: Ints, candidates: Ints, points: Floats, keep: bool, most_steps: int
) -> tuple[int, Batches]:
    """Return the largest size of sets that can be searched within the steps, and the result."""
    size, batches = 0, _in_batches(columns, owner, candidates, 0, points, keep, most_steps)
    while size < len(columns) and most_steps > 0:
        deeper = _in_batches(columns, owner, candidates, size + 1, points, keep, most_steps)
        if deeper is None:
            break
        most_steps -= sum(batch.steps for _, batch in deeper)
        size, batches = size + 1, deeper
    return size, batches or []


def _in_batches(
    columns: Small,
    owner: Ints,
    candidates: Ints,
    size: int,
    points: Floats,
    keep: bool,
    most_steps: int,
    most_bits: int = MOST_BITS,
) -> Batches | None:
    """Search all candidates at once, or in halves if that needs too much memory; None if it takes too long."""
    done = []
    waiting = [candidates]
    while waiting:
        chosen = waiting.pop()
        batch = _Batch(*_search(columns, owner, chosen, size, points, keep, most_steps, most_bits))
        most_steps -= batch.steps
        if batch.end == TOO_LONG or (batch.end == TOO_LARGE and len(chosen) < 2):
            return None
        if batch.end == TOO_LARGE:
            waiting += np.array_split(chosen, 2)
        else:
            done.append((chosen, batch))
    return done


def _combine(batches: Batches, order: NDArray[np.intp], n: int, m: int, size: int) -> Uniques:
    """Combine the results, with patterns and columns in the caller's order."""
    score, sets, smallest = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
    parts = np.zeros((n, m))
    pairs = []
    for rows, batch in batches:
        score[rows], sets[rows], smallest[rows] = batch.score, batch.sets, batch.smallest
        parts[rows[:, None], order[None, :]] = batch.parts
        pairs.append(np.column_stack([rows[batch.pairs[:, 0]], _restore_columns(batch.pairs[:, 1], order)]))
    listed = np.concatenate(pairs) if pairs else np.empty((0, 2), np.int64)
    return Uniques(score, parts, sets, smallest, listed[np.lexsort((listed[:, 1], listed[:, 0]))], size)


def _restore_columns(mask: Ints, order: NDArray[np.intp]) -> Ints:
    """Return bit masks over the caller's column order."""
    result = np.zeros_like(mask)
    for bit, column in enumerate(order):
        result |= ((mask >> bit) & 1) << np.int64(column)
    return result


@jit()
def _search(
    columns: Small,
    owner: Ints,
    candidates: Ints,
    depth: int,
    points: Floats,
    keep: bool,
    most_steps: int,
    most_bits: int,
) -> tuple[Floats, Floats, Ints, Ints, Ints, int, int]:
    """Return the minimal uniques of the candidates by a walk over all sets of at most ``depth`` columns."""
    m, n = columns.shape
    number = np.full(n, -1, np.int32)
    number[candidates] = np.arange(candidates.shape[0]).astype(np.int32)
    score = np.zeros(candidates.shape[0])
    parts = np.zeros((candidates.shape[0], m))
    sets = np.zeros(candidates.shape[0], np.int64)
    smallest = np.zeros(candidates.shape[0], np.int64)
    pairs = np.empty((1024 if keep else 1, 2), np.int64)
    n_pairs = 0
    # one bit per candidate for every set on which some become alone; where the bits of a set are, by its mask
    words = (candidates.shape[0] + 63) >> 6
    alone = np.zeros((64, words), np.uint64)
    used = 0
    place_key = np.full(256, -1, np.int64)
    place_row = np.empty(256, np.int64)
    inside = np.empty(m + 1, np.int64)
    # one buffer of rows and class starts per level of the path; level 0 is one class of all rows
    at_rows = np.empty((depth + 1, n), np.int32)
    at_start = np.zeros((depth + 1, n // 2 + 2), np.int32)
    n_classes = np.zeros(depth + 1, np.int64)
    masks = np.zeros(depth + 1, np.int64)
    nexts = np.zeros(depth + 1, np.int64)
    limit = np.zeros(depth + 1, np.int64)
    at_rows[0] = np.arange(n)
    at_start[0, 1] = n
    n_classes[0] = 1 if candidates.shape[0] > 0 else 0
    limit[0] = m
    widest = 1
    for b in range(m):
        for i in range(n):
            widest = max(widest, columns[b, i] + 1)
    bucket = np.zeros(widest, np.int64)
    holder = np.empty(widest, np.int64)
    touched = np.empty(min(widest, n) + 1, np.int64)
    single = np.empty(n, np.int64)
    workspace = Workspace(number, owner, single, bucket, holder, touched)
    steps = 0
    level = 0
    while level >= 0:
        b = nexts[level]
        if b >= limit[level] or level >= depth or n_classes[level] == 0:
            level -= 1
            continue
        nexts[level] += 1
        child = level + 1
        mask = masks[level] | (np.int64(1) << b)
        steps += int(at_start[level, n_classes[level]]) + SET_STEPS
        n_classes[child], n_single = refine(
            columns[b], at_rows[level], at_start[level], n_classes[level], at_rows[child], at_start[child], workspace
        )
        if n_single > 0:
            n_inside = rows_inside(mask, b, place_key, place_row, inside)
            row = -1
            if child < depth:  # sets of the largest size have no supersets that would ask
                if used == alone.shape[0]:
                    if 128 * used * words > most_bits:
                        return score, parts, sets, smallest, pairs[:0], steps, TOO_LARGE
                    alone = _double(alone)
                row = used
                used += 1
                if 2 * used > place_key.shape[0]:
                    place_key, place_row = grow(place_key, place_row)
                at = place_of(place_key, mask)
                place_key[at], place_row[at] = mask, row
            n_minimal = _keep_minimal(single, n_single, alone, inside, n_inside, row)
            for i in range(n_minimal):
                r = single[i]
                score[r] += points[child]
                sets[r] += 1
                smallest[r] = child if smallest[r] == 0 else min(smallest[r], child)
                for j in range(b, m):
                    if (mask >> j) & 1:
                        parts[r, j] += points[child]
            if keep:
                while n_pairs + n_minimal > pairs.shape[0]:
                    pairs = _double(pairs)
                pairs[n_pairs : n_pairs + n_minimal, 0] = single[:n_minimal]
                pairs[n_pairs : n_pairs + n_minimal, 1] = mask
                n_pairs += n_minimal
        if steps > most_steps:
            return score, parts, sets, smallest, pairs[:0], steps, TOO_LONG
        if n_classes[child] > 0:
            masks[child] = mask
            nexts[child] = 0
            limit[child] = b
            level = child
    return score, parts, sets, smallest, pairs[:n_pairs].copy(), steps, COMPLETE


@jit()
def _keep_minimal(single: Ints, n_single: int, alone: NDArray[np.uint64], inside: Ints, n_inside: int, row: int) -> int:
    """Note who is alone on a set, and move to the front those who are on none of the sets inside it."""
    kept = 0
    for i in range(n_single):
        r = single[i]
        word, bit = r >> 6, np.uint64(1) << np.uint64(r & 63)
        if row >= 0:
            alone[row, word] |= bit
        minimal = True
        for k in range(n_inside):
            if alone[inside[k], word] & bit:
                minimal = False
                break
        if minimal:
            single[kept] = r
            kept += 1
    return kept


@jit()
def _double(values: NDArray[Any]) -> NDArray[Any]:
    """Return the rows with zeros appended for as many again."""
    larger = np.zeros((2 * values.shape[0], values.shape[1]), values.dtype)
    larger[: values.shape[0]] = values
    return larger
