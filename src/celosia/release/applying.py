"""Reuse: the transformation that a release found, applied to new records of the same schema.

The private record holds, for every step, what it did: the label of each value, the classes with their levels, the cuts
of a partition, the fuzzy sets. New records get the same cells, so old and new releases can be put together. Nothing is
searched again, so the requirements may fail for new records: those are named, not hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import DataError
from celosia.hierarchy.text import texts
from celosia.hierarchy.values import parse
from celosia.parts import Method, Model, build
from celosia.release.certificate import load_record
from celosia.release.measuring import step
from celosia.release.policy import Policy
from celosia.streams import Stream, fresh_seed
from celosia.table import Table, read
from celosia.table.targets import targets

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Labels = Mapping[str, str | None]


@dataclass(frozen=True, eq=False)
class Reused:
    """New records under an old transformation, and which of them need attention."""

    table: Table
    original: Table = field(repr=False)
    """The new records as they came."""
    methods: tuple[Method, ...] = field(repr=False)
    """The steps of the release, which were applied again."""
    unplaced: NDArray[np.bool_] = field(repr=False)
    """Records that the transformation has no cells for (a value it does not know, or no class): suppressed."""
    violating: Mapping[str, NDArray[np.bool_]] = field(repr=False)
    """For each requirement, the records whose class does not meet it."""

    @property
    def holds(self) -> bool:
        """Whether every requirement holds for the records that were placed."""
        return not any(mask.any() for mask in self.violating.values())

    def spec(self) -> dict[str, Any]:
        """The counts as plain data; positions of records start at 0."""
        return {
            "rows": len(self.table),
            "unplaced": int(self.unplaced.sum()),
            "holds": self.holds,
            "requirements": [
                {"part": name, "violating": int(mask.sum()), "records": np.flatnonzero(mask).tolist()}
                for name, mask in self.violating.items()
            ],
        }


def apply(record: Mapping[str, Any] | str | Path, source: Any, *, released: Any = None) -> Reused:
    """Apply the transformation of a private record to new records.

    ``source`` is a table, or a frame or path that is read under the schema of the record's policy. With ``released``
    (the earlier release) the requirements are judged on old and new records together. Steps that work record by
    record are applied again as they are; a step that looked at all records at once is refused.
    """
    directory = Path()
    if not isinstance(record, Mapping):
        directory = Path(record).parent
        record = load_record(record)
    if "policy" not in record:
        raise DataError(
            "a consent request made this record: its classes depend on choices. Make a new request instead."
        )
    policy = Policy.parse(str(record["policy"]), directory, "the policy in the record")
    table = source if isinstance(source, Table) else read(source, policy.schema)
    missing = [name for name in policy.schema.quasi if name not in table.names]
    if missing:
        raise DataError(f"the new records have no column {missing[0]!r}: they must have the schema of the release.")
    original = table = table.identified()
    start = table
    methods: list[Method] = []
    unplaced = np.zeros(len(table), dtype=np.bool_)
    require: list[Model] = list(policy.require)
    wishes: dict[str, NDArray[np.int64]] = {}
    for entry, found in zip(record.get("steps", []), record.get("transformation", []), strict=True):
        method: Method = build("method", entry["parameters"])
        methods.append(method)
        placed = _placed(table, method, found)
        if placed is not None:
            wish = targets(method.name, table, getattr(method, "target", None))
            table, lost = placed
            unplaced |= lost
            require += [model for model in getattr(method, "require", ()) if model not in require]
            if wish is not None:
                wishes[f"{method.name}(target={getattr(method, 'target')})"] = wish  # noqa: B009
        elif not method.in_memory:
            unplaced |= _outside(table, method, found)
            for settled in _settled(method, found):
                table = step(table, settled, Stream(fresh_seed()).child(entry["name"]), start)
        else:
            raise DataError(
                f"step {entry['name']!r} ({method.name}) depends on all records at once, so new ones cannot have it."
            )
    if unplaced.any():
        table = table.suppress(unplaced)
    return Reused(table, original, tuple(methods), unplaced, _violating(table, require, wishes, released))


def _placed(table: Table, method: Method, found: Mapping[str, Any]) -> tuple[Table, NDArray[np.bool_]] | None:
    """The table under what a step found, and the records without a place; None when it found nothing to follow."""
    known = found.get("transformation")
    placed = method.replay(table, found)
    if placed is not None or known is None:
        return placed
    return _recoded(table, known)


def _settled(method: Method, found: Mapping[str, Any]) -> list[Method]:
    """A method that works record by record, with the numbers that it took from the data of the release."""
    spec = method.spec()
    if "limits" in found:  # of top or bottom coding at a quantile
        kept = {key: value for key, value in spec.items() if key != "quantile"}
        limits = found["limits"].items()
        return [build("method", {**kept, "columns": [name], "value": limit}) for name, limit in limits]
    if "breaks" in found:  # of a recoding into bins
        kept = {key: value for key, value in spec.items() if key not in {"bins", "spacing", "whole", "margin"}}
        return [build("method", {**kept, "breaks": found["breaks"], "outside": "missing"})]
    return [method]


def _outside(table: Table, method: Method, found: Mapping[str, Any]) -> NDArray[np.bool_]:
    """The records whose value lies beyond the bins of the release."""
    if "breaks" not in found:
        return np.zeros(len(table), dtype=np.bool_)
    values = table.numeric([getattr(method, "column")])[:, 0]  # noqa: B009
    return np.asarray((values < found["breaks"][0]) | (values > found["breaks"][-1]), dtype=np.bool_)


def _recoded(table: Table, known: Mapping[str, Any]) -> tuple[Table, NDArray[np.bool_]]:
    """The table with the cells of the transformation, and the records it has none for."""
    return _by_class(table, known) if "classes" in known else _by_level(table, known)


def _by_level(table: Table, known: Mapping[str, Any]) -> tuple[Table, NDArray[np.bool_]]:
    """One level per column."""
    lost = np.zeros(len(table), dtype=np.bool_)
    changed: dict[str, pl.Series] = {}
    for name, labels in known["labels"].items():
        if labels is None:
            continue
        column, strange = _labelled(table.column(name), labels)
        lost |= strange
        changed[name] = column
    return (table.replace(changed) if changed else table), lost


def _by_class(table: Table, known: Mapping[str, Any]) -> tuple[Table, NDArray[np.bool_]]:
    """Levels per class: a record joins the first class whose cells can stand for its values."""
    import polars as pl

    names = list(known["columns"])
    cells = pl.DataFrame([pl.Series(name, [None] * len(table), dtype=pl.String) for name in names])
    row = pl.Series("__row__", np.arange(len(table)))
    open_rows = row
    at_level: dict[tuple[str, int], pl.Series] = {}
    by_node: dict[tuple[int, ...], list[list[str | None]]] = {}
    for levels, labels in known["classes"]:
        by_node.setdefault(tuple(levels), []).append(labels)
    for levels, classes in by_node.items():
        if not len(open_rows):
            break
        columns = []
        for name, level in zip(names, levels, strict=True):
            if (name, level) not in at_level:
                labels = known["labels"][name][level]
                raw = pl.Series(name, texts(table.column(name)), dtype=pl.String)
                at_level[name, level] = raw if labels is None else _labelled(table.column(name), labels)[0]
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


def _labelled(column: pl.Series, labels: Labels) -> tuple[pl.Series, NDArray[np.bool_]]:
    """A column through a table of labels; a value that it lacks takes the label whose cell covers it, if one does."""
    import polars as pl

    raw = pl.Series(column.name, texts(column), dtype=pl.String)
    distinct = set(labels.values())
    known = dict(labels)
    parsed = [(label, parse(label)) for label in sorted(label for label in distinct if label is not None)]
    for value in raw.drop_nulls().unique().to_list():
        if value not in known:
            cover = next((label for label, cell in parsed if cell.covers(value)), None)
            if cover is not None:
                known[value] = cover
    old = pl.Series("old", list(known), dtype=pl.String)
    new = pl.Series("new", list(known.values()), dtype=pl.String)
    found = raw.replace_strict(old, new, default=None, return_dtype=pl.String)
    strange = (raw.is_not_null() & ~raw.is_in(old.implode())).to_numpy()
    if len(distinct) == 1:  # the top: a missing value joins it
        found = found.fill_null(next(iter(distinct)))
    return found.alias(column.name), np.asarray(strange, dtype=np.bool_)


def _violating(
    table: Table, require: list[Model], wishes: Mapping[str, NDArray[np.int64]], released: Any
) -> dict[str, NDArray[np.bool_]]:
    """For each requirement, the new records whose class does not meet it, or is smaller than they ask for."""
    judged = table
    if released is not None:
        judged = _together(table, released)
    out = {}
    for model in require:
        name = str(model)
        out[name] = model.failing(judged)[: len(table)]
    for name, wish in wishes.items():
        out[name] = (judged.frequencies()[: len(table)] < wish) & ~table.suppressed_mask()
    return out


def _together(table: Table, released: Any) -> Table:
    """New and released records in one table, the new ones first; suppressed ones are told by their stars."""
    import polars as pl

    old = released if isinstance(released, Table) else read(released)
    names = [name for name in table.names if name in old.names]
    lacking = [name for name in table.schema.quasi if name not in names]
    if lacking:
        raise DataError(f"the release has no column {lacking[0]!r}: it must be the one that the record belongs to.")

    def text(one: Table) -> pl.DataFrame:
        return pl.DataFrame([pl.Series(name, texts(one.column(name)), dtype=pl.String) for name in names])

    return read(pl.concat([text(table), text(old)]), table.schema.keep(names).loose())
