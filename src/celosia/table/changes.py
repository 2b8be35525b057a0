"""Changes of the columns of a table since its input, for terminal, notebook and report.

No cell of a record is shown. An example comes from the hierarchy: a value of a declared table of levels with its label,
or, where the levels were built from the data, a released label alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from celosia.classes import STAR
from celosia.errors import NotApplicable
from celosia.hierarchy import Levels
from celosia.hierarchy.dates import Dates
from celosia.hierarchy.intervals import Intervals
from celosia.hierarchy.level_table import LevelTable
from celosia.hierarchy.prefixes import Prefixes
from celosia.hierarchy.text import text_expression
from celosia.hierarchy.tree import Tree
from celosia.table.columns import count_values
from celosia.table.pairing import paired_counts, positions

if TYPE_CHECKING:
    import polars as pl

    from celosia.hierarchy import Hierarchy
    from celosia.table.table import Table

Form = Literal["values", "unit", "ranges", "hidden", "level", "levels", "nothing", "changed", "gone"]

ENGLISH: dict[str, str] = {
    "values": "as it is",
    "unit": "{unit}",
    "ranges": "ranges of {number}",
    "hidden": "{number} characters hidden",
    "level": "level {number} of {of}",
    "levels": "levels {number} to {of}",
    "nothing": "nothing left (*)",
    "changed": "changed by {by}",
    "gone": "left out",
}
"""Sentence of each form of detail; the report has the same sentences in its languages."""


@dataclass(frozen=True)
class Detail:
    """Level of detail of a column: its form, and the numbers or names in the sentence of that form."""

    form: Form
    number: str = ""
    of: str = ""
    unit: str = ""
    by: str = ""

    def sentence(self, sentences: dict[str, str], units: dict[str, str] | None = None) -> str:
        """Format the detail with the sentences and the names of time units of a language."""
        unit = (units or {}).get(self.unit, self.unit)
        return sentences[self.form].format(number=self.number, of=self.of, unit=unit, by=self.by)


@dataclass(frozen=True)
class ColumnChange:
    """Change of one column: its detail before and after, an example, and the share of its cells that changed."""

    name: str
    before: Detail
    after: Detail
    example: tuple[str | None, str] | None
    """A value of the hierarchy (``None`` where the values are those of the data) and its label now."""
    altered: float | None
    """Share of the cells that changed, those of suppressed records too; ``None`` where records cannot be paired."""

    def shown_example(self, *, raw: bool = True) -> str:
        """Format the example, with the raw value where the hierarchy declares one and it may be shown.

        >>> ColumnChange("zip", Detail("values"), Detail("hidden", "2"), (None, "130**"), 1.0).shown_example()
        '… → 130**'
        """
        return "" if self.example is None else f"{(raw and self.example[0]) or '…'} → {self.example[1]}"


@dataclass(frozen=True)
class Remaining:
    """Share of columns and cells of the original that a release keeps."""

    columns: int
    dropped: tuple[str, ...]
    """Columns that are not released."""
    empty: tuple[str, ...]
    """Released columns in which no record shows a value."""
    changed: float | None
    """Share of the cells of the original that changed, in the other columns; None where records cannot be paired."""
    unchanged: float | None
    """Share of the cells of the original that are released as they were."""


def remaining(changes: Sequence[ColumnChange]) -> Remaining:
    """Summarise the changes of all columns of an original.

    >>> same, gone = Detail("values"), Detail("gone")
    >>> remaining([ColumnChange("a", same, same, None, 0.5), ColumnChange("b", same, gone, None, None)]).unchanged
    0.25
    """
    dropped = tuple(change.name for change in changes if change.after.form == "gone")
    empty = tuple(change.name for change in changes if change.after.form == "nothing")
    shares = [change.altered for change in changes if change.after.form not in ("gone", "nothing")]
    altered = [share for share in shares if share is not None]
    paired = len(altered) == len(shares)
    total = max(1, len(changes))
    return Remaining(
        columns=len(changes),
        dropped=dropped,
        empty=empty,
        changed=sum(altered) / total if paired else None,
        unchanged=sum(1 - share for share in altered) / total if paired else None,
    )


def column_changes(original: Table, protected: Table) -> tuple[ColumnChange, ...]:
    """Describe the change of each column of the original, in its order."""
    key = ("column changes", original.rows)
    return protected.compute_once(key, lambda: tuple(_change(original, protected, name) for name in original.names))


def _change(original: Table, protected: Table, name: str) -> ColumnChange:
    hierarchy = original.schema.hierarchy(name)
    before = Detail("unit", unit="day") if isinstance(hierarchy, Dates) else Detail("values")
    if name not in protected.names:
        return ColumnChange(name, before, Detail("gone"), None, None)
    altered = _altered_share(original, protected, name)
    if altered == 0:
        return ColumnChange(name, before, before, None, altered)
    cells, counts = _cells(protected, name)
    filled = [cell for cell in cells if cell is not None]
    if all(cell == STAR for cell in filled):
        return ColumnChange(name, before, Detail("nothing"), None, altered)
    values = count_values(original, name)[name]
    levels = Levels.flat(values) if hierarchy is None else hierarchy.levels(values, column=name)
    places = {levels.level_of(cell) for cell in filled}
    if places == {0}:
        # the cells are still values of the column: moved between records, or those of suppressed records alone
        same = _kept_alike(original, protected, name)
        return ColumnChange(name, before, before if same else changed_by_steps(protected, name), None, altered)
    if hierarchy is None or -1 in places:
        return ColumnChange(name, before, changed_by_steps(protected, name), None, altered)
    if len(places) > 1:
        after = Detail("levels", str(min(places)), str(max(places)))
        return ColumnChange(name, before, after, None, altered)
    level = places.pop()
    example = _example(hierarchy, levels, level, filled[int(np.argmax(counts[[c is not None for c in cells]]))])
    return ColumnChange(name, before, detail_at(hierarchy, levels, level), example, altered)


def detail_at(hierarchy: Hierarchy, levels: Levels, level: int) -> Detail:
    """Describe a level: a unit of time, a width, hidden characters; else its number."""
    if level == levels.height:
        return Detail("nothing")
    if isinstance(hierarchy, Dates) and level <= len(hierarchy.units):
        return Detail("unit", unit=hierarchy.units[level - 1])
    if isinstance(hierarchy, Intervals) and hierarchy.width is not None and level <= hierarchy.count:
        return Detail("ranges", f"{hierarchy.width * hierarchy.factor ** (level - 1):g}")
    if isinstance(hierarchy, Prefixes):
        hidden = hierarchy.masked[level - 1] if hierarchy.masked else hierarchy.step * level
        return Detail("hidden", str(hidden))
    return Detail("level", str(level), str(levels.height))


def _example(hierarchy: Hierarchy, levels: Levels, level: int, released: str) -> tuple[str | None, str]:
    """Return the first value of a declared table with its label; else a released label alone."""
    declared = isinstance(hierarchy, Tree) or (isinstance(hierarchy, LevelTable) and hierarchy.path is not None)
    first = next((value for value in levels.domain if value is not None), None)
    if not declared or first is None:
        return None, released
    label = hierarchy.levels([first]).labels(level)[0]
    return first, str(label)


def changed_by_steps(protected: Table, name: str) -> Detail:
    """List the steps that may have overwritten a column."""
    methods = [secret.get("method") for secret in protected.private_history]
    steps = [method.name for method in methods if method is not None and name in method.overwrites(protected.schema)]
    return Detail("changed", by=", ".join(dict.fromkeys(steps)) or "—")


def _cells(table: Table, name: str) -> tuple[list[str | None], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Count the cells of a column as texts, without suppressed records."""
    import polars as pl

    if table.counts.frame is None:
        patterns = table.counts.histogram([name], suppressed=False, rows_only=True)
        cells = pl.DataFrame({"cell": _cell_texts(patterns.cells[name]), "rows": patterns.rows})
        counted = cells.group_by("cell").agg(pl.col("rows").sum()).sort("rows", "cell", descending=[True, False])
        return counted["cell"].to_list(), counted["rows"].to_numpy()
    counted = _cell_texts(table.column(name)).filter(pl.Series(~table.counts.suppressed_mask)).value_counts(sort=True)
    return counted.to_series(0).to_list(), counted.to_series(1).cast(pl.Int64).to_numpy()


def _altered_share(original: Table, protected: Table, name: str) -> float | None:
    """Share of the cells of the original that changed or are gone."""
    pairs = paired_counts(original, protected, [name])
    if pairs is not None:
        return (len(original) - int(pairs.rows[pairs.unchanged_cells(name)].sum())) / max(1, len(original))
    try:
        rows = positions(original, protected)
    except NotApplicable:
        return None
    before, after = _cell_texts(original.column(name))[rows], _cell_texts(protected.column(name))
    same = int(before.eq_missing(after).sum())
    return (len(original) - same) / max(1, len(original))


def _kept_alike(original: Table, protected: Table, name: str) -> bool:
    """Whether every record that is not suppressed has its own cell."""
    import polars as pl

    pairs = paired_counts(original, protected, [name])
    if pairs is not None:
        return bool((pairs.unchanged_cells(name) | pairs.suppressed).all())
    try:
        rows = positions(original, protected)
    except NotApplicable:
        return False
    same = _cell_texts(original.column(name))[rows].eq_missing(_cell_texts(protected.column(name)))
    return bool(same.filter(pl.Series(~protected.counts.suppressed_mask)).all())


def _cell_texts(series: pl.Series) -> pl.Series:
    return series.to_frame("value").select(text_expression("value", series.dtype).alias("value")).to_series()


__all__ = [
    "ENGLISH",
    "ColumnChange",
    "Detail",
    "Remaining",
    "changed_by_steps",
    "column_changes",
    "detail_at",
    "remaining",
]
