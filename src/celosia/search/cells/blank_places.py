"""Candidate moves of local suppression: which records become alike when which of their cells are blanked.

Patterns are the distinct combinations of codes; a *place* is the pattern that remains when the columns of a
mask are blanked. One grouping per mask finds the patterns that share a place. How blanks count is the reading of
missing values:

- ``category``: a blank is a value. A record that leaves its small class needs ``k`` records at its new place;
  large classes can spare some of theirs.
- ``conservative``: a blanked record may be any complete one that it fits, but protects none of them. It needs
  ``k`` complete records of safe classes, or equally blanked ones.
- ``wildcard``: a blanked record matches all that it fits, in both directions. Taken literally the fewest
  cells are then absurd: ``k - 1`` records that are blank but for the sex would make a whole file "safe". So
  here only records that lack matches lose cells, and each loses one of the cheapest sets that would be enough
  for it alone; among these choices the fewest cells are sought.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from celosia.kernels.search.local_suppression import Moves

Reading = Literal["category", "wildcard", "conservative"]
Ints = NDArray[np.int64]

SLACK = 2.0
"""Extra cost, in cells, up to which a pattern is offered places beyond its cheapest ones (more saves little)."""

WAYS = 64
"""Cheapest sets of columns that are kept for each pattern, where one record can help many."""

PAIRS = 2_000_000
"""Lacking patterns times masks up to which a proof of the fewest cells is tried."""

MASKS = 4096
"""Sets of blanked columns that are tried: all of them up to twelve columns, else the small ones and the full one."""


def row_ids(matrix: NDArray[np.integer]) -> Ints:
    """Return the number of each row among the distinct rows of a matrix of codes (at least -1).

    >>> row_ids(np.array([[0, -1], [1, 0], [0, -1]])).tolist()
    [0, 1, 0]
    """
    ids = np.zeros(len(matrix), np.int64)
    used = 1
    for column in matrix.T:
        size = int(column.max(initial=-1)) + 2
        if used * size >= 2**62:
            ids = np.unique(ids, return_inverse=True)[1].astype(np.int64)
            used = len(ids)
        ids = ids * size + (column + 1)
        used *= size
    if used > 4 * len(ids):
        return np.unique(ids, return_inverse=True)[1].astype(np.int64)
    seen = np.zeros(used, np.bool_)  # few possible rows: counting is faster than sorting
    seen[ids] = True
    return (np.cumsum(seen) - 1)[ids]


def first_positions(ids: Ints) -> Ints:
    """Return the position of the first row with each number of :func:`row_ids`.

    >>> first_positions(np.array([0, 1, 0, 2])).tolist()
    [0, 1, 3]
    """
    first = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    return first


def frequencies(codes: NDArray[np.int32], counts: NDArray[np.number[Any]], reading: Reading) -> NDArray[np.float64]:
    """Return the frequency of each distinct pattern under a reading of blanks."""
    from celosia.kernels.grouping.missing_frequencies import frequencies as compatible

    if reading == "category" or not len(codes):
        return counts.astype(np.float64)
    return compatible(codes, counts.astype(np.float64), reading)


def person_counts(codes: NDArray[np.int32], pattern: Ints, person: Ints, reading: Reading) -> NDArray[np.float64]:
    """Return the number of persons of each distinct pattern, from the distinct pairs of a pattern and a person."""
    from celosia.kernels.grouping.missing_frequencies import person_frequencies

    if reading == "category" or not len(codes):
        return np.bincount(pattern, minlength=len(codes)).astype(np.float64)
    return person_frequencies(codes, pattern, person, reading)


@dataclass(frozen=True)
class Places:
    """Moves of patterns to places as sorted arrays for the kernels: an entry per pattern and place, with its cost."""

    start: Ints
    pattern: Ints
    cost: NDArray[np.float64]
    mask: Ints
    of_pattern: Ints
    place_at: Ints

    @classmethod
    def of(cls, place: Ints, pattern: Ints, cost: NDArray[np.float64], mask: Ints, patterns: int) -> Places:
        """Build from entries in any order: sort by place, index by pattern."""
        order = np.lexsort((pattern, cost, place))
        return cls.of_sorted(place[order], pattern[order], cost[order], mask[order], patterns)

    @classmethod
    def of_sorted(cls, place: Ints, pattern: Ints, cost: NDArray[np.float64], mask: Ints, patterns: int) -> Places:
        """Build from entries in the order of their places, costs and patterns: index by pattern."""
        from celosia.kernels.grouping.group_counts import counting_order

        start = np.concatenate([[0], np.cumsum(np.bincount(place))]).astype(np.int64)
        of_pattern = np.concatenate([[0], np.cumsum(np.bincount(pattern, minlength=patterns))]).astype(np.int64)
        return cls(start, pattern, cost, mask, of_pattern, counting_order(pattern, patterns))

    def as_moves(self) -> Moves:
        """Return the arrays as the kernels take them."""
        from celosia.kernels.search.local_suppression import Moves

        return Moves(self.start, self.pattern, self.cost, self.of_pattern, self.place_at)

    @property
    def place(self) -> Ints:
        """The place of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def masks(
    blocks: Sequence[Sequence[int]], weights: Sequence[float] | NDArray[np.float64], columns: int
) -> NDArray[np.bool_]:
    """List the sets of columns to blank, cheapest first: unions of blocks of linked columns."""
    cost = [sum(weights[j] for j in block) for block in blocks]
    choices = [(sum(cost), tuple(range(len(blocks))))]
    for size in range(1, len(blocks)):
        more = list(itertools.islice(itertools.combinations(range(len(blocks)), size), MASKS + 1))
        if len(choices) + len(more) > MASKS:
            break
        choices += [(sum(cost[b] for b in chosen), chosen) for chosen in more]
    choices.sort(key=lambda pair: (pair[0], len(pair[1])))
    result = np.zeros((len(choices), columns), np.bool_)
    for i, (_, chosen) in enumerate(choices):
        for b in chosen:
            result[i, list(blocks[b])] = True
    return result


@dataclass(frozen=True)
class Task:
    """One problem to solve: distinct patterns (``-1``: blank), their numbers of records, and those that are too rare.

    ``lack`` is the number of matches that each rare pattern is short of, ``k`` the number of records that a place
    needs, ``masks`` the sets of columns that may be blanked and ``weights`` the cost of a cell of each column.
    """

    codes: NDArray[np.int32]
    counts: Ints
    lacking: NDArray[np.bool_]
    lack: Ints
    k: int
    masks: NDArray[np.bool_]
    weights: NDArray[np.float64]
    reading: Reading
    every: bool = True
    """Whether the masks are all sets of columns, not only the small ones."""

    @cached_property
    def allowed(self) -> frozenset[bytes]:
        """The masks, and the one that blanks nothing, to look up."""
        return frozenset(row.tobytes() for row in [*self.masks, np.zeros(self.masks.shape[1], np.bool_)])

    @cached_property
    def blanks(self) -> tuple[NDArray[np.bool_], Ints]:
        """The distinct sets of columns that are blank, and the set of each pattern: there are few of them."""
        blank = self.codes < 0
        ids = row_ids(blank.astype(np.int32))
        return blank[first_positions(ids)], ids

    @cached_property
    def linked_columns(self) -> NDArray[np.bool_]:
        """Whether two columns are in the same masks, because they are linked (columns × columns)."""
        same: NDArray[np.bool_] = (self.masks[:, :, None] == self.masks[:, None, :]).all(axis=0)
        return same

    @property
    def spare(self) -> Ints:
        """Records of each pattern that may join rare ones: a class that is large enough keeps ``k``."""
        if self.reading != "category":
            return np.zeros(len(self.counts), np.int64)
        return np.where(self.lacking, 0, np.maximum(self.counts - self.k, 0))


def target_masks(task: Task) -> NDArray[np.bool_]:
    """Return the masks that patterns can end with, cheapest first: columns to blank and columns already blank."""
    present = np.unique(task.codes[task.lacking] < 0, axis=0)
    unions = np.concatenate([present, *((task.masks | row) for row in present)])
    unions = np.unique(unions, axis=0)
    return unions[np.argsort(unions @ task.weights, kind="stable")]


def reachable(task: Task, mask: NDArray[np.bool_], among: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """Return those of the patterns that can be blanked to the mask, and the cost for each."""
    blank, ids = task.blanks
    more = mask & ~blank
    fits = np.asarray((blank <= mask).all(axis=1))
    if blank.any():  # the rest must be what is left of a set of columns that may be blanked together
        whole = more @ task.linked_columns
        listed = np.array([row.tobytes() in task.allowed for row in whole], np.bool_)
        fits &= (whole <= mask).all(axis=1) & (listed | (mask >= task.masks.any(axis=0)).all())
    own = ids[among]
    chosen = fits[own]
    return among[chosen], (more @ task.weights).astype(np.float64)[own[chosen]]


def wildcard_places(task: Task, ways: float = WAYS) -> tuple[Places, NDArray[np.bool_]]:
    """Return the cheapest places where a rare pattern has enough matches, and which entries are such by themselves.

    The other entries are patterns that would gain a match there.
    """
    from celosia.kernels.grouping.missing_frequencies import frequencies as compatible
    from celosia.kernels.grouping.row_groups import group_rows

    lacking = np.flatnonzero(task.lacking)
    need = np.full(len(task.codes), np.inf)
    proposed = np.zeros(len(task.codes), np.int64)
    full = task.masks.any(axis=0)
    seen = (task.codes[:, full] >= 0).any(axis=1)
    with_blank = np.column_stack([task.codes, row_ids((task.codes < 0).astype(np.int32))]).astype(np.int32)
    parts: list[Entries] = []
    places = 0
    for number, mask in enumerate(target_masks(task)):
        members, cost = reachable(task, mask, lacking)
        open_ = (cost > 0) & (cost <= need[members] + 1e-9) & (proposed[members] < ways)
        if not open_.any():
            if np.isfinite(need[lacking]).all() and (cost > need[members] + 1e-9).all():
                break
            continue
        ids, groups = group_rows(task.codes, np.flatnonzero(~mask))
        if (mask >= full).all():
            enough = np.ones(len(members), np.bool_)
        else:
            total = np.bincount(ids, weights=task.counts * seen, minlength=groups).astype(np.float64)
            first = np.full(groups, -1, np.int64)
            first[ids[::-1]] = np.arange(len(ids))[::-1]
            projected = task.codes[first][:, ~mask]
            enough = compatible(projected, total, "wildcard")[ids[members]] >= task.k
        able = open_ & enough
        if not able.any():
            continue
        need[members[able]] = np.minimum(need[members[able]], cost[able])
        proposed[members[able]] += 1
        # equal on the rest and blank in the same columns: such patterns did not match before and do afterwards
        alike, groups = group_rows(with_blank[members], np.flatnonzero(np.append(~mask, True)))
        used = np.zeros(groups, np.bool_)
        used[alike[able]] = True
        keep = used[alike]
        parts.append(Entries(alike[keep] + places, members[keep], cost[keep], number, able[keep]))
        places += groups
    return _collect_places(parts, len(task.codes), need)


def gathering_places(task: Task, slack: float = SLACK) -> tuple[Places, Ints]:
    """Return the places where rare patterns can gather, with the number of records that each place already holds.

    A pattern is offered the places that can be filled at its least cost, and those that cost up to ``slack``
    cells more. Entries of patterns that are not rare are records that large classes can spare.
    """
    from celosia.kernels.grouping.row_groups import group_rows

    among = np.flatnonzero(task.lacking | (task.spare > 0))
    blank, blank_of = task.blanks
    complete = ~np.asarray(blank.any(axis=1))[blank_of] & ~task.lacking
    full = task.masks.any(axis=0)
    need = np.full(len(task.codes), np.inf)
    slack = slack * float(np.median(task.weights[full]))
    offer = np.where(task.lacking, task.counts, task.spare)
    already = float((blank[np.unique(blank_of[task.lacking])] @ task.weights).max(initial=0.0))
    parts: list[Entries] = []
    base: list[Ints] = []
    places = 0
    for number, mask in enumerate(target_masks(task)):
        if float(mask @ task.weights) - already > need[task.lacking].max() + slack:
            break
        members, cost = reachable(task, mask, among)
        lacks = task.lacking[members] & (cost <= need[members] + slack)
        if not lacks.any():
            continue
        ids, groups = group_rows(task.codes, np.flatnonzero(~mask))
        held = (
            np.asarray((blank == mask).all(axis=1))[blank_of] & ~task.lacking
        )  # already published like this, and not moved
        if task.reading == "conservative":
            held |= complete
        holds = np.bincount(ids, weights=task.counts * held, minlength=groups).astype(np.int64)
        holds[ids[held]] = np.maximum(
            holds[ids[held]], task.k
        )  # a pattern that lacks nothing is enough, however many rows it has
        if task.reading == "conservative" and (mask >= full).all():
            holds[:] = task.k  # no value is observed: it matches every record
        # a class that is to move as a whole does not do so by staying
        moves = (cost > 0) | (task.counts[members] < task.k)
        reach = holds + np.bincount(ids[members], weights=offer[members] * moves, minlength=groups)
        lacks &= moves & (reach[ids[members]] >= task.k)
        if not lacks.any():
            continue
        need[members[lacks]] = np.minimum(need[members[lacks]], cost[lacks])
        here = np.bincount(ids[members[lacks]], weights=task.counts[members[lacks]], minlength=groups)
        lent = ~task.lacking[members] & moves & (here > 0)[ids[members]] & (holds + here < task.k)[ids[members]]
        keep = lacks | lent
        at = ids[members[keep]]
        occurs = np.zeros(groups, np.bool_)
        occurs[at] = True
        used, place = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[at]
        parts.append(Entries(place + places, members[keep], cost[keep], number, np.ones(len(place), np.bool_)))
        base.append(holds[used])
        places += len(used)
    return _collect_places(parts, len(task.codes), need)[0], np.concatenate([np.zeros(0, np.int64), *base])


@dataclass(frozen=True)
class Entries:
    """Patterns that may move to the places of one mask."""

    place: Ints
    pattern: Ints
    cost: NDArray[np.float64]
    mask: int
    able: NDArray[np.bool_]


def _collect_places(
    parts: Sequence[Entries], patterns: int, need: NDArray[np.float64]
) -> tuple[Places, NDArray[np.bool_]]:
    """Combine the entries of all masks; only the cheapest entries of a pattern make it safe by themselves."""
    place = np.concatenate([np.zeros(0, np.int64), *(part.place for part in parts)])
    pattern = np.concatenate([np.zeros(0, np.int64), *(part.pattern for part in parts)])
    cost = np.concatenate([np.zeros(0), *(part.cost for part in parts)])
    mask = np.concatenate([np.zeros(0, np.int64), *(np.full(len(part.place), part.mask) for part in parts)])
    able = np.concatenate([np.zeros(0, np.bool_), *(part.able for part in parts)]) & (cost <= need[pattern] + 1e-9)
    from celosia.kernels.grouping.group_counts import counting_order

    # the entries of a place are together, with rising patterns: a stable sort by cost and place is enough
    order = np.argsort(cost, kind="stable")
    order = order[counting_order(place[order], int(place.max(initial=-1)) + 1)]
    place = np.cumsum(np.diff(place[order], prepend=-1) != 0) - 1
    return Places.of_sorted(place, pattern[order], cost[order], mask[order], patterns), able[order]
