"""t-closeness with several distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PlainSerializer
from pydantic.json_schema import SkipJsonSchema

from celosia.errors import SchemaError
from celosia.models.bases.sensitive_model import _SensitiveModel
from celosia.parts import BoundsBestClass, ChoosesParameters, ComparesWithInput, SearchHints
from celosia.table.columns import sensitive_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pydantic import JsonValue

    from celosia.classes.counts import ClassCounts, ValueCounts
    from celosia.table import Table

Own = Annotated[Callable[[Any, Any], float], PlainSerializer(lambda f: getattr(f, "__name__", "callable"))]
"""Distance of the user: a function of the class distribution and the table distribution, two arrays."""


class TCloseness(SearchHints, ComparesWithInput, BoundsBestClass, ChoosesParameters, _SensitiveModel):
    r"""The distribution of the sensitive column in every class is near that in the whole input table.

    .. math:: t(T) = \max_E D[P_E, Q]

    ``distance`` is an earth mover's distance: ``equal`` (½ Σ|p − q|), ``ordered`` (by rank, Σ|cumulative p − q| /
    (m − 1)), ``hierarchical`` (on the column's hierarchy), ``value`` (on the numbers themselves, as a share of
    their range; a missing value lies one mean gap above the largest), ``auto`` (``ordered`` for numbers, ``equal`` for
    other columns; the evidence states which), or a function of two distributions.
    ``aggregate="min"`` reports the smallest distance instead, for comparison with publications that do. ``Q``
    counts records that are suppressed later. With a person column the distributions are those of the pairs of a
    person and a value. Where persons have several values the distance is at least the largest difference between the
    share of the persons of a class who have a known value and that of the persons of the input table, however near
    values are to each other (not for a function of the user).

    It bounds what is learnt over the overall distribution, at a high
    price in detail. References: Li, Li & Venkatasubramanian (2007).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": ["2*"] * 3 + ["≥40"] * 3 + ["3*"] * 3, "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["age"], sensitive=["salary"]))
    >>> TCloseness(t=0.375, distance="ordered").value(table), TCloseness(t=0.375, distance="ordered").holds(table)
    (0.375, True)
    """

    t: float = Field(ge=0, description="largest allowed distance")
    distance: Literal["equal", "ordered", "hierarchical", "value", "auto"] | SkipJsonSchema[Own] = Field(
        default="equal", description="how far values are from each other; auto: ordered for numbers, else equal"
    )
    aggregate: Literal["max", "min"] = Field(
        default="max", description="the class that decides: the worst, or the best"
    )

    symbol: ClassVar[str] = "t"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    examples: ClassVar = (
        {},
        {"column": "s", "distance": "hierarchical"},
        {"aggregate": "min", "column": "o"},
        {"column": "v", "distance": "value"},
        {"column": "v", "distance": "ordered"},
        {"column": "o", "distance": "ordered"},
        {"column": "s", "distance": "ordered"},
        {"distance": "auto"},
    )

    @property
    def scope(self) -> Literal["class", "file"]:  # type: ignore[override]
        """Unit of judgement: the file where only the best class is bounded."""
        return "class" if self.aggregate == "max" else "file"

    @property
    def monotone_generalisation(self) -> bool:  # type: ignore[override]
        """Whether the distance is convex, as the earth mover's distances are; unknown for a function of the user."""
        return isinstance(self.distance, str) and self.aggregate == "max"

    def evidence(self, table: Table) -> Mapping[str, JsonValue]:
        """Return the distance used for each sensitive column, where it was chosen by the kind of its values."""
        if self.distance != "auto":
            return {}
        columns = table.schema.need_sensitive(self.column)
        return {"distance": {name: distance_by_kind(sensitive_codes(table, name).numbers) for name in columns}}

    def protects(self) -> bool:
        """Return whether every class is bounded: the smallest distance does not bound the others."""
        return self.aggregate == "max"

    def bound(self) -> float:
        """Return the largest allowed distance."""
        return self.t

    def score(self, classes: ClassCounts) -> float:
        """Return the distance of the worst class, or of the best one."""
        if self.aggregate == "max" or len(classes) == 0:
            return super().score(classes)
        return float(np.min(self.scores(classes)))

    def column_scores(self, counts: ValueCounts) -> NDArray[np.float64]:
        """Return the distance of each class."""
        from celosia.kernels.statistics.closeness import equal_distance, stepped_distance, tree_distance

        entries = (counts.start, counts.value, counts.count, counts.baseline)
        chosen = self.distance
        if chosen == "auto":
            chosen = distance_by_kind(counts.numbers)
        if chosen == "equal":
            distance = equal_distance(*entries)
        elif chosen == "ordered":
            m = len(counts.baseline)
            distance = stepped_distance(*entries, np.full(max(m - 1, 0), 1.0 / max(m - 1, 1)))
        elif chosen == "value":
            distance = stepped_distance(*entries, _gaps(counts))
        elif chosen == "hierarchical":
            if counts.ancestors is None:
                raise SchemaError("t-closeness: distance 'hierarchical' needs a hierarchy of the sensitive column.")
            distance = tree_distance(*entries, counts.ancestors)
        else:
            distance_of = chosen
            shares = (row / row.sum() for row in _dense_rows(counts))
            distance = np.array([float(distance_of(p, counts.baseline)) for p in shares])
        if isinstance(self.distance, str) and counts.has_repeated_persons.any():
            distance = np.where(
                counts.has_repeated_persons, np.maximum(distance, _largest_difference(counts)), distance
            )
        return np.round(distance, 12)  # 3/8 must be at most 0.375 whatever the last bit

    def least_removed(self, classes: ClassCounts) -> NDArray[np.int64] | None:
        """Return how many records each class must lose at least, here and at every finer level, to be close."""
        from celosia.kernels.grouping.removal import removed_for_distance

        if self.distance != "equal" or self.aggregate != "max":
            return None
        out = np.zeros(len(classes), dtype=np.int64)
        for counts in self.value_counts(classes):
            entries = (counts.start, counts.value, counts.count, counts.baseline)
            out = np.maximum(out, removed_for_distance(*entries, self.t))
        return out


def distance_by_kind(numbers: NDArray[np.float64] | None) -> Literal["ordered", "equal"]:
    """Return the distance of a column: ordered for numbers, equal for other values."""
    return "equal" if numbers is None else "ordered"


def _largest_difference(counts: ValueCounts) -> NDArray[np.float64]:
    """Return the largest difference of the shares of persons with a known value in each class and in the input."""
    non_missing = np.arange(len(counts.prior)) != counts.missing_code
    owner, prior = counts.owner, np.where(non_missing, counts.prior, 0.0)
    order = np.argsort(-prior, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    # of the values that a class lacks the most frequent: the first rank that its ascending ranks leave out
    ranks = rank[counts.value][np.lexsort((rank[counts.value], owner))]
    leading = ranks == np.arange(len(ranks)) - counts.start[owner]
    largest = np.append(prior[order], 0.0)[np.bincount(owner[leading], minlength=len(counts.start) - 1)]
    np.maximum.at(largest, owner, np.where(non_missing[counts.value], np.abs(counts.share - prior[counts.value]), 0.0))
    return np.asarray(largest, dtype=np.float64)


def _gaps(counts: ValueCounts) -> NDArray[np.float64]:
    """Return the step from each value to the next as a share of the range."""
    from celosia.kernels.statistics.closeness import value_gaps

    if counts.numbers is None:
        raise SchemaError("t-closeness: distance 'value' needs a numeric column; use 'ordered' or 'equal'.")
    return value_gaps(counts.numbers)


def _dense_rows(counts: ValueCounts) -> Iterator[NDArray[np.float64]]:
    """Yield the counts of all values, class by class."""
    for begin, end in zip(counts.start[:-1], counts.start[1:], strict=True):
        row = np.zeros(len(counts.baseline))
        row[counts.value[begin:end]] = counts.count[begin:end]
        yield row
