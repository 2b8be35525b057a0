"""Population counts: the records of a population table that each class of a table could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celosia.data.schema import Schema
from celosia.errors import DataError
from celosia.hierarchy.match import matching_pairs
from celosia.hierarchy.text import text_expression

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes.classes import EquivalenceClasses
    from celosia.classes.table_counts import TableCounts

_WHO = "__who__"


def population_counts(classes: EquivalenceClasses, population: TableCounts) -> tuple[NDArray[np.int64], int, int]:
    """Count the population in each class (in the order of ``classes.histogram``), in no class, and in all.

    The population holds raw values while the table may be generalised: a population record belongs to every class
    whose cells can stand for its values. Where it has the person column of the table, persons are counted.
    """
    import polars as pl

    base, combinations = classes.histogram, population.histogram(list(classes.histogram.names))
    keys = base.cells
    people = _texts(combinations.cells.select(keys.columns)).with_row_index(_WHO)
    cells = _texts(keys).with_row_index("__class__")
    matching_pairs = {
        name: _pairs(cells[name], people[name], classes.schema, name, wild=name in classes.open_missing)
        for name in keys.columns
    }
    # an entry of the population may fit several classes; it is one entry all the same
    for name, pairs in matching_pairs.items():
        people = people.join(pairs, on=name, how="inner", nulls_equal=True).drop(name).rename({"__cell__": name})
        done = keys.columns[: keys.columns.index(name) + 1]
        people = people.join(cells.select(done).unique(), on=done, how="semi", nulls_equal=True)
    placed = people.join(cells, on=keys.columns, how="inner", nulls_equal=True).select("__class__", _WHO).unique()
    entry, owner = (placed[name].cast(pl.Int64).to_numpy() for name in (_WHO, "__class__"))
    alone = combinations.rows if combinations.single is None else combinations.single
    counts = np.bincount(owner, weights=alone[entry], minlength=len(keys)).astype(np.int64)
    inside_entries = np.unique(entry)
    inside = int(alone[inside_entries].sum())
    listed = combinations.pairs
    if listed is not None and len(listed.entry):  # a person with several entries counts once in a class
        them = pl.DataFrame({"entry": listed.entry, "person": listed.person})
        where = pl.DataFrame({"entry": entry, "class": owner})
        theirs = where.join(them, on="entry", how="inner").select("class", "person").unique()
        counts += np.bincount(theirs["class"].to_numpy(), minlength=len(keys))
        inside += theirs["person"].n_unique()
    # the records of a class itself: others that a missing value makes compatible may be other people
    short = int((counts < base.persons).sum())
    if short:
        raise DataError(
            f"the population has fewer records than the table in {short} of {len(counts)} classes: "
            "it must contain the people of the table, in the same raw values."
        )
    return counts, max(0, population.total - inside), population.total


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(text_expression(name, dtype) for name, dtype in frame.schema.items())


def _pairs(cells: pl.Series, raws: pl.Series, schema: Schema, name: str, *, wild: bool) -> pl.DataFrame:
    """Return every cell with the raw values that it covers."""
    import polars as pl

    cells, raws = cells.unique(), raws.unique()
    labels, values = cells.to_list(), raws.to_list()
    if schema.hierarchy(name) is None and not wild and _all_raw(labels):
        shared = sorted(set(values) & set(labels), key=str)
        return pl.DataFrame({name: shared, "__cell__": shared}, schema={name: pl.String, "__cell__": pl.String})
    row, column = matching_pairs(labels, values, schema.hierarchy(name), open_missing=wild)
    return pl.DataFrame({name: raws.gather(column), "__cell__": cells.gather(row)})


def _all_raw(labels: list[str | None]) -> bool:
    from celosia.hierarchy.values import Exact, parse

    return all(label is None or isinstance(parse(label), Exact) for label in labels)
