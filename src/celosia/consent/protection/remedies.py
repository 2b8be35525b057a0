"""The rule ``inference``: remedies for the columns by which an inference is made, the one with the least loss.

For every blocked inference, the columns that fired are protected, and every other column that predicts them. A remedy
is kept if two numbers of the request hold, measured on the protected table: ``lift``, how much better than guessing an
intruder infers a column about blocking people, and ``advantage``, how well a reader distinguishes who blocks.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NoReturn

import numpy as np

from celosia.classes import STAR
from celosia.consent.protection.intruder import FEWEST_MEASURED, NOTHING, Success, block_advantage, lift
from celosia.consent.protection.tree import Tree
from celosia.errors import RequirementError
from celosia.kernels.statistics.intervals import Z
from celosia.table.columns import declared_persons

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.consent.protection.protection import Design
    from celosia.streams import Stream
    from celosia.table import Table

MAX_BLOCKING_SHARE = 0.5
"""Largest share of blocking data subjects among those whose cells a remedy changes."""
CAMOUFLAGE = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of the others whose cells are changed too: few values, which depend little on single choices."""


@dataclass(frozen=True)
class Remedy:
    """Change of some columns, for those who block and a share of the others."""

    kind: Literal["generalise", "exchange", "suppress", "leave out"]
    columns: tuple[str, ...]
    camouflage: float = 1.0
    level: int = 0

    def data(self) -> dict[str, object]:
        """Return the remedy as plain data, for the certificate."""
        level = {"level": self.level} if self.kind == "generalise" else {}
        return {"remedy": self.kind, "columns": list(self.columns), "camouflage": self.camouflage, **level}


@dataclass(frozen=True, eq=False)
class Guarded:
    """A group of inferences that share columns, with the rows of those who block one of them."""

    inferences: tuple[str, ...]
    columns: tuple[str, ...]
    rows: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Kept:
    """A remedy with the numbers by which it keeps the promise."""

    remedy: Remedy
    treated: NDArray[np.bool_]
    loss: float
    success: Mapping[str, Success]
    advantage: tuple[float, float, float]
    holds: bool = True

    def data(self, inference: str) -> dict[str, object]:
        """Return the measured numbers of an inference as plain data."""
        value, low, high = self.advantage
        return {
            **self.success[inference].data(),
            "advantage": value,
            "advantage_interval": [low, high],
            "loss": self.loss,
        }


@dataclass(frozen=True, eq=False)
class Search:
    """Search for the remedies of one table; ``protect`` gives a table its classes."""

    table: Table
    design: Design
    stream: Stream
    protect: Callable[[Table], Table]
    uniform: bool
    """Whether all classes have the same size, so that a remedy for everybody treats all people alike."""
    external: float

    def run(self, guarded: Sequence[Guarded]) -> tuple[Table, list[Kept]]:
        """Return the table with a remedy for each group; raise if the promise is out of reach."""
        work, kept = self.table, []
        for group in guarded:
            work, remedy = self._remedy(work, group)
            kept.append(remedy)
        protected = self.protect(work)
        if len(kept) > 1:  # later remedies changed other columns of the same table
            kept = [self._judge(remedy, group, protected) for remedy, group in zip(kept, guarded, strict=True)]
        for remedy, group in zip(kept, guarded, strict=True):
            if not remedy.holds:
                self._refuse(group, [remedy])
        return protected, kept

    @functools.cached_property
    def _base(self) -> Table:
        return self.protect(self.table)

    def _remedy(self, work: Table, group: Guarded) -> tuple[Table, Kept]:
        """Return the table under the remedy with the least loss that keeps the promise."""
        columns = tuple(name for name in self.with_predictors(group) if name in work.names)
        while True:
            tried: list[Kept] = []
            for candidate, changed in sorted(self._candidates(work, group, columns), key=lambda pair: pair[0].loss):
                judged = self._judge(candidate, group, self.protect(changed))
                if judged.holds:
                    return changed, judged
                tried.append(judged)
            rest = [name for name in visible(work) if name not in columns]
            if not rest:
                self._refuse(group, tried)
            columns = (*columns, self._strongest(group, rest))

    def with_predictors(self, group: Guarded) -> tuple[str, ...]:
        """Return the columns that fired, with those that predict them better than the promise allows.

        They are measured on all people, so that they do not depend on who blocks.
        """
        columns, tree = [*group.columns], self.design.tree
        if set(columns) & set(tree):
            columns += [name for name in tree if name not in columns]
        everybody = np.ones(len(self.table), np.bool_)
        while rest := [name for name in visible(self.table) if name not in columns]:
            prediction = lift(self.table, self._base, group.columns, everybody, external=self.external, predictors=rest)
            if prediction.lift <= self.design.lift:
                break
            columns.append(self._strongest(group, rest))
        return tuple(columns)

    def _strongest(self, group: Guarded, rest: Sequence[str]) -> str:
        """Return the column that predicts the columns of a group best."""
        everybody = np.ones(len(self.table), np.bool_)

        def strength(name: str) -> float:
            prediction = lift(
                self.table, self._base, group.columns, everybody, external=self.external, predictors=[name]
            )
            return prediction.lift

        return max(rest, key=strength)

    def _candidates(self, work: Table, group: Guarded, columns: tuple[str, ...]) -> Iterator[tuple[Kept, Table]]:
        """Iterate over the remedies, each with its loss and the changed table."""
        quasi, n = set(self.table.schema.quasi), len(work)
        for share in CAMOUFLAGE:
            treated = group.rows | self._hidden(share)
            persons = _persons(work)
            blocking, all_treated = (len(np.unique(persons[mask])) for mask in (group.rows, treated))
            if share < 1 and (all_treated < FEWEST_MEASURED or blocking > MAX_BLOCKING_SHARE * all_treated):
                continue
            source = self._exchange(treated, columns)
            moved = work.replace({name: work.column(name).gather(source) for name in columns})
            differs = [work.column(name).ne_missing(moved.column(name)).to_numpy() for name in columns]
            yield _candidate(Remedy("exchange", columns, share), treated, float(np.mean(differs))), moved
            if not quasi & set(columns) and 1 - share <= self.design.advantage and share < 1:
                # a blank cell names all that are treated: its advantage is exactly the share that is not
                remedy = Remedy("suppress", columns, share)
                yield _candidate(remedy, treated, float(treated.mean())), _blank(work, columns, treated)
        everybody = np.ones(n, np.bool_)
        remedy = Remedy("leave out", columns)
        gone = [name for name in columns if name not in quasi]
        yield _candidate(remedy, everybody, 1.0), _blank(work.drop(gone), [*quasi & set(columns)], everybody)
        places = self.design.tree
        if len(places) > 1 and set(columns) <= set(places):
            tree = Tree.of(work, places)
            for level in range(1, tree.height):
                at = np.full(n, level, np.int64)
                remedy = Remedy("generalise", columns, level=level)
                yield _candidate(remedy, everybody, float(tree.penalties(at).mean())), work.replace(tree.cells(at))

    def _hidden(self, share: float) -> NDArray[np.bool_]:
        """Draw people to treat like those who block: all rows of a person, or none."""
        return self.stream.child("camouflage").uniform(_persons(self.table)) < share

    def _exchange(self, treated: NDArray[np.bool_], columns: Sequence[str]) -> NDArray[np.int64]:
        """Return the row whose cells each row gets: the next one in a random order of those that take part."""
        rows = np.flatnonzero(treated)
        order = rows[np.argsort(self.stream.child("exchange", *columns).uniform(rows.astype(np.int64)))]
        source = np.arange(len(treated))
        source[order] = np.roll(order, 1)
        return source

    def _judge(self, candidate: Kept, group: Guarded, protected: Table) -> Kept:
        """Measure the two numbers of the promise on a protected table."""
        few = group.rows.sum() < FEWEST_MEASURED
        rows = candidate.treated if few else group.rows
        success = lift(self.table, protected, group.columns, rows, external=self.external)
        holds = success.lift <= self.design.lift
        advantage = (0.0, 0.0, 0.0)
        if holds and not (self.uniform and candidate.treated.all()):
            # few choices are too few to measure: a reader finds treated people, of whom the camouflage does not block
            factor = 1 - candidate.remedy.camouflage if few else 1.0
            changed = candidate.remedy.columns
            interval = block_advantage(protected.polars().select(visible(protected)), rows, changed)
            rest = [name for name in visible(self.table) if name not in changed]
            # what other attributes of people say about their choice, whatever is done
            baseline = max(0.0, block_advantage(self.table.polars().select(rest), rows, ())[0]) if rest else 0.0
            advantage = tuple(factor * (value - baseline) for value in interval)  # type: ignore[assignment]
        error = (advantage[2] - advantage[0]) / Z  # one standard error, as few people block
        holds &= advantage[0] + error <= self.design.advantage
        return replace(candidate, success=dict.fromkeys(group.inferences, success), advantage=advantage, holds=holds)

    def _refuse(self, group: Guarded, tried: Sequence[Kept]) -> NoReturn:
        """Raise with the nearest value that a remedy reaches, in steps of five points, which hide single choices."""
        success = min((next(iter(candidate.success.values())).lift for candidate in tried), default=1.0)
        nearest = min(1.0, math.ceil(20 * max(success, 0.0)) / 20)
        names = ", ".join(map(repr, group.inferences))
        if nearest > self.design.lift:
            raise RequirementError(
                f"no remedy for {names} keeps the promise: an intruder infers it {nearest:.0%} better than by "
                f"guessing, and at most {self.design.lift:.0%} is allowed. Leave its columns out of the query, or ask "
                f"for a lift of {nearest:g}."
            )
        advantage = min((candidate.advantage[0] for candidate in tried if candidate.success), default=1.0)
        nearest = min(1.0, math.ceil(20 * max(advantage, 0.0)) / 20)
        raise RequirementError(
            f"every remedy for {names} shows who blocks {nearest:.0%} better than by guessing, and at most "
            f"{self.design.advantage:.0%} is allowed. Ask for an advantage of {nearest:g}, or leave its columns out."
        )


def groups(
    columns: Mapping[str, Sequence[str]], rows: Mapping[str, NDArray[np.bool_]], tree: Sequence[str]
) -> list[Guarded]:
    """Return inferences that share a column as one group; the columns of a tree are one."""
    result: list[Guarded] = []
    for inference, names in columns.items():
        if not names:
            continue
        wide = {*names, *(tree if set(names) & set(tree) else ())}
        near = [g for g in result if wide & {*g.columns, *(tree if set(g.columns) & set(tree) else ())}]
        result = [g for g in result if g not in near]
        mask = np.logical_or.reduce([rows[inference], *(g.rows for g in near)])
        merged = dict.fromkeys([*(name for g in near for name in g.columns), *names])
        result.append(Guarded((*(i for g in near for i in g.inferences), inference), tuple(merged), mask))
    return result


def visible(table: Table) -> list[str]:
    """Return the columns that a release of a table may show: all but those of the owner."""
    hidden = {*table.schema.identifiers, table.schema.person}
    return [name for name in table.names if name not in hidden]


def _candidate(remedy: Remedy, treated: NDArray[np.bool_], loss: float) -> Kept:
    return Kept(remedy, treated, loss, {"": NOTHING}, (0.0, 0.0, 0.0))


def _blank(table: Table, columns: Sequence[str], rows: NDArray[np.bool_]) -> Table:
    import polars as pl

    new = {}
    for name in columns:
        cells = table.column(name).cast(pl.String)
        new[name] = pl.select(pl.when(pl.Series(rows)).then(pl.lit(STAR)).otherwise(cells).alias(name)).to_series()
    return table.replace(new) if new else table


def _persons(table: Table) -> NDArray[np.int64]:
    persons = declared_persons(table)
    return table.ids() if persons is None else persons.astype(np.int64)
