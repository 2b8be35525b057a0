"""What attacks share that put a release together with earlier ones about the same people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from celosia.errors import UnknownName
from celosia.parts import Columns, ComparesReleases, Private
from celosia.risk.bases.reaching import _ReachingAttack
from celosia.table.source import Source

if TYPE_CHECKING:
    from celosia.table import Table


class _EarlierReleases(ComparesReleases, _ReachingAttack):
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

    def blocking_reasons(self, facts: Mapping[str, Any]) -> list[str]:
        """What the releases tell together beyond what each tells alone."""
        sentences = [self.sentence(facts)] if self.exceeds(facts) else []
        learnt = facts.get("learnt", 0) - facts.get("learnt_alone", 0)
        if learnt > 0:
            sentences.append(f"a sensitive value is left as the only one for {learnt:g} more")
        if facts.get("removed", 0):
            sentences.append(f"{facts['removed']} stand out by having left since the earlier release")
        return sentences

    def exceeds(self, facts: Mapping[str, Any]) -> bool:
        """Whether it reaches more than its control."""
        return bool(facts["value"] > facts["control"])

    def sentence(self, facts: Mapping[str, Any]) -> str:
        """What it reaches more, in words."""
        raise NotImplementedError

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
            for name in self.columns:
                for table in (protected, *earlier):
                    if name not in table.names:
                        raise UnknownName.of("column", name, table.names, f"({self.name}: columns)")
            return list(self.columns)
        return carried_columns(original, protected, earlier, self.known_columns(original))


def more_people(facts: Mapping[str, Any]) -> str:
    """How many more people than by the control, of how many."""
    people = int(facts["records"])
    return f"{round((facts['value'] - facts['control']) * people)} of {people}"
