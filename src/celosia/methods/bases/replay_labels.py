"""Replay of a generalisation: new records get the recorded labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.hierarchy.text import texts
from celosia.hierarchy.values import parse

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

Labels = Mapping[str, str | None]


def by_level(table: Table, labels: Mapping[str, Labels | None]) -> tuple[Table, NDArray[np.bool_]]:
    """Replace the values by their labels, column by column; also return the mask of the records without a label."""
    lost = np.zeros(len(table), dtype=np.bool_)
    changed: dict[str, pl.Series] = {}
    for name, label_of in labels.items():
        if label_of is None:  # numbers or dates that stay as they are
            continue
        labelled, unknown = _apply_labels(table.column(name), label_of)
        lost |= unknown
        if any(value != label for value, label in label_of.items()):
            changed[name] = labelled
    return (table.replace(changed) if changed else table), lost


def by_class(table: Table, recorded: Mapping[str, Any]) -> tuple[Table, NDArray[np.bool_]]:
    """Assign each record to the first class whose labels cover its values; also return the mask of those without one.

    ``recorded`` has ``columns``, the ``labels`` of each column by level, and the ``classes`` as levels with cells.
    """
    import polars as pl

    names = list(recorded["columns"])
    cells = pl.DataFrame([pl.Series(name, [None] * len(table), dtype=pl.String) for name in names])
    row = pl.Series("__row__", np.arange(len(table)))
    open_rows = row
    at_level: dict[tuple[str, int], pl.Series] = {}
    by_node: dict[tuple[int, ...], list[list[str | None]]] = {}
    for levels, labels in recorded["classes"]:
        by_node.setdefault(tuple(levels), []).append(labels)
    for levels, classes in by_node.items():
        if not len(open_rows):
            break
        columns = []
        for name, level in zip(names, levels, strict=True):
            if (name, level) not in at_level:
                labels = recorded["labels"][name][level]
                raw = pl.Series(name, texts(table.column(name)), dtype=pl.String)
                at_level[name, level] = raw if labels is None else _apply_labels(table.column(name), labels)[0]
            columns.append(at_level[name, level].gather(open_rows))
        here = pl.DataFrame(columns).with_columns(open_rows)
        wanted = pl.DataFrame(classes, schema=dict.fromkeys(names, pl.String), orient="row")
        hit = here.join(wanted, on=names, how="semi", nulls_equal=True)
        if len(hit):
            cells = cells.with_row_index("__row__").with_columns(pl.col("__row__").cast(pl.Int64))
            cells = cells.update(hit.with_columns(pl.col("__row__").cast(pl.Int64)), on="__row__").drop("__row__")
            open_rows = open_rows.filter(~open_rows.is_in(hit["__row__"].implode()))
    lost = np.zeros(len(table), dtype=np.bool_)
    lost[open_rows.to_numpy()] = True
    return table.replace({name: cells[name] for name in names}), lost


def _apply_labels(column: pl.Series, labels: Labels) -> tuple[pl.Series, NDArray[np.bool_]]:
    """Map a column to labels; an unknown value gets the label whose cell covers it, if one does."""
    import polars as pl

    raw = pl.Series(column.name, texts(column), dtype=pl.String)
    distinct = set(labels.values())
    label_of = dict(labels)
    parsed = [(label, parse(label)) for label in sorted(label for label in distinct if label is not None)]
    for value in raw.drop_nulls().unique().to_list():
        if value not in label_of:
            cover = next((label for label, cell in parsed if cell.covers(value)), None)
            if cover is not None:
                label_of[value] = cover
    old = pl.Series("old", list(label_of), dtype=pl.String)
    new = pl.Series("new", list(label_of.values()), dtype=pl.String)
    labelled = raw.replace_strict(old, new, default=None, return_dtype=pl.String)
    unknown = (raw.is_not_null() & ~raw.is_in(old.implode())).to_numpy()
    if len(distinct) == 1:  # the top: a missing value joins it, one that no cell covers does not
        labelled = labelled.zip_with(~raw.is_null(), pl.Series([next(iter(distinct))] * len(raw), dtype=pl.String))
    return labelled.alias(column.name), np.asarray(unknown, dtype=np.bool_)
