"""The result of ``celosia.run``: the protected table with its evidence, in a public and a private part.

The *certificate* may be published: requirements, methods, parameters, aggregate numbers, and commitments, which are
keyed hashes of the input, the policy and the private record that reveal nothing without their key. The *private
record* contains what would undo the protection: the seed, the transformation, the row map, the keys. Its file mode is
0600.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.release.evidence.certificate import CertificateDraft, RecordDraft
from celosia.release.evidence.plain_data import plain
from celosia.show.blocks import Block, Shown, change_blocks, release_blocks
from celosia.table import Table

if TYPE_CHECKING:
    from celosia.release.evidence.findings import Assessment, Comparison
    from celosia.table.changes import ColumnChange, Remaining


@dataclass(frozen=True, eq=False, repr=False)
class Release(Shown):
    """A protected table with its evidence. ``holds`` is true if every requirement is met."""

    table: Table
    original: Table = field(repr=False)
    assessment: Assessment = field(repr=False)
    before: Assessment = field(repr=False)
    comparison: Comparison = field(repr=False)
    public: CertificateDraft = field(repr=False)
    """The certificate; a draft without file and commitments until the release is written."""
    private: RecordDraft = field(repr=False)
    """The private record; a draft until the release is written."""
    paths: Mapping[str, Path] = field(default_factory=dict)
    """Paths of the files: data, certificate, record, report, internal."""
    further: Mapping[str, Assessment] = field(default_factory=dict, repr=False)
    """Requirements and risks of each further table with the columns of the main one, by the name of the table."""
    keep: tuple[str, ...] = ()
    """Columns that analysts must keep."""

    @property
    def certificate(self) -> Mapping[str, Any]:
        """The certificate as plain data, as its JSON file has it."""
        data: dict[str, Any] = plain(self.public.spec())
        return data

    @property
    def record(self) -> Mapping[str, Any]:
        """The private record as plain data, as its JSON file has it."""
        data: dict[str, Any] = plain(self.private.spec())
        return data

    def blocks(self) -> list[Block]:
        """Return the blocks that a terminal or a notebook shows."""
        from celosia.table.changes import ENGLISH

        return release_blocks(self, change_blocks(self.changes, ENGLISH))

    @property
    def changes(self) -> tuple[ColumnChange, ...]:
        """Change of each column of the original."""
        from celosia.table.changes import column_changes

        return column_changes(self.original, self.table)

    @property
    def remaining(self) -> Remaining:
        """Columns and cells of the original that the release still has."""
        from celosia.table.changes import remaining

        return remaining(self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether no record shows a value of any quasi-identifier."""
        return bool(self.table.schema.quasi) and set(self.table.schema.quasi) <= set(self.remaining.empty)

    @property
    def unprotected(self) -> tuple[str, ...]:
        """Released sensitive columns that no requirement protects from being inferred."""
        counted = {column for finding in self.assessment.models for column in finding.part.counted_columns()}
        open_columns = [name for name in self.table.schema.sensitive if counted.isdisjoint({name, None})]
        return tuple(name for name in open_columns if name in self.table.names)

    @property
    def holds(self) -> bool:
        """Whether every requirement is met."""
        return self.assessment.holds and all(each.holds for each in self.further.values())

    def spec(self) -> dict[str, Any]:
        """Return the certificate and the paths of the files as plain data."""
        return {"holds": self.holds, "paths": {k: str(v) for k, v in self.paths.items()}, **self.certificate}
