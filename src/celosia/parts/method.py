"""Methods: what a protector can do to a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from celosia.parts.part import Part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Outcome, Table


class Method(Part):
    """Changes a table: table → outcome."""

    kind: ClassVar[str] = "method"
    home: ClassVar[str] = "celosia.methods"
    rows: ClassVar[Literal["same", "subset", "new"]] = "same"
    """What becomes of the rows: all kept in place, some left out, or others made."""
    in_memory: ClassVar[bool] = True
    """Whether the method needs all rows in memory; False when it runs on any engine row by row."""
    formal: ClassVar[bool] = False
    """Whether the output carries a formal guarantee (differential privacy) that exact evidence would void."""
    explored: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Values of its parameters that an exploration tries by itself; empty when it is tried only where it is listed."""
    suits: ClassVar[tuple[str, ...]] = ()
    """Kinds of columns that an exploration gives it; ``"hierarchy"``: every quasi-identifier needs a hierarchy."""
    changes: ClassVar[tuple[str, ...]] = ("column", "columns")
    """Fields that name the columns whose cells it overwrites; columns that other fields name are only looked at."""

    def overwrites(self, schema: Schema) -> tuple[str, ...]:  # noqa: ARG002
        """The columns whose cells it may overwrite: no other column of the input comes out with other cells.

        A method that overwrites columns that nobody named (the quasi-identifiers, all columns) adds them here.
        """
        named = (getattr(self, field, None) or () for field in self.changes)
        return tuple(name for value in named for name in ((value,) if isinstance(value, str) else value))

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Apply the method; random choices come from ``stream`` only."""
        raise NotImplementedError

    def replay(self, table: Table, found: Mapping[str, Any]) -> tuple[Table, NDArray[np.bool_]] | None:  # noqa: ARG002
        """Do to new records what was ``found`` for others (the step's entry in the private record).

        Gives the table and the records that have no place in it; ``None`` when the method says nothing about new ones.
        """
        return None
