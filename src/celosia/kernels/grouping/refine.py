"""Classes of records split by one more column, without those that are unique: a step of the search for uniques."""

from __future__ import annotations

from typing import NamedTuple

from celosia.kernels.arrays import Ints, Small
from celosia.kernels.jit import jit


class Workspace(NamedTuple):
    """Shared by all steps: the ``number`` of each candidate, the ``owner`` of each row, and work arrays."""

    number: Small
    owner: Ints
    single: Ints
    """Candidates that became unique in the last step."""
    bucket: Ints
    holder: Ints
    touched: Ints


@jit()
def refine(
    values: Small, rows: Small, start: Small, classes: int, target: Small, target_start: Small, workspace: Workspace
) -> tuple[int, int]:
    """Split every class by the values of a column; rows with a missing value and unique rows leave the partition.

    Return the number of classes with a candidate and the number of unique candidates, listed in the ``workspace``.
    """
    number, owner, single, bucket, holder, touched = workspace
    out = n_out = n_single = 0
    for c in range(classes):
        first, last = start[c], start[c + 1]
        n_touched = 0
        for k in range(first, last):
            v = values[rows[k]]
            if v >= 0:
                if bucket[v] == 0:
                    touched[n_touched] = v
                    n_touched += 1
                bucket[v] += 1
        if owner.shape[0] > 0:
            _hold(values, rows, first, last, owner, holder, touched[:n_touched])
        # room for the classes of several; who is alone needs none
        for t in range(n_touched):
            v = touched[t]
            size = bucket[v]
            alone = holder[v] >= 0 if owner.shape[0] > 0 else size == 1
            bucket[v] = -1 if alone else n_out
            n_out += 0 if alone else size
        for k in range(first, last):
            r = rows[k]
            v = values[r]
            if v < 0:
                continue
            if bucket[v] >= 0:
                target[bucket[v]] = r
                bucket[v] += 1
            elif number[r] >= 0:
                single[n_single] = number[r]
                n_single += 1
        begin = target_start[out]
        n_out = begin
        for t in range(n_touched):
            end = bucket[touched[t]]
            bucket[touched[t]] = 0
            if end < 0:
                continue
            if _any(number, target, begin, end):
                if n_out != begin:
                    for k in range(begin, end):
                        target[n_out + k - begin] = target[k]
                n_out += end - begin
                out += 1
                target_start[out] = n_out
            begin = end
    return out, n_single


@jit()
def _hold(values: Small, rows: Small, first: int, last: int, owner: Ints, holder: Ints, touched: Ints) -> None:
    """For each value of a class the person who alone has it, -1 where several have."""
    for v in touched:
        holder[v] = -2
    for k in range(first, last):
        v = values[rows[k]]
        if v >= 0:
            own = owner[rows[k]]
            holder[v] = own if holder[v] in (-2, own) else -1


@jit()
def _any(number: Small, rows: Small, begin: int, end: int) -> bool:
    """Whether a class holds a candidate."""
    for k in range(begin, end):  # noqa: SIM110 - compiled code has no generator
        if number[rows[k]] >= 0:
            return True
    return False
