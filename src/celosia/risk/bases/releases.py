"""Base class of attacks that combine a release with earlier ones about the same people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from celosia.errors import UnknownName
from celosia.parts import Columns, ComparesReleases, Private
from celosia.risk.bases.success import _SuccessAttack
from celosia.table.source import Source

if TYPE_CHECKING:
    from celosia.table import Table


class _EarlierReleases(ComparesReleases, _SuccessAttack):
    """An attack that combines the release with ``earlier`` ones; the control uses the release alone."""

    earlier: Annotated[tuple[Source, ...], Private()] = Field(
        min_length=1, description="earlier releases about the same people"
    )
    columns: Columns | None = Field(
        default=None,
        description="columns that link the records of two releases; all but quasi-identifiers that both show unchanged",
    )

    known: Columns | None = Field(
        default=None, description="columns that the intruder knows of people; the quasi-identifiers when not given"
    )

    def known_columns(self, original: Table) -> list[str]:
        """Return the columns that the intruder knows of people."""
        return list(original.schema.need_quasi() if self.known is None else self.known)

    def blocking_reasons(self, facts: Mapping[str, Any]) -> list[str]:
        """Return what the releases disclose together beyond each of them alone, as sentences."""
        sentences = [self.sentence(facts)] if self.exceeds(facts) else []
        learnt = facts.get("learnt", 0) - facts.get("learnt_alone", 0)
        if learnt > 0:
            many = (
                f"{learnt:.0f}" if float(learnt).is_integer() else f"about {max(1, round(learnt))}"
            )  # expected number
            sentences.append(f"a sensitive value is left as the only one for {many} more")
        if facts.get("removed", 0):
            sentences.append(f"{facts['removed']} stand out by having left since the earlier release")
        return sentences

    def exceeds(self, facts: Mapping[str, Any]) -> bool:
        """Return whether the attack succeeds more often than its control."""
        return bool(facts["value"] > facts["control"])

    def sentence(self, facts: Mapping[str, Any]) -> str:
        """Describe the success beyond the control."""
        raise NotImplementedError

    def _second_tables(self) -> tuple[Any, ...]:
        return self.earlier

    def open_releases(self, original: Table) -> list[Table]:
        """Open the earlier releases; those without roles take the schema of the original."""
        from celosia.table.source import open_source

        tables = [open_source(source) for source in self.earlier]
        return [
            table if table.schema.quasi else table.with_schema(original.schema.keep(table.names).loose())
            for table in tables
        ]

    def carried_columns(self, original: Table, protected: Table, earlier: list[Table]) -> list[str]:
        """Return the columns that link the records of the releases."""
        from celosia.views.comparing import releases

        if self.columns is not None:
            for name in self.columns:
                for table in (protected, *earlier):
                    if name not in table.names:
                        raise UnknownName.of("column", name, table.names, f"({self.name}: columns)")
            return list(self.columns)
        return releases.carried_columns(original, protected, earlier, self.known_columns(original))


def more_people(facts: Mapping[str, Any]) -> str:
    """Return ``n of N``: the people found beyond the control, of all people."""
    people = int(facts["records"])
    return f"{round((facts['value'] - facts['control']) * people)} of {people}"
