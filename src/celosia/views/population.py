"""How many records of a population each class of a table could be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes import patterns, total
from celosia.engines.engine import ROWS
from celosia.errors import DataError, NotApplicable, ParameterError
from celosia.hierarchy.matching import matches
from celosia.hierarchy.text import text_expression
from celosia.schema import Missing, Schema
from celosia.source import open_source
from celosia.views.encoding import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.search.classes import ClassCounts
    from celosia.table import Table

WHO = "__who__"


def population_counts(table: Table, source: Any) -> tuple[NDArray[np.int64], int, int]:
    """Records of the population in each class (in the order of ``keyed_counts``), those in no class, and all.

    The population holds raw values while the table may be generalised: a population record belongs to every class
    whose cells can stand for its values. Where it has the person column of the table, persons are counted.
    """
    import polars as pl

    keys, _ = table.keyed_counts()
    population = _described(table, source)
    person = population.schema.person
    found = patterns(population.rows, [*keys.columns, *([person] if person else [])])
    people = _texts(found.select(keys.columns)).with_columns(found[ROWS].alias(ROWS))
    who = [] if person is None else [WHO]
    if person is not None:
        people = people.with_columns(found[person].rank("dense").fill_null(0).alias(WHO))
    cells = _texts(keys).with_row_index("__class__")
    for name in keys.columns:
        wild = table.schema[name].missing != Missing.CATEGORY
        pairs = _pairs(cells[name], people[name], table, name, wild)
        people = people.join(pairs, on=name, how="inner", nulls_equal=True).drop(name).rename({"__cell__": name})
        done = keys.columns[: keys.columns.index(name) + 1]
        people = people.join(cells.select(done).unique(), on=done, how="semi", nulls_equal=True)
        people = people.group_by([*keys.columns, *who]).agg(pl.col(ROWS).sum())
    inside = int(people[ROWS].sum()) if person is None else people[WHO].n_unique()
    if person is not None:
        people = people.group_by(keys.columns).agg(pl.len().alias(ROWS))
    counted = cells.join(people, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")[ROWS]
    every = total(population.rows)
    return counted.fill_null(0).to_numpy().astype(np.int64), max(0, every - inside), every


def _described(table: Table, source: Any) -> Table:
    """The population with the quasi-identifiers of the table, and its person column where there is one."""
    population = open_source(source)
    own = population.schema.person or table.schema.person
    person = own if own in population.names else None
    return population.with_schema(Schema.of(quasi=table.schema.need_quasi(), person=person))


def with_population(table: Table, source: Any) -> tuple[pl.DataFrame, ClassCounts, int]:
    """Keys and counts of the classes with the population in each, and the population records in no class."""
    keys, counts = table.keyed_counts()
    inside, outside, every = table.cached(("population", Same(source)), lambda: population_counts(table, source))
    own = patterns(table.rows, keys.columns)
    # the records of a class itself: others that a missing value makes compatible may be other people
    size = keys.join(own, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")[ROWS].to_numpy()
    missing = int((inside < size).sum())
    if missing:
        raise DataError(
            f"the population has fewer records than the table in {missing} of {len(inside)} classes: "
            "it must contain the people of the table, in the same raw values."
        )
    return keys, replace(counts, population=inside, population_total=every), outside


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(text_expression(name, dtype) for name, dtype in frame.schema.items())


def _pairs(cells: pl.Series, raws: pl.Series, table: Table, name: str, wild: bool) -> pl.DataFrame:
    """Every cell with the raw values it can stand for."""
    import polars as pl

    labels, values = cells.unique().to_list(), raws.unique().to_list()
    types = {name: pl.String, "__cell__": pl.String}
    if table.schema.hierarchy(name) is None and not wild and _all_raw(labels):
        shared = sorted(set(values) & set(labels), key=str)
        return pl.DataFrame({name: shared, "__cell__": shared}, schema=types)
    row, column = np.nonzero(matches(labels, values, table.schema.hierarchy(name), open_missing=wild))
    picked = {name: [values[i] for i in column], "__cell__": [labels[i] for i in row]}
    return pl.DataFrame(picked, schema=types)


def _all_raw(labels: list[str | None]) -> bool:
    from celosia.hierarchy.values import Exact, parse

    return all(label is None or isinstance(parse(label), Exact) for label in labels)


def population_frequencies(table: Table, source: Any, size: int | None) -> NDArray[np.float64]:
    """For each record the people of the population it could be; 0 when suppressed.

    Counted in a population table, scaled up by the ``size`` of the population, or summed from the weight column.
    People are counted, not their rows, where a person column is declared.
    """
    import polars as pl

    from celosia.views.spread import on_records

    if source is not None:
        keys, counts, _ = with_population(table, source)
        found = on_records(table, keys, pl.DataFrame({"people": counts.population}))["people"]
        return found.fill_null(0).cast(pl.Float64).to_numpy()
    if size is not None:
        n = total(table.rows)
        if size < n:
            counted = "persons" if table.schema.person else "rows"
            raise ParameterError(f"size must be at least the {n} {counted} of the table, got {size}.")
        return table.frequencies() * (size / max(1, n))
    if table.schema.weight is not None:
        return np.maximum(table.frequencies(weight=True), table.frequencies())
    raise NotApplicable("give the population: a table, its size, or a weight column in the schema.")
