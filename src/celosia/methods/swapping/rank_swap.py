"""Rank swapping: exchange values with values of near rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError
from celosia.methods.bases.by_rows import EXCHANGED
from celosia.methods.bases.cells import Impossible, created_impossible, strata, units
from celosia.methods.bases.units import Units
from celosia.parts import Columns, CountsRows, Explored, Memory, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

STEPS = 12  # halvings of the window when a correlation is asked for: finer than the correlation itself is known


class RankSwap(Method):
    r"""Exchange values of a column between records whose ranks differ by at most a share ``window`` of the records.

    .. math:: \tilde x_{(i)} = x_{(l)}, \quad \tilde x_{(l)} = x_{(i)}, \qquad 0 < l - i \le \lfloor w n \rfloor

    with ``l`` drawn among the values that have not moved yet; each value moves at most once and no rank moves farther
    than the window. Values are never changed, so margins are exactly those of the original. Columns of any
    ordered kind: numbers, dates, ordinal categories. Ties keep the order of the records; missing values stay.

    - ``joint``: all columns of a record move together, to a record within the window in every column. Relations
      between these columns stay exactly; records without such a partner stay.
    - ``correlation``: the largest window up to ``window`` at which each column keeps at least this correlation with its
      original. Two columns then keep about the square of it times their own correlation.
    - ``step = "normal"``: steps from a normal distribution with mean and deviation of half the window, so that no
      interval is sure to hold the original rank (p-distribution). Some values then move farther than the window.
    - ``step = "buckets"``: ranks are cut into buckets of half the window and the partner is sought in the own bucket or
      a later one, each half as likely as the one before it (p-buckets). Again some values move farther.

    A published window undoes much of the protection: an intruder who knows it intersects the windows of several columns
    (:class:`~celosia.risk.RankIntersection`). The last two kinds of step resist that far better at the same loss.

    ``impossible`` names combinations that must not arise; exchanges that create one are undone. Fails for
    unordered categories. References: Moore (1996); Nin, Herranz & Torra (2008).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [42, 28, 51, 23, 12, 68, 30, 46, 55, 61]}))
    >>> protected = celosia.protect(table, RankSwap(columns=["age"], window=0.3), seed=1).polars()
    >>> sorted(protected["age"].to_list()) == sorted(table.polars()["age"].to_list())
    True
    """

    columns: SuitedColumns = Field(
        default=(), description="ordered columns whose values are exchanged; such quasi-identifiers when empty"
    )
    window: Annotated[float, Explored(0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)] = Field(
        default=0.05, gt=0, le=1, description="farthest exchange as a share of the records"
    )
    joint: bool = Field(default=False, description="exchange whole rows of these columns")
    correlation: float | None = Field(default=None, gt=0, lt=1, description="least correlation with the original")
    step: Literal["uniform", "normal", "buckets"] = Field(default="uniform", description="how far a partner is sought")
    within: Columns = Field(default=(), description="exchange only between records that agree on these columns")
    impossible: Impossible = Field(default=(), description="conditions that no record may come to meet")
    persons: ClassVar[PersonUnit] = CountsRows(EXCHANGED)
    memory: ClassVar[Memory] = "blocks"
    suits: ClassVar[tuple[str, ...]] = ("numeric", "ordinal", "date")
    not_replayable_because: ClassVar[str] = "values change places between records"
    examples: ClassVar = ({"columns": ["x", "y"], "window": 0.2},)

    @model_validator(mode="after")
    def _fits(self) -> RankSwap:
        if self.joint and self.step != "uniform":
            raise ParameterError("rank-swap: joint exchanges keep the window, so step must be 'uniform'.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Exchange the values."""
        blocks = [self.columns] if self.joint else [(name,) for name in self.columns]
        partners: list[tuple[tuple[str, ...], Units, Ints]] = []
        windows: dict[str, float] = {}
        for names in blocks:
            unit = units(self.name, table, names)
            keys = np.column_stack([unit.pick(self._keys(table, name)) for name in names])
            partner, used = self._partners(table, names, unit, keys, stream.child(*names))
            partners.append((names, unit, partner))
            windows |= dict.fromkeys(names, used)
        done, undone = self._possible(table, partners)
        moved = {
            name: int((partner != np.arange(len(partner))).sum()) for names, _, partner in partners for name in names
        }
        evidence: dict[str, object] = {"moved": moved, "window": windows}
        if self.impossible:
            evidence["undone"] = undone
        return Outcome(done, evidence)

    def _keys(self, table: Table, name: str) -> Floats:
        """Numbers in the order of the values, NaN for missing."""
        import polars as pl

        column = table.column(name)
        info = table.schema[name]
        if info.kind == "nominal" or (column.dtype == pl.String and not info.order):
            raise DataError(
                f"rank-swap: column {name!r} has no order; declare it as ordinal with its order, or use pram."
            )
        if column.dtype.is_numeric():
            keys = table.numeric([name])[:, 0]
            if np.abs(keys).max(initial=0.0, where=~np.isnan(keys)) < 2**53:  # beyond, whole numbers run together
                return keys
        codes = np.asarray(table.codes(name)[0], dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)

    def _partners(
        self, table: Table, names: tuple[str, ...], unit: Units, keys: Floats, stream: Stream
    ) -> tuple[Ints, float]:
        gone = np.asarray(np.isnan(keys).any(axis=1))
        if self.joint and len(names) > 1 and gone.any():
            raise DataError(f"rank-swap: {int(gone.sum())} records have missing values; joint exchanges need them all.")
        partner = np.arange(len(unit))
        used = 0.0
        for s, part in enumerate(strata(table, self.within, unit)):
            rows = part[~gone[part]]
            if len(rows) < 2:
                continue
            window = self.window
            if self.correlation is not None:
                window = self._widest(keys[rows], stream.child(s))
            partner[rows] = rows[self._pairs(keys[rows], window, stream.child(s).rng())]
            used = max(used, window)
        return partner, used

    def _pairs(self, keys: Floats, window: float, rng: np.random.Generator) -> Ints:
        """Return for each record its partner in the exchange."""
        from celosia.kernels.neighbours.swap import pairs, pairs_buckets, pairs_jointly, pairs_normal

        n = len(keys)
        reach = int(window * n * (1 + 1e-12))
        order = _order(keys[:, 0])
        if keys.shape[1] == 1:
            if self.step == "buckets":
                place = pairs_buckets(n, max((reach + 1) // 2, 1), rng)
            else:
                place = (pairs if self.step == "uniform" else pairs_normal)(n, reach, rng)
            partner = np.empty(n, np.int64)
            partner[order] = order[place]
            return partner
        ranks = np.empty(keys.shape, np.int64)
        for j in range(keys.shape[1]):
            ranks[_order(keys[:, j]), j] = np.arange(n)
        return np.asarray(pairs_jointly(ranks, order, reach, rng))

    def _widest(self, x: Floats, stream: Stream) -> float:
        """Find the widest window that keeps the correlation, by bisection with trial exchanges."""
        low, high = 0.0, self.window
        if self._keeps(x, high, stream):
            return high
        for _ in range(STEPS):
            middle = (low + high) / 2
            if self._keeps(x, middle, stream):
                low = middle
            else:
                high = middle
        return low

    def _keeps(self, x: Floats, window: float, stream: Stream) -> bool:
        partner = self._pairs(x, window, stream.rng())
        for j in range(x.shape[1]):
            if x[:, j].std() > 0 and np.corrcoef(x[:, j], x[partner, j])[0, 1] < (self.correlation or 0.0):
                return False
        return True

    def _possible(self, table: Table, partners: list[tuple[tuple[str, ...], Units, Ints]]) -> tuple[Table, int]:
        """Exchange the values, undo exchanges that create an impossible record, and count these."""
        undone = 0
        while True:
            done = table.replace(
                {
                    name: table.column(name).gather(unit.expand(unit.first[partner]))
                    for names, unit, partner in partners
                    for name in names
                }
            )
            wrong = created_impossible(self.name, table, done, self.impossible)
            if not wrong.any():
                return done, undone
            for _, unit, partner in partners:
                hit = np.unique(unit.member[wrong])
                hit = np.concatenate([hit, partner[hit]])
                undone += int((partner[hit] != hit).sum()) // 2
                partner[hit] = hit


def _order(x: Floats) -> Ints:
    """Order by value, ties by record; the stable sort, several times slower, is used only where there are ties."""
    order = np.argsort(x)
    ordered = x[order]
    return np.argsort(x, kind="stable") if (ordered[1:] == ordered[:-1]).any() else order
