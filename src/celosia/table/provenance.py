"""Origin of a table, and the steps since its input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from celosia.data.frames import FrameMetadata

if TYPE_CHECKING:
    from celosia.classes import Lineage
    from celosia.data.io import FileFacts
    from celosia.table.table import Table

    Change = Callable[[Table], Table]


@dataclass(frozen=True, eq=False)
class Origin:
    """Frame or file that was read."""

    library: str = "polars"
    """Kind of the frame: polars, lazy, pandas, pyarrow, duckdb or spark; polars for a file."""
    metadata: FrameMetadata = field(default_factory=FrameMetadata)
    """Index and types of a pandas frame."""
    facts: FileFacts | None = None
    """Facts from the reader of a file: labels, separator, missing codes."""
    ordered: bool = False
    """Whether the order of the rows is meaningful: true for frames in memory, false for files and synthetic rows."""


@dataclass(frozen=True, eq=False)
class Provenance:
    """The input table that a table was derived from, and the steps in between."""

    history: tuple[Mapping[str, Any], ...] = ()
    private_history: tuple[Mapping[str, Any], ...] = ()
    input: Table | None = None
    """Input table, whose distributions models compare with; None for an input table itself."""
    value_changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    """Changes of the values of each column since the input, which can be applied to the input too."""
    lineage: Lineage | None = None
    """Changes since the table was counted; None if they cannot be replayed."""
    family: object = field(default_factory=object)
    """Shared by all tables that descend from one input: their record ids mean the same."""
