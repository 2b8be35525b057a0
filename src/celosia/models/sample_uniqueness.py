"""Sample uniqueness."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from celosia.parts import BoundedByRows, Model, SearchHints

if TYPE_CHECKING:
    from celosia.classes.counts import ClassCounts


class SampleUniqueness(SearchHints, BoundedByRows, Model):
    r"""Few records are unique on the quasi-identifiers.

    .. math:: \frac1n |\{i : f_i = 1\}| \le \text{share}

    Unique in the sample is not unique in the population: see population uniqueness. Suppressed records do not
    count.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30, 30, 31]}), celosia.Schema.of(quasi=["age"]))
    >>> SampleUniqueness(share=0.1).value(table), SampleUniqueness(share=0.1).holds(table)
    (0.25, False)
    """

    share: float = Field(ge=0, le=1, description="largest allowed share of unique records")

    symbol: ClassVar[str] = "unique share"
    direction: ClassVar[Literal["at least", "at most"]] = "at most"
    scope: ClassVar[Literal["class", "file"]] = "file"
    monotone_generalisation: ClassVar[bool] = True
    rows_bound: ClassVar[Literal["at least", "at most"] | None] = "at least"  # a row alone is a person alone

    def bound(self) -> float:
        """Return the largest allowed share."""
        return self.share

    def score(self, classes: ClassCounts) -> float:
        """Return the share of unique records; 0 without records."""
        return float(classes.records[classes.size == 1].sum() / classes.records.sum()) if len(classes) else 0.0
