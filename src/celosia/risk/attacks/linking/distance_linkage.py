"""Distance-based record linkage."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, NotRequired, cast

import numpy as np
from pydantic import Field

from celosia.parts import Attack, Columns, LinkEvidence
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.risk.bases.nearest import Links
    from celosia.table import Table
    from celosia.views.persons import Linked


class DistanceLinkageEvidence(LinkEvidence):
    """Right links, those among the two nearest records, and certain links."""

    direction: str
    columns: list[str]
    known: NotRequired[dict[str, float]]
    two_nearest: NotRequired[float]
    certain: NotRequired[float]


class DistanceLinkage(Attack):
    r"""The share of records that an intruder links rightly to the nearest record of the other file (DBRL).

    The intruder holds records of the original, for some ``columns`` of it, and links each to the protected record
    at the least distance. She is right when it is the record of the same person:

    .. math:: \frac1{|B|} \sum_{i} \frac{[d(b_i, x'_{t(i)}) = \min_j d(b_i, x'_j)]}{\#\{j : d(b_i, x'_j) = \min\}}

    with ties shared (``ties = "first"`` gives them to the lowest index instead). ``scale``: columns divided by their
    standard deviation in the original (``sd``), each file standardised by itself (``own-sd``), as they are
    (``none``), ``mahalanobis``, or ``gower``: absolute differences by range for numbers and equality for all other
    columns. ``known`` lists numbers of columns the intruder may know, such as 3, 5, 8 for the first three, five and
    eight; the value is then the mean. With ``one_to_one`` all links are made at once at the least total distance.
    ``direction`` says who is linked: each ``original`` record to the nearest protected one, or each ``protected``
    to the nearest original. With a person column a link is right when it goes to any record of the same person, and
    the share is over persons, each with the mean of her records. A missing number stands for the mean of its
    column. Knowing more columns does not always mean more right links. The evidence has a 95 % interval, the
    success of guessing, and the share where the right record is among the two nearest.

    References: Domingo-Ferrer & Torra (2001); Pagliuca & Seri (1999).

    >>> import polars as pl, celosia
    >>> original = celosia.read(pl.DataFrame({"x": [1.0, 2.0, 9.0]}))
    >>> protected = celosia.read(pl.DataFrame({"x": [1.4, 1.4, 8.0]}))
    >>> round(DistanceLinkage().value(original, protected), 3)
    0.667
    """

    columns: Columns | None = Field(
        default=None, description="columns that the intruder knows; all shared ones when not given"
    )
    scale: Literal["sd", "own-sd", "none", "mahalanobis", "gower"] = Field(
        default="sd", description="scale on which columns are compared"
    )
    weights: dict[str, float] = Field(
        default_factory=dict, description="column → weight of its differences; 1 when not given"
    )
    known: tuple[int, ...] = Field(default=(), description="numbers of leading columns that the intruder may know")
    ties: Literal["share", "first"] = Field(default="share", description="who gets the credit of equally near records")
    one_to_one: bool = Field(default=False, description="link all records at once, each only once")
    direction: Literal["original", "protected"] = Field(default="original", description="whose records are linked")
    examples: ClassVar = ({"columns": ["x", "y"]}, {"columns": ["x"]}, {"columns": ["x", "y", "c"], "scale": "gower"})

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of right links, the mean over ``known``."""
        return float(np.mean([credit.mean() for credit in self._credits(original, protected).values()]))

    def evidence(self, original: Table, protected: Table) -> DistanceLinkageEvidence:
        """Return the share with its interval, the baseline, the two nearest, and the share by known columns."""
        chances = self._credits(original, protected)
        linked = self._persons(original, protected)
        names = self._names(original, protected)
        facts = {**linked.evidence(chances.values()), "direction": f"{self.direction} to nearest", "columns": names}
        evidence = cast("DistanceLinkageEvidence", facts)
        if self.known:
            evidence["known"] = {str(k): float(credit.mean()) for k, credit in chances.items()}
        if not self.one_to_one:
            links = self._links(original, protected, len(names))
            evidence["two_nearest"] = float(linked.means(links.second).mean())
            evidence["certain"] = float(linked.means(links.correct == 1).mean())
        return evidence

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return for each record the chance of a right link, the linked record, its distance and the number of ties."""
        import polars as pl

        count = len(self._names(original, protected))
        if self.one_to_one:
            linked, correct = self._link_one_to_one(original, protected, count)
            return pl.DataFrame({"risk": correct, "linked": linked})
        links = self._links(original, protected, count)
        return pl.DataFrame(
            {
                "risk": self._credit(links, original, protected),
                "linked": links.first,
                "distance": links.distance,
                "tied": links.tied,
                "two_nearest": links.second,
                "margin": links.margin,
            }
        )

    def _names(self, original: Table, protected: Table) -> list[str]:
        from celosia.views.comparing.encoding import known_columns

        return known_columns(original, protected, self.columns, numbers=self.scale != "gower")

    def _credits(self, original: Table, protected: Table) -> dict[int, NDArray[np.float64]]:
        """Return the chance of a right link of each person, by the number of known columns."""
        total = len(self._names(original, protected))
        counts = sorted({min(k, total) for k in self.known}) or [total]
        by_known = {}
        for k in counts:
            if self.one_to_one:
                credit = self._link_one_to_one(original, protected, k)[1]
            else:
                credit = self._credit(self._links(original, protected, k), original, protected)
            by_known[k] = self._persons(original, protected).means(credit)
        return by_known

    def _credit(self, links: Links, original: Table, protected: Table) -> NDArray[np.float64]:
        return links.correct if self.ties == "share" else self._persons(original, protected).right(links.first)

    def _persons(self, original: Table, protected: Table) -> Linked:
        from celosia.views.persons import Linked

        return Linked.of(original, protected, self.direction)

    def _links(self, original: Table, protected: Table, count: int) -> Links:
        from celosia.risk.bases.nearest import nearest, nearest_mixed
        from celosia.views.comparing.encoding import encode

        names = self._names(original, protected)[:count]
        truth = self._persons(original, protected).own

        def make() -> Links:
            if self.scale != "gower":
                x, y = self._scale(original, protected, names)
                source, target = (x, y) if self.direction == "original" else (y, x)
                return nearest(source, target, truth)
            coded = encode([original, protected], names)
            x, y = _by_range(*(t.numbers for t in coded.tables))
            a, b = (t.codes for t in coded.tables)
            weights = np.array([self.weights.get(name, 1.0) for name in (*coded.numeric, *coded.nominal)])
            if self.direction == "original":
                return nearest_mixed((x, y), (a, b), truth, weights)
            return nearest_mixed((y, x), (b, a), truth, weights)

        return protected.compute_once((str(self.model_copy(update={"known": ()})), count, Same(original)), make)

    def _link_one_to_one(
        self, original: Table, protected: Table, count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        from celosia.risk.bases.nearest import assign_one_to_one
        from celosia.views.comparing.encoding import known_columns

        names = self._names(original, protected)[:count]
        known_columns(original, protected, names, numbers=True)
        x, y = self._scale(original, protected, names)
        source, target = (x, y) if self.direction == "original" else (y, x)
        linked, _ = assign_one_to_one(source, target, 1.0 if self.scale == "gower" else 2.0)
        return linked, self._persons(original, protected).right(linked)

    def _scale(
        self, original: Table, protected: Table, names: list[str]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        from celosia.risk.bases.nearest import scale_columns

        weights = np.array([self.weights.get(name, 1.0) for name in names]) if self.weights else None
        scale = "range" if self.scale == "gower" else self.scale
        return scale_columns(original.numeric(names), protected.numeric(names), scale, weights)


def _by_range(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Divide both files by the range over both; missing values stay missing."""
    if x.shape[1] == 0:
        return x, y
    both = np.concatenate([x, y])
    filled = ~np.isnan(both)
    low = np.where(filled, both, np.inf).min(axis=0)
    width = np.where(filled, both, -np.inf).max(axis=0) - low
    factor = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
    return (x - low) * factor, (y - low) * factor
