"""Base class of methods that suppress the records of classes which violate a requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.parts import Method, Model, Requires
from celosia.table.suppression import suppress_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.parts.method import Rows
    from celosia.table import Table


class _SuppressingMethod(Requires, Method):
    """A method with the fields ``require``, ``drop`` and ``blank``."""

    if TYPE_CHECKING:
        require: tuple[Model, ...]
        drop: bool
        blank: bool

    @property
    def rows(self) -> Rows:  # type: ignore[override]
        """Suppressed records keep their rows unless they are dropped."""
        return "subset" if self.drop else "same"

    def requirements(self) -> tuple[Model, ...]:
        """Return the requirements that every class of the result meets."""
        return self.require

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the quasi-identifiers; with ``blank`` the sensitive columns too."""
        return (*schema.quasi, *(schema.sensitive if self.blank else ()))

    def suppress_records(self, table: Table, mask: NDArray[np.bool_]) -> Table:
        """Suppress the records of the mask, or drop them."""
        return suppress_records(table, mask, drop=self.drop, blank=table.schema.sensitive if self.blank else ())
