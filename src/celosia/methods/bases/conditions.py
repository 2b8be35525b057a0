"""Records selected by a condition or a random draw, for the methods that choose records or cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from celosia.errors import ParameterError, UnknownName
from celosia.methods.bases.units import units_of
from celosia.parts import Private

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

Condition = Annotated[str | None, Private()]
"""A condition as in SQL; it can name values of the data."""


def records_where(table: Table, where: str, part: str) -> NDArray[np.bool_]:
    """Mask of the records that meet a condition written as in SQL; unknown (missing values) counts as false.

    Only the columns that the condition names are read. Polars evaluates it whatever the engine of the table, so
    that every engine selects the same records.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, None, 80]}))
    >>> records_where(table, "age > 50 OR age < 10", "subset").tolist()
    [False, False, True]
    """
    import polars as pl

    try:
        condition = pl.sql_expr(where)
        names = condition.meta.root_names()
    except pl.exceptions.PolarsError:
        raise ParameterError(
            f"{part}: where is not a condition that can be read; write it as in SQL: age > 80 AND sex = 'F'."
        ) from None
    for name in names:
        if name not in table.names:
            raise UnknownName.of("column", name, table.names, f"({part}: where)")
    columns = {name: table.column(name) for name in dict.fromkeys(names)}
    try:
        answers = pl.DataFrame(columns).select(condition.alias("hit"))["hit"]
    except pl.exceptions.PolarsError:
        raise ParameterError(
            f"{part}: where cannot be evaluated: compare numbers with numbers, texts with texts."
        ) from None
    if answers.dtype != pl.Boolean or len(answers) != len(table):
        raise ParameterError(f"{part}: where must be true or false for each record, such as age > 80.")
    hits: NDArray[np.bool_] = answers.fill_null(value=False).to_numpy()
    return hits


def draw_records(
    table: Table,
    stream: Stream,
    part: str,
    *,
    share: float | None,
    size: int | None,
    by: str | None,
    within: str | None,
) -> tuple[NDArray[np.bool_], float]:
    """Mask of randomly drawn records, and the chance of each; it depends on the stream and the record ids alone.

    ``by`` draws whole groups (households); without it, persons are drawn whole if a person column is
    declared. The id of a group's first record decides. ``size`` is exact; a ``share`` is exact within each value
    of ``within``, and otherwise holds for each unit independently.
    """
    units = units_of(table, by or table.schema.person)
    u = stream.uniform(units.pick(table.ids()))
    if size is not None:
        if size > len(units):
            raise ParameterError(f"{part}: size must be at most the {len(units)} units there are, got {size}.")
        picked = np.zeros(len(units), dtype=np.bool_)
        picked[np.argsort(u, kind="stable")[:size]] = True
        return units.expand(picked), size / len(units)
    chance = share or 0.0
    picked = u < chance if within is None else _draw_by_stratum(u, units.pick(table.codes(within)[0]), chance)
    return units.expand(picked), chance


def _draw_by_stratum(u: NDArray[np.float64], strata: NDArray[np.int32], share: float) -> NDArray[np.bool_]:
    """Mask of the units with the smallest draws of each stratum, as many as the share rounded."""
    order = np.lexsort((u, strata))
    _, start, counts = np.unique(strata[order], return_index=True, return_counts=True)
    rank = np.arange(len(u)) - np.repeat(start, counts)
    wanted = np.repeat(np.floor(share * counts + 0.5).astype(np.int64), counts)
    picked = np.zeros(len(u), dtype=np.bool_)
    picked[order] = rank < wanted
    return picked


def check_one_way(part: str, **given: object) -> None:
    """Raise unless exactly one of the parameters is given."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ParameterError(f"{part}: give one of {', '.join(given)}; got {', '.join(named) or 'none'}.")
