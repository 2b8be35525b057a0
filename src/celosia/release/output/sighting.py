"""A finding of the guard, as the data owner sees it and as the certificate states it."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.release.evidence.certificate import GuardEntry

NAME = "the name of column"
"""Unit of a finding in the name of a column."""


@dataclass(frozen=True)
class Sighting:
    """Content of a column that should not be released, the number of its cells, and advice."""

    column: str
    what: str
    cells: int
    of: int
    certain: bool
    advice: str
    acknowledged: str = ""
    """Reason of the data owner to release it; empty if not acknowledged."""
    unit: str = "cells"
    """What is counted: cells, records, names of columns, or labels."""
    exact: bool = True
    """Whether the released file alone shows the count; any other count is not published."""
    published: str = ""
    """Content in the words of public files, where ``what`` names a column that is not released."""

    @property
    def stops(self) -> bool:
        """Whether this sighting stops the release."""
        return self.certain and not self.acknowledged

    def entry(self) -> GuardEntry:
        """Return the finding as a certificate states it."""
        unit = "" if self.unit == "cells" else f" ({self.unit})"
        cells = self.cells if self.exact else None
        entry = GuardEntry(column=self.column, what=f"{self.published or self.what}{unit}", cells=cells, of=self.of)
        if self.acknowledged:
            entry.acknowledged = self.acknowledged
        return entry

    def __str__(self) -> str:
        if self.unit == NAME:  # the name itself must not be shown
            return f"{self.unit} {self.cells}: it holds {self.what}"
        return f"column {self.column!r}: {self.cells} of {self.of} {self.unit} hold {self.what}"
