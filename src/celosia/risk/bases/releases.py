"""What attacks share that put a release together with earlier ones about the same people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from celosia.parts import Columns, Private
from celosia.risk.bases.reaching import _ReachingAttack
from celosia.table.source import Source

if TYPE_CHECKING:
    from celosia.table import Table


class _EarlierReleases(_ReachingAttack):
    """An attack that lays the release over ``earlier`` ones; the same without them is its control."""

    earlier: Annotated[tuple[Source, ...], Private()] = Field(
        min_length=1, description="releases about the same people that are out already"
    )
    columns: Columns | None = Field(
        default=None,
        description="columns that link the records of two releases; all but quasi-identifiers that both show unchanged",
    )

    known: Columns | None = Field(
        default=None, description="columns that the intruder knows of people; the quasi-identifiers when not given"
    )

    def known_columns(self, original: Table) -> list[str]:
        """What the intruder knows of people."""
        return list(original.schema.need_quasi() if self.known is None else self.known)

    def _second_tables(self) -> tuple[Any, ...]:
        return self.earlier

    def opened(self, original: Table) -> list[Table]:
        """The earlier releases, those without roles described like the original."""
        from celosia.table.source import open_source

        tables = [open_source(source) for source in self.earlier]
        return [
            table if table.schema.quasi else table.with_schema(original.schema.keep(table.names).loose())
            for table in tables
        ]

    def carried(self, original: Table, protected: Table, earlier: list[Table]) -> list[str]:
        """The columns that link the records of the releases."""
        from celosia.views.comparing.releases import carried_columns

        if self.columns is not None:
            return list(self.columns)
        return carried_columns(original, protected, earlier, self.known_columns(original))
