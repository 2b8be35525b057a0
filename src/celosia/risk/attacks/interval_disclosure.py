"""Interval disclosure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.parts import Attack, Columns

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table


class IntervalDisclosure(Attack):
    r"""The share of original values that lie in a narrow interval around their protected value (ID).

    .. math:: \mathrm{ID} = \frac{1}{n\,p\,|W|} \sum_{w \in W} \sum_{ij} [x_{ij} \in I_w(x'_{ij})]

    over interval ``widths`` W in per cent. ``window`` is how wide an interval of w per cent is: ``rank`` reaches over w
    per cent of the protected values, half on each side; ``relative`` is ± w/2 per cent of the protected value;
    ``sd`` is ± w/2 per cent of the column's standard deviation. ``joint`` is sdcMicro's reading instead: the share
    of records whose original lies within ``k`` standard deviations of the protected value in *every* column, which
    falls to 0 as columns are added. With a person column the share is over persons, each with the mean of her
    records. A missing value is in no interval (but for joint). An unchanged file has the value 1. The baseline is
    what an intruder reaches with the protected values of other records.

    References: Domingo-Ferrer & Torra (2001); Mateo-Sanz, Sebé & Domingo-Ferrer (2004).

    >>> import polars as pl, celosia
    >>> original = celosia.read(pl.DataFrame({"x": [10.0, 20.0, 30.0, 40.0]}))
    >>> protected = celosia.read(pl.DataFrame({"x": [10.1, 20.0, 33.0, 41.0]}))
    >>> IntervalDisclosure(window="relative").value(original, protected)
    0.625
    """

    columns: Columns | None = Field(default=None, description="numeric columns; all shared ones when not given")
    window: Literal["rank", "relative", "sd", "joint"] = Field(default="rank", description="what an interval is")
    widths: tuple[float, ...] = Field(default=tuple(range(1, 11)), min_length=1, description="widths in per cent")
    k: float = Field(default=0.05, gt=0, description="standard deviations to each side, for joint")
    discloses: ClassVar[Literal["identity", "value"]] = "value"

    def value(self, original: Table, protected: Table) -> float:
        """The share of values (records, for joint) that are disclosed."""
        return float(self._means(self._inside(original, protected), original, protected).mean())

    def evidence(self, original: Table, protected: Table) -> dict[str, Any]:
        """The share with its interval and baseline, and the share of each column."""
        from celosia.mathematics.statistics.intervals import wilson

        shares = self._means(self._inside(original, protected), original, protected)
        value = float(shares.mean())
        out: dict[str, Any] = {
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
        """The share of disclosed values of each protected record."""
        import polars as pl

        inside = self._inside(original, protected)
        return pl.DataFrame({"risk": inside if inside.ndim == 1 else inside.mean(axis=1)})

    def _means(self, inside: NDArray[np.float64], original: Table, protected: Table) -> NDArray[np.float64]:
        """The mean of each person's records, column by column."""
        from celosia.views.persons import by_person, paired_persons

        person = paired_persons(original, protected)[1]
        if inside.ndim == 1:
            return by_person(inside, person)
        return np.stack([by_person(column, person) for column in inside.T], axis=1)

    def _names(self, original: Table, protected: Table) -> list[str]:
        from celosia.views.comparing.encoding import known_columns

        return known_columns(original, protected, self.columns, numbers=True)

    def _inside(self, original: Table, protected: Table) -> NDArray[np.float64]:
        from celosia.table.pairing import paired_numbers

        x, y = paired_numbers(original, protected, self._names(original, protected))
        return self._disclosed(x, y)

    def _disclosed(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        from celosia.mathematics.disclosure.interval_disclosure import all_inside, inside

        if self.window == "joint":
            return all_inside(x, y, self.k).astype(np.float64)
        return inside(x, y, self.widths, self.window)

    def _baseline(self, original: Table, protected: Table) -> float:
        """The same share when every record is given the protected values of another record."""
        from celosia.table.pairing import paired_numbers

        x, y = paired_numbers(original, protected, self._names(original, protected))
        if len(y) < 2:
            return 0.0
        guessed = self._disclosed(x, np.roll(y, max(len(y) // 2, 1), axis=0))
        return float(self._means(guessed, original, protected).mean())
