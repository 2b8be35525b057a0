"""How many records of a population each class of a table could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celosia.data.engines.engine import ROWS
from celosia.data.schema import Schema
from celosia.errors import DataError
from celosia.hierarchy.matching import fitting
from celosia.hierarchy.text import text_expression

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes.classes import Classes

_WHO = "__who__"


def population_counts(classes: Classes, population: Classes) -> tuple[NDArray[np.int64], int, int]:
    """Records of the population in each class (in the order of ``classes.keyed``), those in no class, and all.

    The population holds raw values while the table may be generalised: a population record belongs to every class
    whose cells can stand for its values. Where it has the person column of the table, persons are counted.
    """
    import polars as pl

    base, _ = classes.keyed(())
    keys = base.cells
    person = population.rows.schema.person
    combinations = population.patterns([*keys.columns, *([person] if person else [])], everyone=True)
    people = _texts(combinations.cells.select(keys.columns)).with_columns(pl.Series(ROWS, combinations.counted))
    cells = _texts(keys).with_row_index("__class__")
    fitting = {
        name: _pairs(cells[name], people[name], classes.rows.schema, name, wild=name in classes.open_missing)
        for name in keys.columns
    }
    # whoever may be in several classes is counted once among those who are in some
    several = person is not None or any(pairs[name].is_duplicated().any() for name, pairs in fitting.items())
    who = [_WHO] if several else []
    own = np.arange(len(people)) if person is None else combinations.column(person).codes
    people = people.with_columns(pl.Series(_WHO, own)) if several else people
    for name, pairs in fitting.items():
        people = people.join(pairs, on=name, how="inner", nulls_equal=True).drop(name).rename({"__cell__": name})
        done = keys.columns[: keys.columns.index(name) + 1]
        people = people.join(cells.select(done).unique(), on=done, how="semi", nulls_equal=True)
        people = people.group_by([*keys.columns, *who]).agg(pl.col(ROWS).sum())
    counted_once = people.unique(_WHO) if several else people
    inside = int(counted_once[ROWS].sum()) if person is None else len(counted_once)
    if several:
        persons = pl.col(ROWS).sum() if person is None else pl.len()
        people = people.group_by(keys.columns).agg(persons.alias(ROWS))
    counted = cells.join(people, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")[ROWS]
    counts = counted.fill_null(0).to_numpy().astype(np.int64)
    # the records of a class itself: others that a missing value makes compatible may be other people
    short = int((counts < base.counted).sum())
    if short:
        raise DataError(
            f"the population has fewer records than the table in {short} of {len(counts)} classes: "
            "it must contain the people of the table, in the same raw values."
        )
    return counts, max(0, population.total - inside), population.total


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(text_expression(name, dtype) for name, dtype in frame.schema.items())


def _pairs(cells: pl.Series, raws: pl.Series, schema: Schema, name: str, *, wild: bool) -> pl.DataFrame:
    """Every cell with the raw values it can stand for."""
    import polars as pl

    cells, raws = cells.unique(), raws.unique()
    labels, values = cells.to_list(), raws.to_list()
    if schema.hierarchy(name) is None and not wild and _all_raw(labels):
        shared = sorted(set(values) & set(labels), key=str)
        return pl.DataFrame({name: shared, "__cell__": shared}, schema={name: pl.String, "__cell__": pl.String})
    row, column = fitting(labels, values, schema.hierarchy(name), open_missing=wild)
    return pl.DataFrame({name: raws.gather(column), "__cell__": cells.gather(row)})


def _all_raw(labels: list[str | None]) -> bool:
    from celosia.hierarchy.values import Exact, parse

    return all(label is None or isinstance(parse(label), Exact) for label in labels)
