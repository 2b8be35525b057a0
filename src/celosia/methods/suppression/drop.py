"""Drop columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from celosia.parts import Columns, CountsRows, Memory, Method, OnlyRead, PersonUnit, PublishesEvidence, RowWise

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table
from celosia.table import Outcome


class Drop(PublishesEvidence, RowWise, Method):
    """Leave columns out; without a list, the identifiers.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"name": ["A"], "age": [30]}), celosia.Schema.of(identifiers=["name"]))
    >>> celosia.protect(table, Drop()).names
    ('age',)
    """

    columns: Annotated[Columns, OnlyRead()] = Field(
        default=(), description="columns to leave out; the identifiers when empty"
    )
    public_evidence: ClassVar[frozenset[str]] = frozenset({"dropped"})
    persons: ClassVar[PersonUnit] = CountsRows("whole columns are left out")
    memory: ClassVar[Memory] = "none"
    examples: ClassVar = ({}, {"columns": ["x"]})

    def freeze(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Return the method itself: columns do not depend on records."""
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Leave the columns out."""
        names = self.columns or table.schema.identifiers
        return Outcome(table.drop(names), {"dropped": list(names)})
