"""Interval disclosure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, NotRequired

import numpy as np
from pydantic import Field

from celosia.parts import Attack, AttackEvidence, Columns, DisclosesValue

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]


class IntervalDisclosureEvidence(AttackEvidence):
    """Share of disclosed values, and that of each column."""

    records: int
    columns: NotRequired[dict[str, float]]


class IntervalDisclosure(DisclosesValue, Attack):
    r"""The share of original values that lie in a narrow interval around their protected value (ID).

    .. math:: \mathrm{ID} = \frac{1}{n\,p\,|W|} \sum_{w \in W} \sum_{ij} [x_{ij} \in I_w(x'_{ij})]

    over interval ``widths`` W in per cent. ``window`` is how wide an interval of w per cent is: ``rank`` reaches over w
    per cent of the protected values, half on each side; ``relative`` is ± w/2 per cent of the protected value;
    ``sd`` is ± w/2 per cent of the column's standard deviation. ``joint`` is sdcMicro's reading instead: the share
    of records whose original lies within ``k`` standard deviations of the protected value in *every* column, which
    falls to 0 as columns are added. With a person column the share is over persons, each with the mean of her
    records. A missing value is in no interval (but for joint). An unchanged file has the value 1. The baseline is
    the success of an intruder with the protected values of other records.

    References: Domingo-Ferrer & Torra (2001); Mateo-Sanz, Sebé & Domingo-Ferrer (2004).

    >>> import polars as pl, celosia
    >>> original = celosia.read(pl.DataFrame({"x": [10.0, 20.0, 30.0, 40.0]}))
    >>> protected = celosia.read(pl.DataFrame({"x": [10.1, 20.0, 33.0, 41.0]}))
    >>> IntervalDisclosure(window="relative").value(original, protected)
    0.625
    """

    columns: Columns | None = Field(default=None, description="numeric columns; all shared ones when not given")
    window: Literal["rank", "relative", "sd", "joint"] = Field(default="rank", description="kind of interval")
    widths: tuple[float, ...] = Field(default=tuple(range(1, 11)), min_length=1, description="widths in per cent")
    k: float = Field(default=0.05, gt=0, description="standard deviations to each side, for joint")
    examples: ClassVar = (
        {"columns": ["x", "y"]},
        {"columns": ["x", "y"], "window": "relative"},
        {"columns": ["x", "y"], "window": "sd"},
        {"columns": ["x", "y"], "window": "joint"},
    )

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of values (records, for joint) that are disclosed."""
        return float(self._means(self._inside(original, protected), original, protected).mean())

    def evidence(self, original: Table, protected: Table) -> IntervalDisclosureEvidence:
        """Return the share with its interval and baseline, and the share of each column."""
        from celosia.kernels.statistics.intervals import wilson

        shares = self._means(self._inside(original, protected), original, protected)
        value = float(shares.mean())
        out: IntervalDisclosureEvidence = {
            "value": value,
            "interval": list(wilson(value * len(shares), len(shares))),
            "baseline": self._baseline(original, protected),
            "records": len(shares),
        }
        if self.window != "joint":
            names = self._names(original, protected)
            out["columns"] = dict(zip(names, shares.mean(axis=0).tolist(), strict=True))
        return out

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the share of disclosed values of each protected record."""
        import polars as pl

        inside = self._inside(original, protected)
        return pl.DataFrame({"risk": inside if inside.ndim == 1 else inside.mean(axis=1)})

    def _means(self, inside: Floats, original: Table, protected: Table) -> Floats:
        """Return the mean of each person's records, column by column."""
        from celosia.views.persons import by_person, paired_persons

        person = paired_persons(original, protected)[1]
        if inside.ndim == 1:
            return by_person(inside, person)
        return np.stack([by_person(column, person) for column in inside.T], axis=1)

    def _names(self, original: Table, protected: Table) -> list[str]:
        from celosia.views.comparing.encoding import known_columns

        return known_columns(original, protected, self.columns, numbers=True)

    def _inside(self, original: Table, protected: Table) -> Floats:
        from celosia.table.pairing import paired_numbers

        x, y = paired_numbers(original, protected, self._names(original, protected))
        return self._share_of_widths(x, y)

    def _share_of_widths(self, x: Floats, y: Floats) -> Floats:
        if self.window == "joint":
            return all_inside(x, y, self.k).astype(np.float64)
        return inside(x, y, self.widths, self.window)

    def _baseline(self, original: Table, protected: Table) -> float:
        """Return the share when every record is given the protected values of another record."""
        from celosia.table.pairing import paired_numbers

        x, y = paired_numbers(original, protected, self._names(original, protected))
        if len(y) < 2:
            return 0.0
        guess = self._share_of_widths(x, np.roll(y, max(len(y) // 2, 1), axis=0))
        return float(self._means(guess, original, protected).mean())


def inside(
    original: Floats, protected: Floats, percents: Sequence[float], kind: Literal["rank", "relative", "sd"]
) -> Floats:
    r"""Return the share of the interval widths for which each original value lies around its protected value.

    For a width of p per cent the interval of the protected value x' is

    - ``rank``: from the value p/2 per cent of n ranks below x' to the one as many above, in the protected column;
      where several protected values are equal, below the first and above the last of them;
    - ``relative``: x' ± p/2 per cent of x';
    - ``sd``: x' ± p/2 per cent of the standard deviation of the original column.

    The result is an array records × columns. A missing value on either side is outside.

    References: Domingo-Ferrer & Torra (2001); Mateo-Sanz, Sebé & Domingo-Ferrer (2004).

    >>> x, y = np.array([[10.0], [20.0], [30.0]]), np.array([[10.2], [25.0], [30.0]])
    >>> inside(x, y, [5.0], "relative").ravel().tolist()
    [1.0, 0.0, 1.0]
    """
    n, columns = original.shape
    total = np.zeros((n, columns))
    for j in range(columns):
        x, y = original[:, j], protected[:, j]
        filled = np.isfinite(x) & np.isfinite(y)
        ordered = np.sort(y[np.isfinite(y)])
        first = np.searchsorted(ordered, y[filled], side="left")
        last = np.searchsorted(ordered, y[filled], side="right") - 1
        spread = float(x[filled].std()) if filled.any() else 0.0
        for percent in percents:
            low, high = _bounds(y[filled], ordered, (first, last), percent / 200, kind, spread)
            total[filled, j] += (x[filled] >= low) & (x[filled] <= high)
    return total / max(len(percents), 1)


def _bounds(
    y: Floats, ordered: Floats, places: tuple[Ints, Ints], half: float, kind: str, spread: float
) -> tuple[Floats, Floats]:
    if kind == "rank":
        steps = int(np.floor(half * len(ordered) + 1e-9))
        first, last = places
        return ordered[np.maximum(first - steps, 0)], ordered[np.minimum(last + steps, len(ordered) - 1)]
    width = half * (np.abs(y) if kind == "relative" else np.full(len(y), spread))
    return y - width, y + width


def all_inside(original: Floats, protected: Floats, k: float) -> NDArray[np.bool_]:
    r"""Return which originals lie, in every column, within the protected value ± k standard deviations of the column.

    sdcMicro's reading (dRisk): a missing value counts as inside. It falls to 0 as columns are added.

    References: Templ, Kowarik & Meindl (2015).

    >>> all_inside(np.array([[1.0, 5.0], [2.0, 9.0]]), np.array([[1.01, 5.0], [2.0, 6.0]]), 0.05).tolist()
    [True, False]
    """
    spread = np.nanstd(protected, axis=0, ddof=1) if len(protected) > 1 else np.zeros(protected.shape[1])
    with np.errstate(invalid="ignore"):
        outside = np.abs(original - protected) > k * spread
    return np.asarray(~outside.any(axis=1), dtype=np.bool_)
