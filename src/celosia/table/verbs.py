"""The verbs as methods of a table, so that they can be chained.

The verbs are in layers above the table, so it imports them by their public names when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from pathlib import Path

    from celosia.frontier import Frontier
    from celosia.release.evidence.findings import Assessment, Comparison
    from celosia.release.output.write import Written
    from celosia.table.table import Table

Argument: TypeAlias = Any
"""Argument that is passed on to the function of the same name, which declares its type."""
PEOPLE = (
    *("protect", "assess", "compare", "explore", "write", "report"),
    *("schema", "names", "frame", "polars", "column", "history", "engine", "first", "with_schema", "suppressed"),
)
"""Completions that a prompt proposes after ``table.``."""


class Verbs:
    """``table.protect(…).assess(…)`` for ``celosia.assess(celosia.protect(table, …), …)``, and so on."""

    def protect(self, *methods: Argument, **options: Argument) -> Table:
        """Apply methods one after the other: :func:`celosia.protect`."""
        import celosia

        return celosia.protect(self._own(), *methods, **options)

    def assess(self, *measures: Argument, **options: Argument) -> Assessment:
        """Measure requirements and risks: :func:`celosia.assess`."""
        import celosia

        return celosia.assess(self._own(), *measures, **options)

    def compare(self, *measures: Argument, **options: Argument) -> Comparison:
        """Measure the loss since the table was read: :func:`celosia.compare` with its input."""
        import celosia

        return celosia.compare(self._own().first, self._own(), *measures, **options)

    def explore(self, *candidates: Argument, **options: Argument) -> Frontier:
        """Try many methods and find the best balance: :func:`celosia.explore`."""
        import celosia

        return celosia.explore(self._own(), *candidates, **options)

    def write(self, out: str | Path, **options: Argument) -> Written:
        """Write the release: :func:`celosia.write`."""
        import celosia

        return celosia.write(self._own(), out, **options)

    def report(self, path: str | Path, **options: Argument) -> Path:
        """Write a report on the steps since the table was read: :func:`celosia.report`."""
        import celosia

        return celosia.report(self._own().first, self._own(), path, **options)

    def __dir__(self) -> list[str]:
        """List the names for users; those for authors of parts are in ``docs/developers/parts.md``."""
        return sorted([*PEOPLE, *(name for name in object.__dir__(self) if name.startswith("_"))])

    def _own(self) -> Table:
        return cast("Table", self)
