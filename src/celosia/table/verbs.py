"""The verbs as methods of a table, so that they can be written one after the other.

A table is the ground that the verbs stand on, so it asks for them by their public names, when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pathlib import Path

    from celosia.frontier import Frontier
    from celosia.release.evidence.findings import Assessment, Comparison
    from celosia.release.output.write import Written
    from celosia.table.table import Table

PEOPLE = (
    *("protect", "assess", "compare", "explore", "write", "report"),
    *("schema", "names", "frame", "polars", "column", "history", "engine", "first", "with_schema", "suppressed"),
)
"""What a prompt proposes after ``table.``."""


class Verbs:
    """``table.protect(…).assess(…)`` for ``celosia.assess(celosia.protect(table, …), …)``, and so on."""

    def protect(self, *methods: Any, **options: Any) -> Table:
        """Apply methods one after the other: :func:`celosia.protect`."""
        import celosia

        return celosia.protect(self._own(), *methods, **options)

    def assess(self, *measures: Any, **options: Any) -> Assessment:
        """Measure requirements and risks: :func:`celosia.assess`."""
        import celosia

        return celosia.assess(self._own(), *measures, **options)

    def compare(self, *measures: Any, **options: Any) -> Comparison:
        """Measure what was lost since the table was read: :func:`celosia.compare` with its input."""
        import celosia

        return celosia.compare(self._own().first, self._own(), *measures, **options)

    def explore(self, *candidates: Any, **options: Any) -> Frontier:
        """Try many methods and find the best balance: :func:`celosia.explore`."""
        import celosia

        return celosia.explore(self._own(), *candidates, **options)

    def write(self, out: str | Path, **options: Any) -> Written:
        """Write what may leave: :func:`celosia.write`."""
        import celosia

        return celosia.write(self._own(), out, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a page about what was done to the table since it was read: :func:`celosia.report`."""
        import celosia

        return celosia.report(self._own().first, self._own(), path, **options)

    def __dir__(self) -> list[str]:
        """What people need of a table; what parts need besides is told in ``CONTRIBUTING.md``."""
        return sorted([*PEOPLE, *(name for name in object.__dir__(self) if name.startswith("_"))])

    def _own(self) -> Table:
        return cast("Table", self)
